package export

import (
	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
	"calib/predict/network"
)

// warnOfSlowPairs warns that a target has one network for all pairs where the run found pairs that stand out.
func (in *input) warnOfSlowPairs() {
	if g := in.Params.Groups; g != nil {
		in.warnf("the hosts are in %d groups, and a byte takes %.2f times as long between them, but the file has one "+
			"network for all pairs: that within a group", len(g.Hosts), g.Apart)
	}
	in.warnOfKinds()
	in.warnOfPairs("the file has one network for all pairs")
}

// warnOfKinds warns that all hosts are taken as those of the largest kind.
func (in *input) warnOfKinds() { in.warn(network.OneKind(in.Params)...) }

// warnOfPairs warns of pairs that stand out, and says what the file has instead.
func (in *input) warnOfPairs(instead string) {
	slow := lists.Where(in.Params.Pairs, func(q params.Pair) bool { return q.Slow != "" })
	if len(slow) > 0 {
		in.warnf("%d of %d pairs stand out (%s), but %s", len(slow), len(in.Params.Pairs),
			units.OneLine(slow[0].From+" to "+slow[0].To+": "+slow[0].Slow), instead)
	}
}
