package overlap

import (
	"cmp"
	"maps"
	"slices"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset/names"
	"calib/internal/lists"
)

// What the points of the table are.
type kind int

const (
	direct    kind = iota // transfer by the thread that computes [s]
	handed                // the same by the second thread [s]
	penalty               // handed over direct
	stepTime              // one step of the computation [s]
	ratio                 // γ: computation over transfer
	timeRatio             // time of I.3 over transfer
	gain                  // time of I.1 over that of I.3
	sendFirst             // time of I.1 over that of I.2
	sum                   // time of I.1 over computation and transfer
)

// key is a point: granularity is the one asked for [%], 0 where all go together.
type key struct {
	kind
	bytes, granularity int64
}

// batch is what one pair measured at one point in one round: the times of its ways, which took turns.
type batch struct {
	first *fit.Batch
	times map[string][]float64
}

type batchKey struct {
	slot, round int
	point, team string
}

type data struct {
	*fit.Result
	table resample.Table[key]
	est   *resample.Estimates
	cpus  float64 // that the agents may use: the fewest
}

// phases are those that the model reads.
var phases = []string{names.PhaseInTurn, names.PhaseSendFirst, names.PhaseSecond, names.PhaseCompute,
	names.PhaseTransfer, names.PhaseTransferSecond}

// read fills the table. It returns the lines of which it is made.
func (d *data) read() []*fit.Batch {
	batches := map[batchKey]*batch{}
	used := d.EachLine(names.Overlap, phases, func(phase string, b *fit.Batch) {
		l := b.Lines[0]
		k := batchKey{l.Slot, l.Round, l.Point.Key(), b.Team()}
		if batches[k] == nil {
			batches[k] = &batch{first: b, times: map[string][]float64{}}
		}
		batches[k].times[phase] = fit.Seconds(l.NS)
		if n := l.Aux[names.AuxCPUs]; n > 0 && (d.cpus == 0 || n < d.cpus) {
			d.cpus = n
		}
	})
	for _, k := range slices.SortedFunc(maps.Keys(batches), func(a, b batchKey) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.round, b.round), cmp.Compare(a.point, b.point),
			cmp.Compare(a.team, b.team))
	}) {
		d.add(batches[k])
	}
	return used
}

// add adds a batch. Ratios are of blocks that followed each other, so that what changes slowly is in neither.
func (d *data) add(b *batch) {
	q := b.first.Point
	bytes, granularity := q[names.FactorBytes], q[names.FactorGranularity]
	transfer := b.times[names.PhaseTransfer]
	put := func(kind kind, granularity int64, values []float64) {
		if len(values) > 0 {
			i := d.table.Duration(key{kind, bytes, granularity})
			d.table.AddTeam(i, b.first.Team(), b.first.Dir, b.first.Round, len(values), values...)
		}
	}
	put(direct, 0, transfer)
	d.WidenDomain("bytes", float64(bytes))
	if granularity == 0 {
		second := b.times[names.PhaseTransferSecond]
		put(handed, 0, second)
		put(penalty, 0, divided(second, transfer))
		return
	}
	compute, turn, second := b.times[names.PhaseCompute], b.times[names.PhaseInTurn], b.times[names.PhaseSecond]
	if work := b.first.Lines[0].Aux[names.AuxWork]; work > 0 {
		put(stepTime, 0, combined(compute, compute, func(c, _ float64) float64 { return c / work }))
	}
	put(ratio, granularity, divided(compute, transfer))
	put(timeRatio, granularity, divided(second, transfer))
	put(gain, granularity, divided(turn, second))
	put(sendFirst, granularity, divided(turn, b.times[names.PhaseSendFirst]))
	put(sum, granularity, divided(turn, combined(compute, transfer, func(c, t float64) float64 { return c + t })))
}

// divided is a over b, value by value; none where one is missing.
func divided(a, b []float64) []float64 {
	return combined(a, b, func(x, y float64) float64 { return x / y })
}

func combined(a, b []float64, of func(x, y float64) float64) []float64 {
	var out []float64
	for i := range min(len(a), len(b)) {
		if a[i] > 0 && b[i] > 0 {
			out = append(out, of(a[i], b[i]))
		}
	}
	return out
}

// sweep lists the granularities of one size at which all of what the model needs was measured, ascending.
func (d *data) sweep(bytes int64) []int64 {
	return resample.Distinct(&d.table, func(k key) (int64, bool) {
		_, some := d.table.Index[key{ratio, bytes, k.granularity}]
		_, gained := d.table.Index[key{gain, bytes, k.granularity}]
		return k.granularity, k.kind == timeRatio && k.bytes == bytes && some && gained
	})
}

// sizes lists the message sizes of a kind, ascending.
func (d *data) sizes(kind kind) []int64 {
	return resample.Distinct(&d.table, func(k key) (int64, bool) { return k.bytes, k.kind == kind })
}

func (d *data) points(kind kind, bytes int64, granularities []int64) []int {
	return lists.Map(granularities, func(g int64) int { return d.table.Index[key{kind, bytes, g}] })
}
