package incast

import (
	"math"
	"slices"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/netspec"
	"calib/internal/plane"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/transport/sim"
)

// burstArrivals is how many datagrams of m bytes get through the port, by hand: senders that begin together, each as
// fast as its block, the first ranks with one more where k does not divide.
func burstArrivals(s *netspec.Spec, k, senders, m int) int {
	var at []float64
	for i := range k {
		at = append(at, float64(i/senders+1)*s.Service(s.Host, m))
	}
	return len(queue(s, s.Medium, at, m, s.Buffer))
}

// Of a burst as many arrive as the port's buffer takes and as leave it meanwhile: eq. 4.
func TestFloodArrivals(t *testing.T) {
	for _, c := range []struct{ buffer, senders int }{{100, 2}, {100, 4}, {33, 3}, {0, 3}} {
		s := incastSpec(c.senders + 1)
		s.Buffer = c.buffer
		for _, k := range []int{16, 64, 128, 512, 2048} {
			for _, m := range []int{64, 1000} {
				p := bench.Point{names.FactorBytes: int64(m), names.FactorPackets: int64(k), names.FactorSenders: int64(c.senders)}
				lines := incastLines(t, Flood, sim.New(s, sim.Options{}), p, 1, names.PhaseFlood, nil)
				if len(lines) < 1 || len(lines) > burstReps {
					t.Fatalf("buffer %d, %v: %d lines", c.buffer, p, len(lines))
				}
				want := burstArrivals(&s, k, c.senders, m)
				for _, line := range lines {
					a := line.Aux
					if got := int(a[names.AuxReceived]); got != want || a[names.AuxSent] != float64(k) || a[names.AuxDropped] != 0 {
						t.Errorf("buffer %d, %v: %d of %g arrived, %g dropped, want %d of %d", c.buffer, p, got, a[names.AuxSent],
							a[names.AuxDropped], want, k)
					}
					checkFloodLine(t, line, s.Service(s.Medium, m)*1e9)
				}
				if c.buffer == 0 {
					continue
				}
				ratio := s.Service(s.Host, m) / s.Service(s.Medium, m) / float64(c.senders) // D/A
				model := float64(k) * min(1, ratio+float64(c.buffer)/float64(k))
				if math.Abs(float64(want)-model) > 3+float64(c.senders) {
					t.Errorf("buffer %d, %v: by hand %d arrive, by eq. 4 %.1f", c.buffer, p, want, model)
				}
			}
		}
	}
}

// checkFloodLine holds the intervals and the span of a burst against the port's service time.
func checkFloodLine(t *testing.T, line dataset.Sample, service float64) {
	t.Helper()
	if len(line.NS) > bench.MaxIntervals {
		t.Errorf("%v: %d intervals", line.Point, len(line.NS))
	}
	if span, want := line.Aux[names.AuxSpan], (line.Aux[names.AuxReceived]-1)*service; math.Abs(span-want) > 1+1e-3*want {
		t.Errorf("%v: the burst took %g ns to arrive, want %g", line.Point, span, want)
	}
	slices.Sort(line.NS)
	if got := float64(line.NS[len(line.NS)/2]); math.Abs(got-service) > 1 {
		t.Errorf("%v: an interval of %g ns, the port takes %g", line.Point, got, service)
	}
	if line.Aux[names.AuxSend] <= 0 && line.Point[names.FactorPackets]*line.Point[names.FactorBytes] > 1<<20 {
		t.Errorf("%v: sending took %g ns", line.Point, line.Aux[names.AuxSend])
	}
}

// What the root's own socket has no room for is not taken for a loss of the network.
func TestFloodCountsOwnDrops(t *testing.T) {
	s := incastSpec(3)
	n := sim.New(s, sim.Options{DatagramBuffer: 1, Cost: sim.Cost{Recv: 500 * units.Microsecond}})
	p := bench.Point{names.FactorBytes: 64, names.FactorPackets: 64, names.FactorSenders: 2}
	for _, line := range incastLines(t, Flood, n, p, 1, names.PhaseFlood, nil) {
		if a := line.Aux; a[names.AuxDropped] <= 0 || a[names.AuxReceived]+a[names.AuxDropped] != 64 {
			t.Errorf("%+v", a)
		}
	}
}

// straggling repeats a rank's first datagram of a burst within the next burst: it must not be counted.
type straggling struct {
	bench.Group
	old []byte
}

func (g *straggling) SendDatagram(to int, b []byte) error {
	if g.old != nil && string(g.old[:atSender]) != string(b[:atSender]) {
		if err := g.Group.SendDatagram(to, g.old); err != nil {
			return err
		}
		g.old = nil
	}
	if g.old == nil {
		g.old = slices.Clone(b)
	}
	return g.Group.SendDatagram(to, b)
}

func TestFloodIgnoresStragglers(t *testing.T) {
	p := bench.Point{names.FactorBytes: 100, names.FactorPackets: 40, names.FactorSenders: 3}
	n := sim.New(incastSpec(4), sim.Options{})
	lines := incastLines(t, Flood, n, p, 1, names.PhaseFlood,
		func(g bench.Group) bench.Group { return &straggling{Group: g} })
	for _, line := range lines {
		if line.Aux[names.AuxReceived] != 40 || len(lines) != burstReps {
			t.Errorf("%d lines: %+v", len(lines), line.Aux)
		}
	}
}

// losing loses every datagram.
type losing struct{ bench.Group }

func (losing) SendDatagram(int, []byte) error { return nil }

func TestFloodWithoutArrivals(t *testing.T) {
	p := bench.Point{names.FactorBytes: 100, names.FactorPackets: 40, names.FactorSenders: 3}
	lines := incastLines(t, Flood, benchtest.Net(incastSpec(4)), p, 1, names.PhaseFlood,
		func(g bench.Group) bench.Group { return losing{g} })
	for _, line := range lines {
		if !line.Has(dataset.FlagTimeout) || !slices.Equal(line.NS, []int64{0}) || line.Aux[names.AuxReceived] != 0 {
			t.Errorf("%+v", line)
		}
	}
	p = bench.Point{names.FactorProbe: 1, names.FactorSenders: 3}
	for _, phase := range []string{names.PhaseProbe, names.PhaseProbeIdle} {
		lines := incastLines(t, Flood, benchtest.Net(incastSpec(4)), p, 0.2, phase,
			func(g bench.Group) bench.Group { return losing{g} })
		if len(lines) != 1 || !lines[0].Has(dataset.FlagTimeout) || lines[0].Aux[names.AuxReceived] != 0 ||
			lines[0].Aux[names.AuxSent] < 5 {
			t.Errorf("%s: %+v", phase, lines)
		}
	}
}

// A burst beyond the budget is not sent.
func TestFloodIsSkipped(t *testing.T) {
	s := incastSpec(3)
	s.Medium = netspec.Block{A: 2e-3, B: 2e-6}
	sent := 0
	count := func(g bench.Group) bench.Group { return &counting{g, &sent} }
	n := sim.New(s, sim.Options{})
	lines := incastLines(t, Flood, n, bench.Point{names.FactorBytes: 1000, names.FactorPackets: 16384,
		names.FactorSenders: 2}, 1, names.PhaseSkipped, count)
	if len(lines) != 1 || math.Abs(float64(lines[0].NS[0])/(16384*2e6)-1) > 0.01 || sent != minBurst {
		t.Errorf("%+v after %d datagrams", lines, sent)
	}
}

type counting struct {
	bench.Group
	sent *int
}

func (g *counting) SendDatagram(to int, b []byte) error {
	*g.sent++
	return g.Group.SendDatagram(to, b)
}

// The probe waits behind what is in the port: the streams' windows where they fit into its buffer, the buffer where
// they do not.
func TestFloodProbe(t *testing.T) {
	s := incastSpec(4)
	s.Host = netspec.Block{A: 2 * benchtest.US, B: 0.003 * benchtest.US}
	s.Medium = netspec.Block{A: 20 * benchtest.US, B: 0.1 * benchtest.US}
	service := s.Service(s.Medium, 1000) * 1e9
	for _, c := range []struct {
		name           string
		buffer, window int // packets; the window is each of two streams'
		want, within   float64
	}{
		{"room to spare", 200, 40, 80, 0.03},
		{"full", 50, 40, 50, 0.04},
	} {
		s.Buffer = c.buffer
		n := sim.New(s, sim.Options{
			ClockOffset: units.Second, ClockDrift: 20, Window: units.Bytes(c.window) * 1000, RTO: 300 * units.Microsecond,
		})
		p := bench.Point{names.FactorProbe: 1, names.FactorSenders: 3}
		var late [2]float64
		for i, phase := range []string{names.PhaseProbeIdle, names.PhaseProbe} {
			line := incastLines(t, Flood, n, p, 0.5, phase, nil)[0]
			if len(line.NS) < 20 || !slices.Equal(line.Ranks, []int{3, 0}) ||
				line.Aux[names.AuxReceived] != float64(len(line.NS)) ||
				line.Aux[names.AuxSent] < line.Aux[names.AuxReceived] {
				t.Fatalf("%s: %+v", c.name, line)
			}
			var ns []float64
			for _, v := range line.NS {
				ns = append(ns, float64(v))
			}
			slices.Sort(ns)
			late[i] = stats.SortedQuantile(ns, 0.9) // an overflow leaves the buffer less than full for a while
		}
		idle := (s.Service(s.Host, 64) + s.Service(s.Medium, 64) + s.L + s.Service(*s.Receive, 64)) * 1e9
		if math.Abs(late[0]-idle) > 100 {
			t.Errorf("%s: an idle probe takes %g ns, want %g", c.name, late[0], idle)
		}
		if got := (late[1] - late[0]) / service; math.Abs(got-c.want) > c.within*c.want {
			t.Errorf("%s: the probe waits for %.1f segments, want %g", c.name, got, c.want)
		}
		drain := incastLines(t, Flood, n, p, 0.5, names.PhaseProbeDrain, nil)[0]
		if got := drain.Aux[names.AuxWindow] / drain.Aux[names.AuxWindowMessages]; drain.Aux[names.AuxSegment] != 1000 ||
			math.Abs(got/service-1) > 0.02 {
			t.Errorf("%s: a segment leaves every %g ns, want %g (%+v)", c.name, got, service, drain.Aux)
		}
	}
}

// alike says which congestion control the connections have, and notes which is asked for.
type alike struct {
	bench.Group
	name  string
	asked *[]string
}

func (g *alike) Counters(peer int) (dataset.TCP, error) {
	c, err := g.Group.Counters(peer)
	c.Congestion = g.name
	return c, err
}

func (g *alike) Reopen(s plane.Socket) error {
	if g.Rank() == 1 {
		*g.asked = append(*g.asked, s.Congestion)
	}
	return g.Group.Reopen(s)
}

// All hosts use one congestion control in the probe: that which they all have.
func TestFloodProbeCongestion(t *testing.T) {
	for _, c := range []struct{ first, others, want string }{
		{"cubic", "cubic", "cubic"}, {"bbr", "cubic", "reno"}, {"cubic", "bbr", "reno"}, {"bbr", "bbr", "reno"},
	} {
		var asked []string
		wrap := func(g bench.Group) bench.Group {
			if g.Rank() == 0 {
				return &alike{g, c.first, &asked}
			}
			return &alike{g, c.others, &asked}
		}
		incastLines(t, Flood, benchtest.Net(incastSpec(4)), bench.Point{names.FactorProbe: 1, names.FactorSenders: 3}, 0.1,
			names.PhaseProbe, wrap)
		if !slices.Equal(asked, []string{c.want, ""}) {
			t.Errorf("%s and %s: asked for %q, want %s and then none", c.first, c.others, asked, c.want)
		}
	}
}

func TestFloodDesign(t *testing.T) {
	count := func(l bench.Limits) (bursts, probes, most int) {
		for _, p := range Flood.Design(l) {
			if p[names.FactorProbe] != 0 {
				probes++
				continue
			}
			bursts++
			most = max(most, int(p[names.FactorPackets]))
			if m := p[names.FactorBytes]; m < minDatagram || m > maxDatagram {
				t.Errorf("%v: a datagram of %d bytes", p, m)
			}
		}
		return bursts, probes, most
	}
	for _, c := range []struct {
		l              bench.Limits
		bursts, probes int
	}{
		{bench.Limits{Hosts: 1}, 0, 0},
		{bench.Limits{Hosts: 2}, 29, 0},
		{bench.Limits{Hosts: 4}, 29, 1},
		{bench.Limits{Hosts: 9}, 58, 1},
		{bench.Limits{Hosts: 9, Effort: 0.25}, 6, 1},
		{bench.Limits{Hosts: 9, Sizes: []units.Bytes{1, 1000, 65536}}, 22, 1},
		{bench.Limits{Hosts: 3, MaxBytes: 10}, 0, 1},
	} {
		bursts, probes, most := count(c.l)
		if bursts != c.bursts || probes != c.probes || bursts > 0 && most != maxBurst {
			t.Errorf("%+v: %d bursts up to %d, %d probes, want %d up to %d, %d", c.l, bursts, most, probes, c.bursts, maxBurst,
				c.probes)
		}
	}
}
