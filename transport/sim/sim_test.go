package sim_test

import (
	"math"
	"slices"
	"testing"

	"calib/bench"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

var _ bench.Group = (*sim.Group)(nil)

const us = 1e-6

// spec is a switched network of round numbers; change edits it.
func spec(hosts int, change ...func(*netspec.Spec)) netspec.Spec {
	s := netspec.Spec{
		Name: "test", Hosts: hosts, Mode: netspec.Switched, MSS: 1000,
		Host: netspec.Block{A: 100 * us, B: 0.3 * us}, Medium: netspec.Block{A: 50 * us, B: 0.2 * us},
	}
	for _, f := range change {
		f(&s)
	}
	return s
}

func shared(s *netspec.Spec) { s.Mode = netspec.Shared }

// deliveries runs one message of x bytes from rank 2i to rank 2i+1 for every i, all at once, and returns when each
// arrived, in nanoseconds after the common start.
func deliveries(t *testing.T, n *sim.Net, pairs, x int) []units.Nanos {
	t.Helper()
	at := make([]units.Nanos, pairs)
	team := make([]int, 2*pairs)
	for i := range team {
		team[i] = i
	}
	err := n.Run(team, func(rank int, g *sim.Group) error {
		start := g.Now()
		b := make([]byte, x)
		if rank%2 == 0 {
			return g.Send(rank+1, b)
		}
		if err := g.Recv(rank-1, b); err != nil {
			return err
		}
		at[rank/2] = g.Now() - start
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// tandem is the textbook recursion for a message through three servers in a row: packet i leaves server j a service
// after both it has arrived and its predecessor has left.
func tandem(s *netspec.Spec, x int) float64 {
	var left [3]float64
	for k := s.Packets(x); k > 0; k-- {
		n := min(x, s.MSS)
		x -= n
		at := 0.0
		for j, b := range []netspec.Block{s.Host, s.Medium, s.Host} {
			if j == 2 {
				at += s.L
			}
			left[j] = max(at, left[j]) + s.Service(b, n)
			at = left[j]
		}
	}
	return left[2]
}

func nanos(seconds float64) units.Nanos { return units.Nanos(math.Floor(seconds*1e9 + 1e-3)) }

func TestOneMessage(t *testing.T) {
	sparc, err := netspec.Preset("sparc1994", 2)
	if err != nil {
		t.Fatal(err)
	}
	delay := spec(2, func(s *netspec.Spec) { s.L = 250 * us })
	slowMedium := spec(2, func(s *netspec.Spec) { s.Medium = netspec.Block{A: 500 * us, B: 0.9 * us} })
	plain := spec(2)
	for _, tc := range []struct {
		name string
		spec netspec.Spec
		x    int
		want units.Nanos
	}{
		{"one byte", plain, 1, 250_500},                                 // 2(100 + 0.2) + 50 + 0.15 µs = 250.55 µs
		{"one full packet", plain, 1000, 800_000},                       // 2·300 + 200
		{"k full packets", plain, 7000, 800_000 + 6*300_000},            // and (k−1) at the slowest block
		{"delay", delay, 1000, 1_050_000},                               // L once, however many packets
		{"delay, k packets", delay, 7000, 1_050_000 + 6*300_000},        //
		{"slow medium", slowMedium, 7000, 2*300_000 + 7*900_000},        //
		{"last packet short", plain, 1500, nanos(tandem(&plain, 1500))}, //
		{"paper, one byte", *sparc, 1, nanos(tandem(sparc, 1))},         //
		{"paper, 100 kB", *sparc, 100_000, nanos(tandem(sparc, 100_000))},
	} {
		if tc.name == "one byte" {
			tc.want = nanos(tandem(&plain, 1))
		}
		t.Run(tc.name, func(t *testing.T) {
			if got := deliveries(t, sim.New(tc.spec, sim.Options{}), 1, tc.x)[0]; got != tc.want {
				t.Errorf("T(%d) = %d ns, want %d", tc.x, got, tc.want)
			}
			if got, want := tc.want, nanos(tandem(&tc.spec, tc.x)); max(got-want, want-got) > 1 {
				t.Errorf("closed form %d ns, recursion %d ns", got, want)
			}
		})
	}
}

// Stoica 1994: n messages of one packet over a shared medium are all there after 2a + n·a_c (eq. 16), and a switch does
// not care.
func TestPairsShareMedium(t *testing.T) {
	perByte := func(b netspec.Block, s *netspec.Spec) float64 { return b.B - b.A/float64(s.MSS) }
	for _, n := range []int{1, 2, 5, 16} {
		s := spec(2*n, shared)
		at := deliveries(t, sim.New(s, sim.Options{}), n, 1)
		bytes := 2*perByte(s.Host, &s) + float64(n)*perByte(s.Medium, &s)
		if want := nanos(2*s.Host.A + float64(n)*s.Medium.A + bytes); slices.Max(at) != want {
			t.Errorf("shared, %d pairs: last delivery %d ns, want %d", n, slices.Max(at), want)
		}
		s = spec(2 * n)
		want := nanos(tandem(&s, 1))
		for i, got := range deliveries(t, sim.New(s, sim.Options{}), n, 1) {
			if got != want {
				t.Errorf("switched, %d pairs: delivery %d after %d ns, want %d", n, i, got, want)
			}
		}
	}
}

// Streams settle at max(b, n·b_c) a byte on a shared medium (eq. 16) and at max(b, b_c) on a switch.
func TestStreams(t *testing.T) {
	const chunk, skip, count = 10_000, 20, 20
	for _, mode := range []string{netspec.Shared, netspec.Switched} {
		for _, n := range []int{1, 2, 4} {
			s := spec(2*n, func(s *netspec.Spec) { s.Mode = mode })
			per := make([]float64, n)
			err := sim.New(s, sim.Options{}).Run(seq(2*n), func(rank int, g *sim.Group) error {
				b := make([]byte, chunk)
				var from units.Nanos
				for i := range 2*skip + count {
					if rank%2 == 0 {
						if err := g.Send(rank+1, b); err != nil {
							return err
						}
						continue
					}
					if err := g.Recv(rank-1, b); err != nil {
						return err
					}
					switch i {
					case skip - 1:
						from = g.Now()
					case skip + count - 1:
						per[rank/2] = (g.Now() - from).Seconds() / (chunk * count)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			want := max(s.Host.B, s.Medium.B)
			if mode == netspec.Shared {
				want = max(s.Host.B, float64(n)*s.Medium.B)
			}
			for i, got := range per {
				if math.Abs(got/want-1) > 1e-9 {
					t.Errorf("%s, %d pairs: pair %d takes %g s/B, want %g", mode, n, i, got, want)
				}
			}
		}
	}
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func TestSlowHost(t *testing.T) {
	s := spec(4, func(s *netspec.Spec) { s.Overrides = map[int]netspec.Block{3: {A: 700 * us, B: 0.7 * us}} })
	at := deliveries(t, sim.New(s, sim.Options{}), 2, 1000)
	if at[0] != 800_000 || at[1] != 300_000+200_000+700_000 {
		t.Errorf("deliveries %v ns, want 800000 and 1200000", at)
	}
}

// join makes a team of all hosts the way agents do, each rank for itself.
func join(t *testing.T, n *sim.Net, size int) []*sim.Group {
	t.Helper()
	groups := make([]*sim.Group, size)
	errs := make(chan error, size)
	for rank := range size {
		go func() {
			g, err := n.Group(t.Context(), "test", seq(size), rank)
			groups[rank] = g
			errs <- err
		}()
	}
	for range size {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
	return groups
}

// Teams of one RunTeams share the medium; a host's time goes on from run to run.
func TestTeamsShareMedium(t *testing.T) {
	s := spec(4, shared)
	n := sim.New(s, sim.Options{})
	for run := range 2 {
		var at, start [2]units.Nanos
		err := n.RunTeams([][]int{{3, 1}, {0, 2}}, func(team, rank int, g *sim.Group) error {
			b := make([]byte, 1000)
			if rank == 0 {
				return g.Send(1, b)
			}
			start[team] = g.Now()
			err := g.Recv(0, b)
			at[team] = g.Now() - start[team]
			return err
		})
		if want := [2]units.Nanos{800_000, 1_000_000}; err != nil || at != want {
			t.Errorf("deliveries %v ns, %v; want %v", at, err, want)
		}
		if want := units.Nanos(run) * 1_000_000; start[0] != want {
			t.Errorf("run %d starts at %d ns, want %d", run, start[0], want)
		}
	}
}

func TestThousandHosts(t *testing.T) {
	const hosts = 1000
	s := spec(hosts, shared)
	at := deliveries(t, sim.New(s, sim.Options{}), hosts/2, 1)
	perByte := s.Medium.B - s.Medium.A/float64(s.MSS)
	want := nanos(2*s.Host.A + 2*(s.Host.B-s.Host.A/float64(s.MSS)) + 500*(s.Medium.A+perByte))
	if got := slices.Max(at); got != want {
		t.Errorf("last of 500 pairs after %d ns, want %d", got, want)
	}
}

// Hollow messages take the time of others.
func TestHollow(t *testing.T) {
	two := spec(2)
	var ends [2]units.Nanos
	for i, hollow := range []bool{false, true} {
		err := sim.New(two, sim.Options{Hollow: hollow}).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
			b := []byte{byte(1 + rank), 7, 7}
			if rank == 0 {
				return g.Send(1, b)
			}
			err := g.Recv(0, b)
			if ends[i] = g.Now(); (b[0] == 1) == hollow {
				t.Errorf("hollow %v: received %v", hollow, b)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if ends[0] != ends[1] || ends[0] == 0 {
		t.Errorf("%v with content, %v without", ends[0], ends[1])
	}
}
