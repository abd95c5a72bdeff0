package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/fit"
)

// simgridModel is what a platform file says.
type simgridModel struct {
	hosts    []string
	times    []timePiece
	seen     float64 // largest size that T was measured at, B
	segments []simgridSegment
	latency  float64 // of a route, s
	up, down float64 // of a host's links, B/s; 0 for none
	medium   float64 // B/s; 0 for none
	eager    int     // smallest size that waits for its receiver, B
	used     []string
	warnings []string
}

// timePiece is T(x) = c0 + c1·x for from < x ≤ to, in s and B.
type timePiece struct {
	from, to int
	c0, c1   float64
}

func (t timePiece) at(x float64) float64 { return t.c0 + t.c1*x }

// at returns T(x) of the fit [s].
func (m *simgridModel) at(x int) float64 { return m.pieceOf(x).at(float64(x)) }

func (m *simgridModel) pieceOf(x int) timePiece {
	for _, t := range m.times {
		if x <= t.to {
			return t
		}
	}
	return m.times[len(m.times)-1]
}

// bottleneck is the bandwidth of a flow alone before its factor [B/s].
func (m *simgridModel) bottleneck() float64 {
	least := math.Inf(1)
	for _, v := range m.capacities() {
		least = min(least, v)
	}
	return least
}

// capacities are the bandwidths of the links on a route by what they are, [B/s].
func (m *simgridModel) capacities() map[string]float64 {
	out := map[string]float64{}
	for name, v := range map[string]float64{linkUp: m.up, linkDown: m.down, linkMedium: m.medium} {
		if v > 0 {
			out[name] = v
		}
	}
	return out
}

// probes are sizes at which the file is held against the fit [B]: both sides of every boundary, and between.
func (m *simgridModel) probes() []int {
	out := []int{1}
	for _, s := range m.segments {
		for _, x := range []int{s.from, s.from + 1, int(math.Sqrt(float64(s.from+1) * float64(s.to))), s.to} {
			if x > 0 {
				out = append(out, x)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// simgridOf divides T(x) over SimGrid's steps.
func simgridOf(p *fit.Params, o Options) (*simgridModel, error) {
	m := &simgridModel{}
	if err := m.readTimes(p); err != nil {
		return nil, err
	}
	d, err := dividerOf(p, m)
	if err != nil {
		return nil, err
	}
	if err := m.nameHosts(p, o); err != nil {
		return nil, err
	}
	if err := m.addLinks(p, d); err != nil {
		return nil, err
	}
	if err := d.divide(m); err != nil {
		return nil, err
	}
	m.latency, m.eager = m.segments[0].latency, int(d.meet(m))+1
	m.warnings = append(append(m.warnings, d.limits(m)...), uniform(p)...)
	return m, nil
}

// readTimes takes T(x) of the segmented fit; breaks are rounded down, which is the same for sizes.
func (m *simgridModel) readTimes(p *fit.Params) error {
	f, ok := p.Functions["T"]
	if !ok || f.Form != fit.SegmentsForm {
		return fmt.Errorf("function T, time of a message by its size: %w; experiment pingpong gives it: measure with calib run --only pingpong …",
			ErrMissing)
	}
	m.seen = f.Domain["bytes"][1]
	for i := 1; ; i++ {
		n := "_" + strconv.Itoa(i)
		c0, has := f.Coeff["c0"+n]
		if !has {
			break
		}
		t := timePiece{from: int(f.Coeff["from"+n]), to: simgridMost - simgridEnvelope, c0: c0, c1: f.Coeff["c1"+n]}
		if i > 1 {
			m.times[i-2].to = t.from
		}
		m.times = append(m.times, t)
	}
	for _, t := range m.times {
		if t.from >= t.to || !(t.at(float64(t.from+1)) > 0) || !(t.at(float64(t.to)) > 0) {
			return fmt.Errorf("T(x) from %d to %d bytes is %g s + %g s/B·x: %w: it must be positive, over 1 B at least",
				t.from, t.to, t.c0, t.c1, ErrLimit)
		}
	}
	if len(m.times) == 0 {
		return fmt.Errorf("function T has no segments: %w; fit the run again with calib fit", ErrMissing)
	}
	if m.rate() <= 0 {
		return fmt.Errorf("T(x) does not grow above %d bytes: %w: a link needs a bandwidth; measure larger messages: calib run --only pingpong --sizes 1,…,4MiB …",
			m.times[len(m.times)-1].from, ErrLimit)
	}
	return nil
}

// rate is that of a long message [B/s].
func (m *simgridModel) rate() float64 { return 1 / m.times[len(m.times)-1].c1 }

// nameHosts takes the names of the run; those that a file of SimGrid's or a list of hosts cannot hold are changed.
func (m *simgridModel) nameHosts(p *fit.Params, o Options) error {
	n, err := o.hosts(p)
	if err != nil {
		return err
	}
	if n > simgridHosts {
		return fmt.Errorf("a platform of %d hosts: %w: it has a route for each two of them; choose 2 to %d with --hosts", n, ErrOption, simgridHosts)
	}
	seen := map[string]bool{}
	changed := 0
	for i := range n {
		name := "host-" + strconv.Itoa(i)
		if n <= len(p.Run.Hosts) {
			name = plainName(p.Run.Hosts[i])
			if name != p.Run.Hosts[i] {
				changed++
			}
		}
		for seen[name] || name == "" {
			name += "_" + strconv.Itoa(i)
		}
		seen[name] = true
		m.hosts = append(m.hosts, name)
	}
	if changed > 0 {
		m.warnings = append(m.warnings, fmt.Sprintf("%d names of hosts have characters that a list of hosts cannot hold: these are _", changed))
	}
	if n > len(p.Run.Hosts) {
		m.warnings = append(m.warnings, fmt.Sprintf("the file has %d hosts, %d were measured: what more of them share is not known", n, len(p.Run.Hosts)))
	}
	return nil
}

func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// flat is by how much L may grow over the hosts measured for the network to count as a switch: a share of L(1,2).
const flat = 0.05

// addLinks decides between a switch and a shared medium, by b_c of paired; without it a switch is one where the delay does
// not grow with the hosts that communicate.
func (m *simgridModel) addLinks(p *fit.Params, d *divider) error {
	if bc, ok := found(p, "b_c"); ok && bc > 0 {
		m.medium, m.used = 1/bc, append(m.used, "b_c")
		if b, ok := found(p, "b"); ok && b > 0 {
			m.up, m.down, m.used = 1/b, 1/b, append(m.used, "b")
		} else {
			m.warnings = append(m.warnings, "b is not known, the medium being the limit of a single pair: hosts have no link of their own")
		}
		return nil
	}
	m.up, m.down = m.rate(), m.rate()
	if d.receive != nil {
		m.down = max(m.up, d.packet/d.receive(d.packet))
	}
	switch q, there := p.Parameters["b_c"]; {
	case there && q.Bound != nil:
		m.warnings = append(m.warnings, fmt.Sprintf("b_c is not known (%s): the network is a switch without a limit of its own", oneLine(q.Why)))
	case delayIsFlat(p):
		m.warnings = append(m.warnings, "paired was not measured: that the network is a switch is taken from load, where the delay does not grow with the hosts")
	case len(p.Run.Hosts) == 2:
		m.warnings = append(m.warnings, "two hosts: whether the network is a switch or a shared medium cannot be seen, a switch is written")
	default:
		return fmt.Errorf("parameter b_c, whether the network is a switch or a shared medium: %w; experiment paired gives it, on four hosts "+
			"or more: measure with calib run --only paired …", ErrMissing)
	}
	return nil
}

// delayIsFlat reports whether L(m,p) was measured and hardly grows with p.
func delayIsFlat(p *fit.Params) bool {
	f, ok := p.Functions["L"]
	if !ok || f.Form != fit.BilinearForm {
		return false
	}
	hosts := f.Domain["p"]
	least := f.Coeff["l0"] + f.Coeff["l1"]*hosts[0]
	return hosts[1] > hosts[0] && least > 0 && math.Abs(f.Coeff["l1"])*(hosts[1]-hosts[0]) <= flat*least
}
