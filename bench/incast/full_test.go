package incast

import (
	"math"
	"testing"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/transport/sim"
)

// What a port holds while it is kept full is its buffer, whatever the clocks say; a port that no burst fills is not
// kept full.
func TestFullPort(t *testing.T) {
	for _, c := range []struct{ buffer, senders int }{{40, 2}, {100, 3}, {100, 6}, {400, 4}} {
		s := incastSpec(c.senders + 1)
		s.Buffer = c.buffer
		n := sim.New(s, sim.Options{ClockOffset: units.Second, ClockDrift: 20})
		for _, m := range []int64{64, 1000} {
			p := bench.Point{names.FactorBytes: m, names.FactorPackets: 2048, names.FactorSenders: int64(c.senders)}
			lines := incastLines(t, Flood, n, p, 1, names.PhaseFull, nil)
			if len(lines) != 1 {
				t.Fatalf("%+v, %d bytes: %d lines", c, m, len(lines))
			}
			a := lines[0].Aux
			if held := a[names.AuxHeld] + 0.5; math.Abs(held-float64(c.buffer)) > 1 || a[names.AuxLosses] < 10 ||
				len(lines[0].NS) > bench.MaxIntervals {
				t.Errorf("%+v, %d bytes: %.1f held beside %g losses (%+v)", c, m, held, a[names.AuxLosses], a)
			}
			p[names.FactorPackets] = 16
			if lines := incastLines(t, Flood, n, p, 1, names.PhaseFull, nil); len(lines) != 0 {
				t.Errorf("%+v: 16 datagrams fill the port: %+v", c, lines)
			}
		}
	}
}
