package flow

import (
	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// connections are the numbers of connections a pair in streams, beside one: a stream that they make faster was limited
// by one connection or one CPU and not by the link.
var connections = []int64{2, 4}

// bearableLoss is the share of segments sent again above which a stream is flagged for it: sending them again slows a
// stream by as much.
const bearableLoss = 0.02

// streamTime is how long one direction of a stream is expected to take.
func streamTime(l bench.Limits, p bench.Point) units.Nanos {
	pairs := int(p[names.FactorPairs])
	if m := p[names.FactorBytes]; m != 0 {
		return StreamTime(l, m, pairs, bench.TrialChunks, minMessages)
	}
	return BulkTimeOn(l.OnPath(), pairs)
}

// stream measures one direction of one point: all senders send bytes as fast as they can from a common start, and the
// receivers count what comes in a window that all share. The rate of all pairs together is the sum of their bytes over
// its length, however they share the medium.
func stream(x Role) error {
	k := max(1, int(x.P[names.FactorConnections]))
	seen, err := Bulk{Role: x, Connections: k}.Run()
	if err != nil || x.Sends() {
		return err
	}
	b := x.Batch(names.PhaseStream, seen.PerWrite(), seen.TCP)
	b.Flags, b.Loss = seen.Flags, bearableLoss
	first, second := seen.Halves()
	for name, v := range map[string]float64{
		names.AuxChunk: float64(seen.Write), names.AuxWindow: float64(seen.Window), names.AuxRamp: float64(seen.Ramp),
		names.AuxWindowChunks: (first + second) / float64(seen.Write), names.AuxAveraged: seen.Averaged(),
		names.AuxHalves:  second / max(1, first),
		names.AuxCPUSend: float64(seen.SendCPU), names.AuxCPURecv: float64(seen.RecvCPU),
	} {
		b.Aux[name] = v
	}
	x.R.Add(b)
	return nil
}
