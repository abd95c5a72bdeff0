package network

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"calib/internal/netspec"
	"calib/internal/params"
)

// ErrTooFast reports a network that the lab cannot play at any slowdown that it allows.
var ErrTooFast = errors.New("too fast for the lab")

// What the lab needs time for. The presets hku2000, of 8 and 16 hosts, and examples/lab-cluster-fast.yaml are about as
// fast, and make accuracy shows that the lab keeps their times.
const (
	// minWay [s] of the shortest message: kernel and agents of the lab add up to 30 µs to it.
	minWay = 350e-6
	// minGap [s] between the shortest packets of one host.
	minGap = 100e-6
	// maxPackets a second, of all hosts together, that one process moves on time.
	maxPackets = 60_000
)

var slowdowns = []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000}

// How long a host counts as active after it has sent: the round trips of a full packet, and the least time [s].
const (
	activeRoundTrips = 2
	minWindow        = 0.02
)

// Copy is a network for the lab: that of a run with the hosts and pairs that differ.
type Copy struct {
	Spec netspec.Spec // Slowdown says how many times slower it is than the network of the run
	// Notes say what the run leaves open and what the lab cannot play; they come after those of Network.
	Notes []string
}

// Copy describes an emulated cluster of that many hosts like those of p, in the order of p's hosts. slowdown 0 is the
// least with which the lab keeps its times. The lab's hosts have calls of their own, which take their time however slow
// the network is: of those of p the delay holds what the slowdown makes them longer. It returns ErrTooFast where no
// slowdown suffices, and the error of Validate for a network that no lab file can hold.
func (n *Network) Copy(p *params.Params, hosts int, slowdown float64) (*Copy, error) {
	base := n.Spec
	base.Hosts = hosts
	if f := base.Fabric; f != nil || n.PerHost > 0 {
		fabric := netspec.Fabric{PerHost: n.PerHost}
		if f != nil && f.Rate > 0 {
			fabric.Tau, fabric.Rate = f.Tau, f.Rate
		}
		base.Fabric = &fabric
		if fabric == (netspec.Fabric{}) {
			base.Fabric = nil
		}
	}
	c := &Copy{Spec: base}
	c.differ(p)
	if err := c.Spec.Validate(); err != nil {
		return nil, err
	}
	alike := c.Spec
	factors := slowdowns
	if slowdown > 0 {
		factors = []float64{slowdown}
	}
	for _, f := range factors {
		c.Spec = n.slow(alike, f)
		if err := c.Spec.Validate(); err != nil {
			return nil, fmt.Errorf("%g times slower: %w", f, err)
		}
		if slowdown > 0 || playable(&c.Spec) {
			if slowdown > 0 && !playable(&c.Spec) {
				c.note("the lab may be late: at a slowdown of %g a message takes %.3g s, and a host sends every %.3g s", f, c.Spec.Way(0, 1, 1, 2), gap(&c.Spec))
			}
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: even %g times slower the shortest packets of a host leave %.3g s apart", ErrTooFast, c.Spec.Slowdown, gap(&c.Spec))
}

func (c *Copy) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

func playable(s *netspec.Spec) bool {
	g := gap(s)
	packets := float64(s.Hosts/2) / g // each pair sends as fast as it can
	if s.Mode == netspec.Shared && s.Medium.A > 0 {
		packets = min(packets, 1/s.Service(s.Medium, 1))
	}
	return s.Way(0, 1, 1, 2) >= minWay && g >= minGap && packets <= maxPackets
}

// gap is the interval between packets of one byte from one host to another [s].
func gap(s *netspec.Spec) float64 {
	return max(s.Service(s.HostBlock(0), 1), s.Service(s.Medium, 1), s.Service(s.ReceiveBlock(1), 1))
}

// slow is s with all times factor times as long.
func (n *Network) slow(s netspec.Spec, factor float64) netspec.Spec {
	block := func(b netspec.Block) netspec.Block {
		return netspec.Block{A: b.A * factor, B: b.B * factor, Min: b.Min * factor}
	}
	extra, receive := factor-1, block(*s.Receive)
	s.Host, s.Medium, s.L, s.Receive = block(s.Host), block(s.Medium), s.L*factor, &receive
	s.Overrides, s.Links = maps.Clone(s.Overrides), slices.Clone(s.Links)
	for i, b := range s.Overrides {
		s.Overrides[i] = block(b)
	}
	for i := range s.Links {
		s.Links[i].Block = block(s.Links[i].Block)
	}
	calls := n.Calls.Fixed()
	if n.callsFirst {
		send := n.Calls.Send.Seconds()
		before := func(b netspec.Block) netspec.Block {
			b.A, b.B = b.A+extra*send, b.B+extra*send/float64(s.MSS)
			return b
		}
		s.Host, calls = before(s.Host), calls-send
	}
	s.L += extra * calls
	s.Receive.B += extra * n.Calls.PerByte()
	if f := s.Fabric; f != nil {
		s.Fabric = &netspec.Fabric{PerHost: f.PerHost * factor, Tau: f.Tau * factor, Rate: f.Rate / factor}
		if w := 2 * activeRoundTrips * s.Way(0, 1, s.MSS, 2); w > minWindow {
			s.Fabric.Window = w
		}
	}
	s.Slowdown = factor
	return s
}
