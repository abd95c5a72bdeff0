package hyperbolic

import (
	"cmp"
	"math"
	"slices"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
)

const whyUnsteady = "unsteady or limited stream"

// spoilt flags mark streams that are never used; doubtful ones, that are used only where a point has no others.
var (
	spoilt   = []string{dataset.FlagRetrans, dataset.FlagDeadlock, dataset.FlagTimeout}
	doubtful = []string{dataset.FlagUnsteady, dataset.FlagWindow, dataset.FlagProbeRTT}
)

func connectionsOf(b *fit.Batch) int64 { return cmp.Or(b.Point[names.FactorConnections], 1) }

// loadStreams gathers the usable streams, all numbers of connections, in p.counted. It returns those that give b'(n).
func (p *paired) loadStreams() []*fit.Batch {
	p.windows = p.fit.Complete(p.fit.Prepared.Batches(names.Paired, names.PhaseStream), false)
	p.counted = p.withoutSlow(p.steady(p.windows))
	fewest := int64(math.MaxInt64) // 1 in calib's runs; another tool may have measured several at once only
	for _, b := range p.windows {
		fewest = min(fewest, connectionsOf(b))
	}
	return lists.Where(p.counted, func(b *fit.Batch) bool { return connectionsOf(b) == fewest })
}

// steady leaves out streams with too much loss, and of each point those that something else than the path limited, or
// whose rate changed, where the point has others. Where it has not, p.unsteady is the typical relative error that this
// makes.
func (p *paired) steady(in []*fit.Batch) []*fit.Batch {
	in = p.fit.Unflagged(in, spoilt)
	worse := func(b *fit.Batch) bool { return b.Flagged(doubtful...) != "" }
	byPoint := func(a, b *fit.Batch) int { return cmp.Compare(a.Point.Key(), b.Point.Key()) }
	slices.SortStableFunc(in, byPoint)
	var out []*fit.Batch
	var halves []float64
	for _, group := range fit.Runs(in, func(a, b *fit.Batch) bool { return byPoint(a, b) == 0 }) {
		kept := p.fit.Prefer(group, whyUnsteady, worse)
		out = append(out, kept...)
		if !worse(kept[0]) {
			continue
		}
		for _, b := range kept {
			for _, l := range b.Lines {
				halves = append(halves, min(math.Abs(l.Aux[names.AuxHalves]-1)/2, 1))
			}
		}
	}
	if p.unsteady = stats.Typical(halves); len(halves) > 0 {
		p.fit.Add(params.Warnf("unsteady-streams", "some numbers of pairs have no steady stream: the rate changed "+
			"by %.0f%% within a window, or the receiver or the congestion control held it up. b and b_c are less "+
			"certain", 200*p.unsteady).With("share", p.unsteady))
	}
	return out
}

// streamTerms are what makes v, a time per byte of streams, uncertain beside the rounds.
func (p *paired) streamTerms(v float64) []params.Term {
	if p.unsteady == 0 {
		return nil
	}
	return []params.Term{{Name: "unsteady streams", Type: params.TypeB, U: v * p.unsteady,
		Why: "half the difference of the halves of the window"}}
}

// timePerByte is n over the sum of the pairs' rates [s/B].
func timePerByte(b *fit.Batch) float64 {
	bytes := float64(b.Point[names.FactorBytes])
	return float64(len(b.Lines)) / lists.Sum(b.Lines, func(l *dataset.Sample) float64 { return streamRate(l, bytes) })
}

// streamRate is one pair's rate [B/s]: the chunks of the common window over its length (aux window_chunks and
// window_ns), or, where the sample has no window, chunk over mean interval. A chunk is aux chunk_bytes, else bytes.
func streamRate(l *dataset.Sample, bytes float64) float64 {
	if c, ok := l.Aux[names.AuxChunk]; ok {
		bytes = c
	}
	if ns := l.Aux[names.AuxWindow]; ns > 0 {
		return bytes * l.Aux[names.AuxWindowChunks] / (ns * 1e-9)
	}
	return bytes * float64(len(l.NS)) / lists.Sum(l.NS, func(v int64) float64 { return float64(v) * 1e-9 })
}
