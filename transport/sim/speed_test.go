package sim_test

import (
	"testing"

	"calib/transport/sim"
)

func BenchmarkPackets(b *testing.B) {
	s := spec(8, shared)
	msg := 100 * s.MSS
	b.ReportAllocs()
	err := sim.New(s, sim.Options{}).Run(seq(8), func(rank int, g *sim.Group) error {
		buf := make([]byte, msg)
		for range b.N/400 + 1 {
			call, peer := g.Send, rank+1
			if rank%2 == 1 {
				call, peer = g.Recv, rank-1
			}
			if err := call(peer, buf); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func BenchmarkPingPong(b *testing.B) {
	b.ReportAllocs()
	err := sim.New(spec(2), sim.Options{}).Run([]int{0, 1}, func(rank int, g *sim.Group) error {
		buf := make([]byte, 1)
		for range b.N {
			first, second := g.Send, g.Recv
			if rank == 1 {
				first, second = second, first
			}
			if err := first(1-rank, buf); err != nil {
				return err
			}
			if err := second(1-rank, buf); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}
