package sim_test

import (
	"fmt"
	"math"
	"testing"

	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// play runs f as every rank of a team of all hosts.
func play(t *testing.T, s netspec.Spec, opt sim.Options, f func(rank int, g *sim.Group) error) {
	t.Helper()
	if err := sim.New(s, opt).Run(seq(s.Hosts), f); err != nil {
		t.Error(err)
	}
}

// arrivals has each of the ranks from 1 send count messages of x bytes to rank 0 at once, and returns when they came.
func arrivals(t *testing.T, s netspec.Spec, opt sim.Options, count, x int) []units.Nanos {
	t.Helper()
	var at []units.Nanos
	play(t, s, opt, func(rank int, g *sim.Group) error {
		b := make([]byte, x)
		for range count {
			if rank > 0 {
				if err := g.Send(0, b); err != nil {
					return err
				}
			}
		}
		for range count * (g.Size() - 1) {
			if rank > 0 {
				continue
			}
			_, n, when, err := g.RecvAny(b)
			if err != nil {
				return err
			}
			if n != x {
				return fmt.Errorf("%d bytes at once, want %d", n, x)
			}
			at = append(at, when)
		}
		if rank > 0 { // leaving would end the root's RecvAny
			return g.WaitUntil(units.Second)
		}
		return nil
	})
	return at
}

func check(t *testing.T, what string, got, want []units.Nanos) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d times, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// Host 10 µs + 0.01 µs/B but at least 12, port 4 µs + 0.016 µs/B but at least 8, receiver 1 µs + 0.003 µs/B.
func lineSpec(hosts int, change ...func(*netspec.Spec)) netspec.Spec {
	block := func(a, perByte, least float64) netspec.Block {
		return netspec.Block{A: a * us, B: (perByte + a/1000) * us, Min: least * us}
	}
	receive := block(1, 0.003, 0)
	return spec(hosts, append([]func(*netspec.Spec){func(s *netspec.Spec) {
		s.Host, s.Medium, s.Receive, s.L = block(10, 0.01, 12), block(4, 0.016, 8), &receive, 100*us
	}}, change...)...)
}

func cutThrough(s *netspec.Spec) { s.CutThrough = true }

func linked(s *netspec.Spec) {
	s.Links = []netspec.Link{{Between: [][]int{{0}, {1}}, Block: netspec.Block{A: 30 * us, B: 0.03 * us}}}
}

func far(s *netspec.Spec) {
	linked(s)
	s.Links[0].Block, s.Links[0].L = netspec.Block{B: 0.002 * us}, 50*us
}

// Every stage on its own, and the stage that sets the pace: g_s for one sender, g_r for two.
func TestLine(t *testing.T) {
	for _, c := range []struct {
		name  string
		spec  netspec.Spec
		count int
		x     int
		want  []units.Nanos // µs: host, port, L, receiver
	}{
		{"least times", lineSpec(2), 3, 100, []units.Nanos{12_000 + 8_000 + 100_000 + 1_300, 133_300, 145_300}},
		{"full packets", lineSpec(2), 3, 1000, []units.Nanos{20_000 + 20_000 + 100_000 + 4_000, 164_000, 184_000}},
		{"two senders, short", lineSpec(3), 2, 100, []units.Nanos{121_300, 129_300, 137_300, 145_300}},
		{"two senders, full", lineSpec(3), 2, 1000, []units.Nanos{144_000, 164_000, 184_000, 204_000}},
		// The port begins with the host's block, so that only its own time counts, but never ends before the block.
		{"cut-through, full", lineSpec(2, cutThrough), 3, 1000, []units.Nanos{20_000 + 104_000, 144_000, 164_000}},
		{"cut-through, host slower", lineSpec(2, cutThrough), 3, 100, []units.Nanos{12_000 + 101_300, 125_300, 137_300}},
		{"cut-through, port slower", lineSpec(2, cutThrough, func(s *netspec.Spec) { s.Medium.Min = 30 * us }), 3, 100,
			[]units.Nanos{30_000 + 101_300, 161_300, 191_300}},
		// Both blocks begin at 0; the second packet follows the first, whose place is free after max(8, 12) µs.
		{"cut-through, two senders", lineSpec(3, cutThrough), 1, 100, []units.Nanos{113_300, 121_300}},
		// The link of 30 µs a packet sets the pace of host 1; host 2 does not pass it.
		{"link", lineSpec(2, linked), 3, 100, []units.Nanos{151_300, 181_300, 211_300}},
		// Packets of 0.2 µs share the 50 µs of the way.
		{"link with a delay", lineSpec(2, far), 3, 100, []units.Nanos{171_500, 183_500, 195_500}},
		{"link with a delay, cut-through", lineSpec(2, far, cutThrough), 3, 1000, []units.Nanos{176_000, 196_000, 216_000}},
		{"link, one of two senders", lineSpec(3, linked), 2, 100, []units.Nanos{121_300, 133_300, 151_300, 181_300}},
	} {
		t.Run(c.name, func(t *testing.T) {
			check(t, c.name, arrivals(t, c.spec, sim.Options{}, c.count, c.x), c.want)
		})
	}
}

// Preset hku2000 is Tam and Wang's table 1: one-way time, g_s for one sender, g_r for several, times the slow-down.
func TestTamWang(t *testing.T) {
	s, err := netspec.Preset("hku2000", 4)
	if err != nil {
		t.Fatal(err)
	}
	const m = 1000
	slow := s.Slowdown * 1000 // ns per µs of the paper
	gs, gr := (3.027+0.0796*m)*slow, (4.986+0.0788*m)*slow
	way := func(p float64) float64 { return (16.684 + 0.0826*m + 1.556*p) * slow }
	one := *s
	one.Hosts = 2
	// One sender is one active host, three are three: their sum, 3·m/g_s, is 36 B/µs, below the fabric's limit. The
	// port is the slower one here, so a lone sender's second packet comes g_r after its first.
	at := arrivals(t, one, sim.Options{}, 2, m)
	for i, want := range []float64{way(1), way(1) + max(gs, gr)} {
		if math.Abs(float64(at[i])-want) > 1 {
			t.Errorf("packet %d of one sender after %v, want %.0f ns", i, at[i], want)
		}
	}
	at = arrivals(t, *s, sim.Options{}, 1, m)
	// The fabric sees the third host when its packet enters the port, so only the third packet has all of the delay.
	for i := range at {
		if want := way(float64(i+1)) + float64(i)*gr; math.Abs(float64(at[i])-want) > 1 {
			t.Errorf("packet %d of three senders after %v, want %.0f ns", i, at[i], want)
		}
	}
}

// A fabric delays by the hosts that sent within its window, beyond its limit also by the bytes, and keeps the order.
func TestFabric(t *testing.T) {
	fabric := netspec.Fabric{PerHost: 10 * us, Tau: 0.02 * us, Rate: 25e6, Window: 0.001}
	s := spec(4, func(s *netspec.Spec) {
		s.Host, s.Medium, s.Fabric = netspec.Block{A: 20 * us, B: 0.02 * us}, netspec.Block{}, &fabric
	})
	var got [6]units.Nanos
	starts := []units.Nanos{0, 2_000_000, 2_500_000, 3_480_000, 5_000_000}
	play(t, s, sim.Options{}, func(rank int, g *sim.Group) error {
		b := make([]byte, 1000)
		switch rank {
		case 0: // twice alone, twice when rank 1 is active, and alone again
			for _, at := range starts {
				if err := g.WaitUntil(at); err != nil {
					return err
				}
				if err := g.Send(2, b); err != nil {
					return err
				}
			}
		case 1:
			if err := g.WaitUntil(2_480_000); err != nil {
				return err
			}
			return g.Send(3, b)
		case 2:
			for i, at := range starts {
				when, err := g.RecvAt(0, b)
				if err != nil {
					return err
				}
				got[i] = when - at
			}
		case 3:
			when, err := g.RecvAt(1, b)
			got[5] = when - 2_480_000
			return err
		}
		return nil
	})
	// A packet of 1000 B every g_s = 20 µs is 50 B/µs a host, twice the fabric's rate: τ·m·(2p−1) is 20 and 60 µs.
	one, two := units.Nanos(40_000+10_000+20_000), units.Nanos(40_000+20_000+60_000)
	check(t, "fabric", got[:], []units.Nanos{one, one, two, two, one, two})
}

// Hosts that have sent before the run began count until the window has passed.
func TestFabricActive(t *testing.T) {
	s := spec(4, func(s *netspec.Spec) {
		s.Host, s.Medium = netspec.Block{A: 20 * us, B: 0.02 * us}, netspec.Block{}
		s.Fabric = &netspec.Fabric{PerHost: 10 * us, Window: 0.001}
	})
	var got [2]units.Nanos
	play(t, s, sim.Options{Active: true}, func(rank int, g *sim.Group) error {
		var b [1]byte
		for i, at := range []units.Nanos{0, 2_000_000} {
			switch rank {
			case 0:
				if err := g.WaitUntil(at); err != nil {
					return err
				}
				if err := g.Send(1, b[:]); err != nil {
					return err
				}
			case 1:
				when, err := g.RecvAt(0, b[:])
				if err != nil {
					return err
				}
				got[i] = when - at
			}
		}
		return nil
	})
	// 20 µs at each end, 10 µs for each active host
	check(t, "four hosts, then one", got[:], []units.Nanos{80_000, 50_000})
}

// A packet that the fabric delays less than the one before it does not overtake it.
func TestFabricKeepsOrder(t *testing.T) {
	s := spec(4, func(s *netspec.Spec) {
		s.Host, s.Medium, s.Fabric = netspec.Block{}, netspec.Block{}, &netspec.Fabric{PerHost: 100 * us, Window: 1e-4}
	})
	at := make([]units.Nanos, 2)
	play(t, s, sim.Options{}, func(rank int, g *sim.Group) error {
		b := make([]byte, 1)
		switch rank {
		case 0: // the first with two active hosts, the second alone
			for _, at := range []units.Nanos{50_000, 100_010} {
				if err := g.WaitUntil(at); err != nil {
					return err
				}
				if err := g.Send(2, b); err != nil {
					return err
				}
			}
		case 1: // active from 0 to 100 µs
			return g.Send(3, b)
		case 2:
			for i := range at {
				when, err := g.RecvAt(0, b)
				if err != nil {
					return err
				}
				at[i] = when
			}
		case 3:
			return g.Recv(1, b)
		}
		return nil
	})
	check(t, "order", at, []units.Nanos{250_000, 250_000})
}
