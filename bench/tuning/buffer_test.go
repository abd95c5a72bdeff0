package tuning

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport/sim"
)

// naive reports whether two ranks that both send m bytes and then receive wait for ever.
func naive(t *testing.T, n *sim.Net, m, buffer int64) bool {
	t.Helper()
	err := n.Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		s := units.Bytes(buffer)
		if err := g.Reopen(plane.Socket{SndBuf: s, RcvBuf: s}); err != nil {
			return err
		}
		if err := g.Send(1-rank, make([]byte, m)); err != nil {
			return err
		}
		return g.Recv(1-rank, make([]byte, m))
	})
	if err != nil && !errors.Is(err, sim.ErrDeadlock) {
		t.Fatal(err)
	}
	return err != nil
}

// The naive exchange deadlocks exactly where it would for ever, the interleaved one never, and after a deadlock
// everything goes on as before.
func TestBufferDeadlocks(t *testing.T) {
	n := sim.New(benchtest.Spec(2), sim.Options{Seed: 1, ClockOffset: units.Second,
		Cost: sim.Cost{Send: 300, Recv: 400, Now: 25}})
	points := Buffer.Design(bench.Limits{Hosts: 2})
	for m := units.Bytes(14 * units.KiB); m < 18*units.KiB; m += 400 { // about what four times 4 KiB hold
		points = append(points, bench.Point{names.FactorBytes: int64(m), names.FactorBuffer: 4096})
	}
	seen := 0
	lines := benchtest.MustRun(t, Buffer, n, bench.Slot{Teams: [][]int{{0, 1}}, Points: points}, 0.1, nil)[0]
	if len(lines) != 3*len(points) {
		t.Fatalf("%d lines of %d points, want three each", len(lines), len(points))
	}
	for i, l := range lines {
		if want := []string{names.PhaseOneWay, names.PhaseInterleaved, names.PhaseBoth}[i%3]; l.Phase != want {
			t.Fatalf("line %d is of phase %q, want %q", i, l.Phase, want)
		}
		want := l.Phase == names.PhaseBoth && naive(t, n, l.Point[names.FactorBytes], l.Point[names.FactorBuffer])
		if got := l.Has(dataset.FlagDeadlock); got != want {
			t.Errorf("%s at %s: deadlock %t, want %t", l.Phase, l.Point.Key(), got, want)
		}
		if s := l.Point[names.FactorBuffer]; s > 0 && (l.TCP.SndBuf != 2*s || l.TCP.RcvBuf != 2*s) {
			t.Errorf("%s: buffers %d and %d; want twice %d", l.Point.Key(), l.TCP.SndBuf, l.TCP.RcvBuf, s)
		}
		if !want {
			continue
		}
		seen++
		if len(l.NS) != 1 || l.NS[0] < int64(minStall) || l.NS[0] > int64(maxStall)+l.NS[0]/4 {
			t.Errorf("%s: seen after %d ns, want one time from %d to %d", l.Point.Key(), l.NS, minStall, maxStall)
		}
	}
	if seen == 0 || seen == len(points) {
		t.Errorf("%d of %d points deadlock, want some", seen, len(points))
	}
}

// hasty has another patience than it was told.
type hasty struct {
	bench.Group
	factor units.Nanos
}

func (g hasty) SendSome(to int, b []byte, patience units.Nanos) (int, error) {
	return g.Group.SendSome(to, b, patience/g.factor)
}

// Whichever rank stalls first, both know, and both have the other's message whole.
func TestBothWaysPassesEverything(t *testing.T) {
	for hastyRank := range 2 {
		for _, fragment := range []int{0, 100, 4096, 1 << 20} {
			var over bool
			n := sim.New(benchtest.Spec(2), sim.Options{SendBuffer: 16_000, Window: 16_000,
				Cost: sim.Cost{Send: 300, Recv: 400, Now: 25}})
			err := n.Run([]int{0, 1}, func(rank int, sg *sim.Group) error {
				g := bench.Group(sg)
				if rank == hastyRank {
					g = hasty{sg, 4}
				}
				x := &bothWays{peer: 1 - rank, fragment: fragment, patience: 400 * units.Millisecond,
					out: noise(rank, 100_000), in: make([]byte, 100_000)}
				err := bench.Caught(func() {
					if rank == 1 {
						if last := x.Follow(bench.Team{Group: g}); last != (fragment == 0) {
							t.Errorf("fragments of %d: rank 1 follows on %t", fragment, !last)
						}
						return
					}
					l := x.Lead(bench.Team{Group: g}, false)
					over = l.Final
					if at := units.Nanos(l.NS); l.Final && (at < 100*units.Millisecond || at > 110*units.Millisecond) {
						t.Errorf("rank %d is hasty: seen after %v, want 100 ms", hastyRank, at)
					}
				})
				if !bytes.Equal(x.in, noise(1-rank, 100_000)) {
					t.Errorf("fragments of %d: rank %d got another message", fragment, rank)
				}
				return err
			})
			if err != nil || over != (fragment == 0) {
				t.Errorf("fragments of %d: deadlock %t, %v", fragment, over, err)
			}
		}
	}
}

func noise(seed, n int) []byte {
	b := make([]byte, n)
	rng := rand.New(rand.NewPCG(uint64(seed), 7))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// Both ranks start at once: on a switch the interleaved exchange takes what one way takes.
func TestBothWaysStartTogether(t *testing.T) {
	s := benchtest.Spec(2)
	s.Mode = "switched"
	n := sim.New(s, sim.Options{ClockOffset: units.Second})
	p := bench.Point{names.FactorBytes: 1024, names.FactorBuffer: 65536}
	lines := benchtest.MustRun(t, Buffer, n, bench.Slot{Teams: [][]int{{0, 1}}, Points: []bench.Point{p}}, 1, nil)[0]
	one := benchtest.Median(benchtest.Phase(t, lines, names.PhaseOneWay).NS)
	for _, phase := range []string{names.PhaseBoth, names.PhaseInterleaved} {
		// The handshake is shorter than the message, so that its half is known exactly; hosts serve both directions at
		// once.
		if got := benchtest.Median(benchtest.Phase(t, lines, phase).NS); got < 0.99*one || got > 1.01*one {
			t.Errorf("%s: %.0f ns, want %.0f as one way", phase, got, one)
		}
	}
}
