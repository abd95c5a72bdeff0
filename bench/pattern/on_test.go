package pattern_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"calib/bench"
	"calib/bench/benchtest"
	"calib/bench/pattern"
	"calib/internal/units"
	"calib/transport/sim"
)

// tally counts what passes between this rank and each other.
type tally struct {
	bench.Group
	out, in []int
}

func (g *tally) Send(to int, b []byte) error {
	g.out[to] += len(b)
	return g.Group.Send(to, b)
}

func (g *tally) SendSome(to int, b []byte, patience units.Nanos) (int, error) {
	n, err := g.Group.SendSome(to, b, patience)
	g.out[to] += n
	return n, err
}

func (g *tally) Recv(from int, b []byte) error {
	g.in[from] += len(b)
	return g.Group.Recv(from, b)
}

// TestOnTinyBuffers: every pattern ends on a network that holds two packets of each sender, twice in a row, and moves
// what its schedule says.
func TestOnTinyBuffers(t *testing.T) {
	for _, p := range pattern.All {
		for _, size := range []int{2, 3, 4, 5, 8, 11, 16} {
			if !p.Defined(size) {
				continue
			}
			for _, m := range []int{1, 1 << 10, 100 << 10} {
				t.Run(fmt.Sprintf("%s/%d/%d", p.Name(), size, m), func(t *testing.T) {
					s, err := pattern.Of(p, size, m)
					if err != nil {
						t.Fatal(err)
					}
					n := sim.New(benchtest.Spec(size), sim.Options{
						SendBuffer: 4 * units.KiB, Window: 4 * units.KiB, Deadline: 60 * units.Second,
					})
					all := make([]*tally, size)
					err = n.Run(bench.FirstHosts(size)[0][0], func(rank int, g *sim.Group) error {
						all[rank] = &tally{g, make([]int, size), make([]int, size)}
						var memory pattern.Scratch
						for range 2 {
							if err := p.On(all[rank], m, &memory); err != nil {
								return err
							}
						}
						return nil
					})
					if err != nil {
						t.Fatal(err)
					}
					for rank, got := range all {
						out, in := make([]int, size), make([]int, size)
						for _, step := range s[rank] {
							for _, p := range step.Out {
								out[p.Peer] += 2 * p.Bytes
							}
							for _, p := range step.In {
								in[p.Peer] += 2 * p.Bytes
							}
						}
						if !reflect.DeepEqual(got.out, out) || !reflect.DeepEqual(got.in, in) {
							t.Errorf("rank %d sent %v and received %v, want %v and %v", rank, got.out, got.in, out, in)
						}
					}
				})
			}
		}
	}
}

// TestSilentPeer: an exchange with a rank that neither receives nor sends ends with an error that says so.
func TestSilentPeer(t *testing.T) {
	n := sim.New(benchtest.Spec(2), sim.Options{SendBuffer: 4 * units.KiB, Window: 4 * units.KiB})
	err := n.Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		if rank == 1 {
			return g.WaitUntil(20 * units.Second)
		}
		b := make([]byte, 100<<10)
		return bench.Caught(func() {
			pattern.On(g).Exchange([]pattern.Message{{Peer: 1, Data: b}}, []pattern.Message{{Peer: 1, Data: b}})
		})
	})
	if err == nil || !strings.Contains(err.Error(), "rank 1: it has taken none") {
		t.Errorf("got %v", err)
	}
}

// TestExchangeKeepsBytes: what arrives is what was sent, in its order, although it passed in pieces.
func TestExchangeKeepsBytes(t *testing.T) {
	n := sim.New(benchtest.Spec(2), sim.Options{SendBuffer: 4 * units.KiB, Window: 4 * units.KiB})
	err := n.Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		peer := 1 - rank
		var out, in []pattern.Message
		for i, size := range []int{1, 30000, 5, 70000} {
			b := make([]byte, size)
			for k := range b {
				b[k] = byte(k*7 + i + 100*rank)
			}
			out = append(out, pattern.Message{Peer: peer, Data: b})
			in = append(in, pattern.Message{Peer: peer, Data: make([]byte, size)})
		}
		if err := bench.Caught(func() { pattern.On(g).Exchange(out, in) }); err != nil {
			return err
		}
		for i, m := range in {
			for k, b := range m.Data {
				if want := byte(k*7 + i + 100*peer); b != want {
					return fmt.Errorf("message %d, byte %d is %d, want %d", i, k, b, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
