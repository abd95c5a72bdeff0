package figure_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"calib/internal/dataset"
	"calib/internal/plot"
	"calib/params"
	"calib/reports/figure"
)

var (
	words = rapid.SampledFrom([]string{"", "a", "A", "t-x", "T(x)", "L(m,2)", "h1", "h2", "h3", "pingpong", "é→",
		"Ping-pong"})
	numbers = rapid.SampledFrom([]float64{0, 1, -1, 2, 3.5, 1e-9, 1e12, -1e-6, math.NaN(), math.Inf(1), math.Inf(-1),
		math.MaxFloat64})
	list = rapid.SliceOfN(numbers, 0, 5)
)

func randomPlot(t *rapid.T) plot.Plot {
	p := plot.Plot{ID: words.Draw(t, "id"), Section: words.Draw(t, "section"), Title: words.Draw(t, "title"),
		Says: words.Draw(t, "says"),
		Line: words.Draw(t, "line"), Series: rapid.SliceOfN(words, 0, 3).Draw(t, "series"),
		Below: rapid.Bool().Draw(t, "below"),
		X:     plot.Axis{Name: words.Draw(t, "x"), Log: rapid.Bool().Draw(t, "log x")},
		Y:     plot.Axis{Unit: "s", Log: rapid.Bool().Draw(t, "log y")}}
	for range rapid.IntRange(0, 2).Draw(t, "curves") {
		p.Curves = append(p.Curves, plot.Curve{Name: words.Draw(t, "curve"), X: list.Draw(t, "cx"), Y: list.Draw(t, "cy"),
			Lo: list.Draw(t, "clo"), Hi: list.Draw(t, "chi")})
	}
	for range rapid.IntRange(0, 2).Draw(t, "marks") {
		p.Marks = append(p.Marks, plot.Mark{X: numbers.Draw(t, "mark"), Lo: numbers.Draw(t, "lo"), Hi: numbers.Draw(t, "hi")})
	}
	if rapid.Bool().Draw(t, "raw") {
		p.Raw = &plot.Raw{Experiment: "pingpong", Factor: "bytes", Fixed: map[string]int64{words.Draw(t, "fixed"): 1}}
	}
	return p
}

func randomParams(t *rapid.T) (*params.Params, figure.Plots) {
	plots := map[*params.Fit][]plot.Plot{}
	p := &params.Params{Run: params.Run{Hosts: rapid.SliceOfN(words, 0, 3).Draw(t, "hosts")}}
	for range rapid.IntRange(0, 3).Draw(t, "fits") {
		f := &params.Fit{Model: words.Draw(t, "model"), Experiment: words.Draw(t, "experiment")}
		for range rapid.IntRange(0, 3).Draw(t, "series") {
			s := params.Series{Name: words.Draw(t, "of")}
			for range rapid.IntRange(0, 4).Draw(t, "points") {
				s.Points = append(s.Points, params.Residual{X: numbers.Draw(t, "rx"), Measured: numbers.Draw(t, "measured"),
					Lo: numbers.Draw(t, "rlo"), Hi: numbers.Draw(t, "rhi"), Fitted: numbers.Draw(t, "fitted"),
					N: rapid.IntRange(-1, 5000).Draw(t, "n")})
			}
			f.Series = append(f.Series, s)
		}
		for range rapid.IntRange(0, 3).Draw(t, "plots") {
			plots[f] = append(plots[f], randomPlot(t))
		}
		p.Fits = append(p.Fits, f)
	}
	pointer := func(name string) *float64 {
		if v := numbers.Draw(t, name); v != 2 {
			return &v
		}
		return nil
	}
	for range rapid.IntRange(0, 5).Draw(t, "pairs") {
		p.Pairs = append(p.Pairs, params.Pair{From: words.Draw(t, "from"), To: words.Draw(t, "to"),
			Latency: pointer("latency"),
			Rate:    pointer("rate"), Slow: words.Draw(t, "slow")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "validation") {
		p.Validation = append(p.Validation, params.Validation{Pattern: words.Draw(t, "pattern"),
			Predicted: numbers.Draw(t, "predicted"),
			Measured:  numbers.Draw(t, "was"), CI95: &[2]float64{numbers.Draw(t, "vlo"), numbers.Draw(t, "vhi")}})
	}
	return p, func(f *params.Fit) []plot.Plot { return plots[f] }
}

// Whatever a params.json holds, figures keep their promises.
func TestBuildAnything(t *testing.T) {
	d := &dataset.Dataset{Samples: []dataset.Sample{{Exp: "pingpong", Point: dataset.Point{"bytes": 0},
		NS: []int64{-1, 0, 5}},
		{Exp: "pingpong", Point: dataset.Point{"bytes": 3}},
		{Exp: "pingpong", Point: dataset.Point{"bytes": 8, "a": 1}, NS: []int64{7}}}}
	rapid.Check(t, func(t *rapid.T) {
		p, plots := randomParams(t)
		check(t, figure.Build(p, plots, d))
		check(t, figure.Build(p, plots, nil))
	})
}
