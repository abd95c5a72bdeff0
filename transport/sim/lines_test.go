package sim_test

import (
	"fmt"
	"testing"

	"calib/internal/plane"
	"calib/transport/sim"
)

// The bytes of a line fill packets, wherever one Send ends, unless less than a packet may wait beside that in the
// block; what is left over follows when nothing else is there.
func TestLinesFillPackets(t *testing.T) {
	const write, writes = 1700, 30
	for _, unsent := range []int64{0, 1, 900, 1700, 5000} {
		play(t, spec(2), sim.Options{}, func(rank int, g *sim.Group) error {
			return g.Lines(1-rank, 1, func(_ int, l plane.Line) error {
				if rank == 1 {
					for got, b := 0, make([]byte, 4000); got < write*writes; {
						n, err := l.RecvSome(b)
						if err != nil {
							return err
						}
						got += n
					}
					return l.Send([]byte{1})
				}
				if err := l.Bound(unsent, 0); err != nil {
					return err
				}
				for range writes {
					if err := l.Send(make([]byte, write)); err != nil {
						return err
					}
				}
				if _, err := l.RecvSome(make([]byte, 1)); err != nil {
					return err
				}
				s, err := l.State()
				if full := int64(write * writes / 1000); err != nil || s.TCP.DataSegsOut < full ||
					(unsent == 0 || unsent >= write) && s.TCP.DataSegsOut > full+3 {
					return fmt.Errorf("with at most %d bytes unsent: %d packets, want %d (%v)", unsent, s.TCP.DataSegsOut, full, err)
				}
				return nil
			})
		})
	}
}
