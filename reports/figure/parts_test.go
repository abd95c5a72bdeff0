package figure_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"calib/internal/dataset"
	"calib/internal/plot"
	"calib/params"
	"calib/reports/figure"
)

func number(v float64) *float64 { return &v }

// cluster is the pairs of n hosts, of which the last is slow, and one link.
func cluster(n int) *params.Params {
	p := &params.Params{}
	for i := range n {
		p.Run.Hosts = append(p.Run.Hosts, fmt.Sprintf("h%02d", i+1))
	}
	for i, from := range p.Run.Hosts {
		for j := i + 1; j < n; j++ {
			q := params.Pair{From: from, To: p.Run.Hosts[j], Latency: number(40e-6), Rate: number(1e9)}
			if j == n-1 || i == 0 && j == 1 {
				q.Latency, q.Slow = number(80e-6), "half round trip at 1 B is 2.00 times the median pair's"
			}
			p.Pairs = append(p.Pairs, q)
		}
	}
	return p
}

func TestPairs(t *testing.T) {
	p := cluster(64)
	got := figure.Build(p, nil, nil)
	check(t, got)
	if len(got) != 2 || got[0].ID != "pairs-latency" || got[1].ID != "pairs-rate" || got[0].Section != "Pairs" {
		t.Fatalf("%d figures", len(got))
	}
	h := got[0].Heat
	if len(h.Names) != 64 || h.Z[3][5] != 40e-6 || h.Z[5][3] != 40e-6 || !math.IsNaN(h.Z[4][4]) ||
		h.Better != params.BetterLower {
		t.Errorf("latency %v, %v, %v", h.Z[3][5], h.Z[5][3], h.Z[4][4])
	}
	if len(h.Flagged) != 2*64 || h.Flagged[0].Row != 0 || h.Flagged[0].Col != 1 {
		t.Errorf("%d cells flagged, the first %+v", len(h.Flagged), h.Flagged[0])
	}
	const want = "Half the round trip of the smallest message: a median of 40 µs over 2,016 pairs, from 40 µs to 80 µs."
	if got[0].Says != want {
		t.Errorf("says %q, want %q", got[0].Says, want)
	}
}

func TestPairsFew(t *testing.T) {
	one := &params.Params{Pairs: []params.Pair{{From: "a", To: "b", Latency: number(1e-3)}}}
	got := figure.Build(one, nil, nil)
	check(t, got)
	if len(got) != 1 || got[0].Says != "Half the round trip of the smallest message: 1 ms between the one pair measured." {
		t.Errorf("%+v", got)
	}
	// A pair stands for both directions; what is not finite is a gap.
	two := &params.Params{Pairs: []params.Pair{{From: "b", To: "a", Latency: number(2)},
		{From: "a", To: "c", Latency: number(math.NaN())}, {From: "c", To: "c", Latency: number(5)}}}
	got = figure.Build(two, nil, nil)
	check(t, got)
	if z := got[0].Heat.Z; z[0][1] != 2 || z[1][0] != 2 || !math.IsNaN(z[1][2]) || !math.IsNaN(z[2][2]) {
		t.Errorf("%v of %q", z, got[0].Heat.Names)
	}
	if got := figure.Build(&params.Params{Run: params.Run{Hosts: []string{"a"}}}, nil, nil); len(got) != 0 {
		t.Errorf("%d figures of one host", len(got))
	}
}

func TestValidation(t *testing.T) {
	p := &params.Params{Validation: []params.Validation{
		{Model: "sim", Pattern: "bcast-tree", Hosts: 8, Bytes: 4096, Predicted: 2e-3, CI95: &[2]float64{1.9e-3, 2.1e-3},
			Measured: 2.5e-3, Error: 0.2},
		{Model: "sim", Pattern: "bcast-tree", Hosts: 8, Bytes: 1, Predicted: 1e-3, Measured: 1e-3},
		{Pattern: "barrier", Hosts: 4, Predicted: 1e-3, Measured: math.NaN()},
	}}
	got := figure.Build(p, nil, nil)
	check(t, got)
	if len(got) != 1 || got[0].Section != "Validation" || got[0].Says != "Patterns that no fit has seen. Distance from "+
		"the line: "+
		"sim 10.0% on average, 20.0% at most." {
		t.Fatalf("%+v", got)
	}
	if q := got[0].Traces[1].Points; q[1].X != 2.5e-3 || q[1].Y != 2e-3 || q[1].Lo != 1.9e-3 || q[0].Lo < q[0].Hi {
		t.Errorf("%+v", q)
	}
}

// raw is n timings at 8 sizes, the slow tenth of them with a retransmission.
func raw(n int) *dataset.Dataset {
	d := &dataset.Dataset{}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n / 100 {
		s := dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": 1 << (i % 8)}, Ranks: []int{0, 1}}
		for range 100 {
			s.NS = append(s.NS, 1000+rng.Int64N(1_000_000))
		}
		if i%80 < 8 {
			s.Flags = []string{dataset.FlagRetrans}
			for k := range s.NS {
				s.NS[k] += 200_000_000
			}
		}
		d.Samples = append(d.Samples, s)
	}
	return d
}

func rawParams() *params.Params {
	return &params.Params{Fits: []*params.Fit{{Model: "m", Experiment: "pingpong",
		Series: []params.Series{{Name: "T(x)", Points: []params.Residual{{X: 1, Measured: 1}, {X: 128, Measured: 2}}}},
	}}}
}

func rawPlots(*params.Fit) []plot.Plot {
	return []plot.Plot{{ID: "t-x", Section: "s", Title: "t", Says: "x.", X: plot.Axis{Name: "size", Unit: "B", Log: true},
		Y: plot.Axis{Name: "T", Unit: "s", Log: true}, Series: []string{"T(x)"},
		Raw: &plot.Raw{Experiment: "pingpong", Factor: "bytes"}}}
}

func TestRawQuantiles(t *testing.T) {
	d := raw(400_000)
	one := dataset.Point{"bytes": 1}
	d.Samples = append(d.Samples,
		dataset.Sample{Exp: "pingpong", Point: one, NS: []int64{5e9, 6e9}, Flags: []string{dataset.FlagTimeout}},
		dataset.Sample{Exp: "paired", Point: one, NS: []int64{9e9}}, dataset.Sample{Exp: "pingpong", NS: []int64{9e9}})
	f := figure.Build(rawParams(), rawPlots, d)
	check(t, f)
	wide, narrow := f[0].Traces[0].Points, f[0].Traces[1].Points
	const want = "5–95% of 360,000 timings (left out: 40,000 with retransmissions, 2 broken off)"
	if f[0].Traces[0].Name != want {
		t.Errorf("%q, want %q", f[0].Traces[0].Name, want)
	}
	if len(wide) != 8 || wide[7].X != 128 {
		t.Fatalf("sizes %v", wide)
	}
	for _, c := range []struct{ got, want float64 }{{wide[7].Lo, 51e-6}, {wide[7].Hi, 951e-6}, {narrow[7].Lo, 251e-6},
		{narrow[7].Hi, 751e-6},
		{wide[7].Y, 501e-6}} {
		if math.Abs(c.got-c.want) > 6e-6 {
			t.Errorf("quantile %g, want about %g", c.got, c.want)
		}
	}
}

// The bar: a million timings in well under a second.
func BenchmarkRawMillion(b *testing.B) {
	d, p := raw(1_000_000), rawParams()
	for b.Loop() {
		figure.Build(p, rawPlots, d)
	}
}
