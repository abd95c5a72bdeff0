package html

import (
	"math"
	"os"
	"testing"

	"calib/params"
	"calib/reports/figure"
)

// fixture is the run on the emulated sparc1994 cluster that package fit encodes in its own tests.
func fixture(t testing.TB) *params.Params {
	t.Helper()
	f, err := os.Open("../../params/testdata/params.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := params.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// points are those of traces in tests; y, lo and hi may be nil.
func points(x, y, lo, hi []float64, text ...string) (out []figure.Point) {
	for i := range x {
		q := figure.Point{X: x[i]}
		for to, from := range map[*float64][]float64{&q.Y: y, &q.Lo: lo, &q.Hi: hi} {
			if from != nil {
				*to = from[i]
			}
		}
		if text != nil {
			q.Text = text[i]
		}
		out = append(out, q)
	}
	return out
}

// examples has one figure of each kind.
func examples() []figure.Figure {
	nan := math.NaN()
	size, time := figure.Axis{Name: "message size", Unit: "B", Log: true},
		figure.Axis{Name: "half round trip", Unit: "s", Log: true}
	x := []float64{1, 64, 1024, 65536, 4194304}
	all := []figure.Figure{
		{ID: "t-x", Section: "Ping-pong", Title: "Time of a message by its size", Says: "It is flat, then rises.", X: size,
			Y: time,
			Traces: []figure.Trace{
				{Name: "5–95% of timings", Kind: figure.Band, Points: points(x, x, []float64{1e-5, 1e-5, 2e-5, 4e-4, 3e-2},
					[]float64{2e-5, 2e-5, nan, 8e-4, 5e-2})},
				{Name: "hyperbola", Kind: figure.Line, Points: points(x, []float64{1e-5, 1.1e-5, 2e-5, 5e-4, 4e-2}, nil, nil),
					Group: 1},
				{Name: "hyperbola, 95%", Kind: figure.Band, Points: points(x, x, []float64{1e-5, 1e-5, 2e-5, 4e-4, 3e-2},
					[]float64{2e-5, 2e-5, 3e-5, 8e-4, 5e-2}), Group: 1},
				{Name: "measured", Kind: figure.Points, Points: points(x, []float64{1.1e-5, nan, 2.1e-5, 5e-4, 4e-2},
					[]float64{0, nan, 2e-5, 4e-4, 4e-2}, []float64{2e-5, nan, 3e-5, 6e-4, 5e-2}, "40 timings", "", "", "", "")},
			},
			Marks: []figure.Mark{{X: 1448, Label: "one packet"}, {X: 1500, Lo: 1400, Hi: 1600, Label: "a second mark beside it"},
				{X: 0, Label: "nowhere"}},
			Below: &figure.Figure{X: size, Y: figure.Axis{Name: "residual", Unit: "%"}, Traces: []figure.Trace{
				{Name: "hyperbola", Kind: figure.Points, Points: points(x, []float64{1, nan, -3, 2, 0.5}, nil, nil), Group: 1}}}},
		{ID: "a-n", Section: "Contention", Title: "a' by pairs", Says: "It rises by a_c.", X: figure.Axis{Name: "pairs"},
			Y: figure.Axis{Name: "a'", Unit: "s"},
			Traces: []figure.Trace{{Name: "a'(n)", Kind: figure.Points,
				Points: points([]float64{1, 2}, []float64{2e-3, 2.4e-3}, nil, nil)},
				{Name: "a'(n), 95%", Kind: figure.Band, Points: points([]float64{1, 1.5, 2}, []float64{2e-3, 2.2e-3, 2.4e-3},
					[]float64{1e-3, 2e-3, 2e-3}, []float64{3e-3, 3e-3, 3e-3})}}},
		{ID: "empty", Section: "Contention", Title: "Nothing in it", Says: "Nothing.", X: size, Y: time},
		{ID: "pairs-latency", Section: "Pairs", Title: "Latency between hosts", Says: "h2 is slow.", Heat: &figure.Heat{
			Names: []string{"h1", "h2", "h3"}, Unit: "s", Better: params.BetterLower,
			Z:       [][]float64{{nan, 4e-3, 2e-3}, {4e-3, nan, 4e-3}, {2e-3, 4e-3, nan}},
			Flagged: []figure.Flag{{Row: 0, Col: 1}}}},
	}
	for i := range all {
		figure.Settle(&all[i])
	}
	return all
}

func timeline() figure.Figure {
	return figure.Figure{ID: "t-x", Section: "History", Title: "a over time", Says: "One change.",
		X: figure.Axis{Name: "run", Unit: "time"},
		Y: figure.Axis{Name: "a", Unit: "s"},
		Traces: []figure.Trace{{Name: "a", Kind: figure.Points,
			Points: points([]float64{1.75e9, 1.7500864e9, 1.7501728e9}, []float64{1e-3, 1.1e-3, 1e-3}, nil, nil)}},
		Marks: []figure.Mark{{X: 1.7500864e9, Label: "+10%"}}}
}
