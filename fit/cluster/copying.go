package cluster

import (
	"math"
	"strings"

	"calib/fit"
	"calib/internal/dataset/names"
	"calib/internal/plot"
	"calib/internal/units"
	"calib/params"
)

// Copy is what copying m bytes within a host costs, as lines c0 + c1·m: M_ctc from cache to cache, M_ctm from cache to
// memory, M_mtm from memory to memory, all at once, and M_ctc_loop, M_ctm_loop, M_mtm_loop byte by byte, as a program
// does that converts representations. Hosts are taken together. Source: Tam, Wang 2000, section 3.2 and table 1.
var Copy = fit.Model{Name: "cluster-copy", Needs: []string{names.Copy}, Fit: fitCopy, Draw: copyPlots}

// copyKinds lists the functions by the factor cold of copy.
var copyKinds = [...]struct{ symbol, label string }{
	{"M_ctc", "copying from cache to cache"},
	{"M_ctm", "copying from cache to memory"},
	{"M_mtm", "copying from memory to memory"},
}

// byteLoop is added to the symbol of copies byte by byte.
const byteLoop = "_loop"

// fitCopy returns fit.ErrNeeds where no kind of copy was measured at two sizes.
func fitCopy(p *fit.Prepared) (*params.Fit, error) {
	r := p.New("cluster-copy", names.Copy, source)
	c := loadCopies(r, p)
	est, err := fit.Resample(r, &c.table, "no copies")
	if err != nil {
		return nil, err
	}
	var costs []*costFit
	for _, suffix := range []string{"", byteLoop} {
		for _, kind := range copyKinds {
			symbol, label := kind.symbol+suffix, kind.label
			data := c.of(est, symbol, 0, math.Inf(1))
			if len(data.sizes) < 2 {
				continue
			}
			if suffix != "" {
				label += ", byte by byte"
			}
			cost, err := fitCost(r, symbol, label, data, false)
			if err != nil {
				return nil, err
			}
			if off, at := data.furthest(cost.Of); off > 2*bent {
				r.Add(params.Notef("off-the-form", "%s is not quite a line: %.0f%% off at %g B", symbol, 100*off, at).
					Of(symbol).With("off", off).With("bytes", at))
			}
			costs = append(costs, cost)
		}
	}
	if len(costs) == 0 {
		return nil, fit.Needs("copies measured at fewer than two sizes")
	}
	return finishCosts(r, costs...), nil
}

func loadCopies(r *fit.Result, p *fit.Prepared) *curves[string] {
	c := &curves[string]{}
	spilled := func(b *fit.Batch) bool { return b.Lines[0].Phase == names.PhaseSpilled }
	lines := r.Usable(r.Without(p.LineBatches(names.Copy, ""), fit.WhySpilled, spilled))
	r.Account(r.Sift(lines, func(b *fit.Batch) string {
		l := b.Lines[0]
		cold := b.Point[names.FactorCold]
		if cold < 0 || cold >= int64(len(copyKinds)) {
			return "unknown kind of copy"
		}
		symbol := copyKinds[cold].symbol
		if b.Point[names.FactorLoop] != 0 {
			symbol += byteLoop
		}
		times := fit.Seconds(l.NS)
		if v := l.Aux[names.AuxMedian]; v > 0 { // a copy may take a few nanoseconds, of which raw times have no fractions
			times = []float64{v * 1e-9}
		}
		c.add(symbol, float64(b.Point[names.FactorBytes]), b, b.Timings(), times...)
		return ""
	}))
	return c
}

func copyPlots(f *params.Fit) []plot.Plot {
	series := f.Of(params.CostOfSize)
	var parts []string
	for _, s := range series {
		if fn, ok := f.Functions[s.Symbol]; ok {
			parts = append(parts, s.Symbol+" "+rateWords(fn.Coeff["c1"]))
		}
	}
	return []plot.Plot{{
		ID: "copies", Section: fit.SectionCopies, Title: "Copying m bytes within a host", Says: fit.Sentences(
			"Large copies run at: "+strings.Join(parts, ", "), "c is cache, m is memory, and loop is byte by byte"),
		X: fit.SizeAxis(true), Y: fit.TimeAxis("time of a copy", true),
		Series: fit.SeriesNames(series), Curves: fit.CostCurves(f, true, series),
	}}
}

func rateWords(perByte float64) string {
	if !(perByte > 0) {
		return "without a time per byte"
	}
	return units.Format(1/perByte, "B/s")
}
