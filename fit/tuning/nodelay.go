package tuning

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"calib/fit"
	"calib/fit/resample"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// NoDelay is what Nagle's algorithm costs, by message size and by how many writes a message is sent in:
//
//	cost(x, writes) = T with Nagle/T without − 1,  T half the round trip of x bytes.
//
// The settings whose cost is above 20% with its whole interval become parameters nagle_cost_<x>_<writes>w [1], such as
// nagle_cost_1449B_2w; nagle_costly counts them. Messages that Nagle's algorithm holds back until the peer's delayed
// acknowledgement are recognised by how long: 40 ms on Linux, 200 ms elsewhere, or half of it where one message of a
// round trip is held. Source: Nagle 1984, RFC 896; Strumpen 1994, section 3.1 (TCP_NODELAY).
var NoDelay = fit.Model{Name: "nodelay", Needs: []string{names.NoDelay}, Fit: fitNoDelay, Draw: noDelayPlots}

const (
	// costly is the cost above which Nagle's algorithm is worth a warning.
	costly = 0.2
	// manyStalls is the share of messages from which a stall is named.
	manyStalls = 0.05
)

// stalls are the times a delayed acknowledgement holds a message back, with what it means for half a round trip [s].
var stalls = [...]struct {
	lo, hi float64
	name   string
}{
	{35e-3, 45e-3, "40 ms, every message"},
	{17.5e-3, 22.5e-3, "40 ms, one message of a round trip"},
	{180e-3, 220e-3, "200 ms, every message"},
	{90e-3, 110e-3, "200 ms, one message of a round trip"},
}

type nagleKey struct{ bytes, writes, nagle int64 }

func (k nagleKey) without() nagleKey { return nagleKey{k.bytes, k.writes, 0} }

func (k nagleKey) cost() string {
	return fmt.Sprintf("nagle_cost_%s_%dw", fit.SizeName(k.bytes), k.writes)
}

func (k nagleKey) String() string {
	return fmt.Sprintf("%s in %s", fit.SizeWords(k.bytes), units.Plural(k.writes, "write"))
}

type nagleData struct {
	*fit.Result
	table resample.Table[nagleKey]
	raw   map[nagleKey][]float64
	est   *resample.Estimates
	with  []nagleKey // settings measured with Nagle's algorithm and without, those with it
}

// fitNoDelay returns fit.ErrNeeds where no setting was measured both with and without.
func fitNoDelay(p *fit.Prepared) (*params.Fit, error) {
	d := &nagleData{Result: p.New("nodelay", names.NoDelay, "RFC 896; Strumpen 1994, section 3.1"),
		raw: map[nagleKey][]float64{}}
	lines := d.Lines(names.NoDelay, "")
	for _, b := range lines {
		if k, ok := nagleKeyOf(b.Lines[0]); ok {
			addLine(&d.table, k, b)
			d.raw[k] = append(d.raw[k], fit.Seconds(b.Lines[0].NS)...)
		}
	}
	for k := range d.table.Index {
		if _, both := d.table.Index[k.without()]; both && k.nagle == 1 {
			d.with = append(d.with, k)
		}
	}
	const missing = "no message measured with Nagle's algorithm and without it, both without loss"
	if len(d.with) == 0 {
		return nil, fit.Needs(missing)
	}
	d.Account(lines)
	var err error
	if d.est, err = fit.Resample(d.Result, &d.table, missing); err != nil {
		return nil, err
	}
	slices.SortFunc(d.with, func(a, b nagleKey) int {
		return cmp.Or(cmp.Compare(a.writes, b.writes), cmp.Compare(a.bytes, b.bytes))
	})
	d.costs()
	d.noteStalls()
	d.JudgeTable()
	return d.Fit, nil
}

// nagleKeyOf reads the setting of a line: its size is aux bytes, or the point's.
func nagleKeyOf(l *dataset.Sample) (nagleKey, bool) {
	k := nagleKey{l.Point[names.FactorBytes], max(1, l.Point[names.FactorWrites]), l.Point[names.FactorNagle]}
	if b := l.Aux[names.AuxBytes]; b > 0 {
		k.bytes = int64(b)
	}
	return k, k.bytes > 0
}

func (d *nagleData) costs() {
	var at []string
	for _, keys := range fit.Runs(d.with, func(a, b nagleKey) bool { return a.writes == b.writes }) {
		series := func(name string, nagle float64) params.Series {
			return params.Series{Name: "T(x), " + units.Plural(keys[0].writes, "write") + ", " + name, XName: "bytes",
				Quantity: params.NagleTime, Factors: map[string]float64{"writes": float64(keys[0].writes), "nagle": nagle}}
		}
		with, without := series("Nagle", 1), series("no delay", 0)
		for _, k := range keys {
			on, off := d.table.Index[k], d.table.Index[k.without()]
			fit.Tabulate(&with, float64(k.bytes), d.est, on)
			fit.Tabulate(&without, float64(k.bytes), d.est, off)
			d.WidenDomain("bytes", float64(k.bytes))
			d.WidenDomain("writes", float64(k.writes))
			cost := func(v []float64) float64 { return v[on]/v[off] - 1 }
			if v, ci := d.est.Of(cost); resample.Scatter(d.est, v, d.est.Replicates, cost)[0] > costly {
				d.Found(k.cost(), "1", "how much longer "+k.String()+" takes with Nagle's algorithm", v, ci)
				useful(d.Result, k.cost(), params.Useful*v, fmt.Sprintf("± %.0f%%", 100*params.Useful))
				at = append(at, fmt.Sprintf("%s (%+.0f%%)", k, 100*v))
			}
		}
		d.Series = append(d.Series, with, without)
	}
	n := float64(len(at))
	d.Found("nagle_costly", "1", "settings measured at which Nagle's algorithm costs more than 20%", n, [2]float64{n, n})
	d.Explain("nagle_costly", "no interval: a count of settings")
	if len(at) == 0 {
		d.Note("nagle-cost", "Nagle's algorithm costs more than 20%% at none of the %d settings measured", len(d.with))
		return
	}
	d.Note("nagle-cost", "Nagle's algorithm costs more than 20%% at %d of %d settings: %s",
		len(at), len(d.with), strings.Join(at, ", "))
}

// noteStalls names the delayed acknowledgements among the timings with Nagle's algorithm.
func (d *nagleData) noteStalls() {
	for _, stall := range stalls {
		var at []string
		for _, k := range d.with {
			usual, n := d.est.Values[d.table.Index[k.without()]], 0
			for _, v := range d.raw[k] {
				if held := v - usual; held >= stall.lo && held <= stall.hi {
					n++
				}
			}
			if share := float64(n) / float64(len(d.raw[k])); share >= manyStalls {
				at = append(at, fmt.Sprintf("%s (%.0f%% of them, median %.3g ms)", k, 100*share, stats.Median(d.raw[k])*1e3))
			}
		}
		if len(at) > 0 {
			d.Note("delayed-ack", "delayed acknowledgement (%s): %s", stall.name, strings.Join(at, ", "))
		}
	}
}

func noDelayPlots(f *params.Fit) []plot.Plot {
	var out []plot.Plot
	for _, same := range fit.Runs(f.Of(params.NagleTime),
		func(a, b params.Series) bool { return a.Factors["writes"] == b.Factors["writes"] }) {
		s := same[0] // with Nagle's algorithm
		n := int64(s.Factors["writes"])
		var marks []plot.Mark // the sizes at which Nagle's algorithm costs much, ascending
		var at []string
		for _, r := range s.Points {
			k := nagleKey{bytes: int64(r.X), writes: n}
			if v, _, _, ok := f.Parameters[k.cost()].Ends(); ok {
				at = append(at, fmt.Sprintf("%s: +%s", fit.SizeWords(k.bytes), fit.Share(v)))
				marks = append(marks, plot.Mark{X: r.X, Label: at[len(at)-1]})
			}
		}
		says := "Nagle's algorithm costs more than 20% at " + cmp.Or(strings.Join(at, ", "), "none of these sizes")
		out = append(out, plot.Plot{
			ID: fmt.Sprintf("nagle-%d", n), Section: fit.SectionTuning, Says: fit.Sentences(says), X: fit.SizeAxis(true),
			Title: "Nagle's algorithm on and off, messages of " + units.Plural(n, "write"),
			Y:     fit.TimeAxis("half round trip", true), Series: fit.SeriesNames(same), Marks: marks,
		})
	}
	return out
}
