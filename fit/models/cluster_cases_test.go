package models

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"testing"

	"calib/bench/pattern"
	"calib/fit"
	"calib/fit/cluster"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/params"
	"calib/predict"
)

func mustFit(t *testing.T, m fit.Model, d *dataset.Dataset) *params.Fit {
	t.Helper()
	f := fitWith(t, m, d, 60)
	checkFit(t, m, f)
	return f
}

// edit changes every sample of one experiment and phase.
func edit(d *dataset.Dataset, exp, phase string, change func(*dataset.Sample)) *dataset.Dataset {
	for _, s := range d.Select(exp, phase) {
		change(s)
	}
	return d
}

func small() clusterTruth {
	w := tableOne(40)
	w.Hosts, w.Noise, w.Rounds = 4, 0.01, 4
	return w
}

func TestOverheadOfReceptionHidden(t *testing.T) {
	w := small()
	w.Or, w.Slack = params.Cost{C0: 1e-7}, 1e-3
	d := w.Dataset()
	f := mustFit(t, cluster.Overhead, d)
	p := f.Parameters["O_r"]
	if _, there := f.Functions["O_r"]; there || p.Status != params.StatusUnidentifiable || p.Bound[1] < w.Or.Of(700) {
		t.Errorf("O_r within the noise: %+v", p)
	}
	l := mustFit(t, cluster.Transfer, d)
	if !notes(l.Findings, "o-r-unknown", "O_r is not known") {
		t.Errorf("findings of L: %v", l.Findings)
	}
	c, err := cluster.Of(fit.Collect(fit.Prepare(d, fit.Settings{}), []*params.Fit{f, mustFit(t, cluster.Gap, d), l}))
	if err != nil || c.Or != (params.Cost{}) || c.Gr != c.Gs {
		t.Errorf("cluster %+v, %v", c, err)
	}
	d.Samples = slices.DeleteFunc(d.Samples, func(s dataset.Sample) bool { return s.Phase == names.PhaseCompute })
	if p := mustFit(t, cluster.Overhead, d).Parameters["O_r"]; !math.IsInf(p.Bound[1], 1) {
		t.Errorf("O_r without computations: %+v", p)
	}
}

func TestOverheadSays(t *testing.T) {
	w := small()
	w.Noise = 0
	d := w.Dataset()
	edit(d, "overhead", names.PhaseSend, func(s *dataset.Sample) {
		if s.Point["bytes"] > 1448 {
			for i := range s.NS {
				s.NS[i] = s.NS[i]*3/2 - 15
			}
		}
	})
	f := mustFit(t, cluster.Overhead, d)
	if !notes(f.Findings, "above-one-packet", "O_s is fitted up to one packet of 1448 B; above, the line is off by up "+
		"to 33%") {
		t.Errorf("findings %v", f.Findings)
	}
	if fn := f.Functions["O_s"]; fn.Domain["m"] != [2]float64{1, 1401} || math.Abs(fn.Coeff["c0"]/w.Os.C0-1) > 1e-6 {
		t.Errorf("O_s %+v", fn)
	}
}

func TestGapMerged(t *testing.T) {
	w := small()
	w.Merged = func(m float64) float64 { // small messages cost by number, large ones by bytes
		if m <= 40 {
			return 10e-6
		}
		return 2e-6 + 60e-9*m
	}
	f := mustFit(t, cluster.Gap, w.Dataset())
	fn := f.Functions["g_s_merged"]
	for _, m := range []float64{1, 40, 100, 1448} {
		v, err := fn.At(m, 0, nil)
		if err != nil || math.Abs(v/w.Merged(m)-1) > 0.03 {
			t.Errorf("g_s_merged(%g) = %g (%v), want %g; %+v", m, v, err, w.Merged(m), fn)
		}
	}
	w.Merged = func(m float64) float64 { return 1e-6 * math.Sqrt(m) }
	f = mustFit(t, cluster.Gap, w.Dataset())
	if f.Functions["g_s_merged"].Form != params.Pieces ||
		!notes(f.Findings, "several-segments", "lines over ranges of the size") {
		t.Errorf("a root as merged gap: %+v, findings %v", f.Functions["g_s_merged"], f.Findings)
	}
}

func TestGapNotOneASegment(t *testing.T) {
	w := small()
	merge := func(s *dataset.Sample) {
		if s.Point["merge"] == 0 && (s.Point["bytes"] == 20 || s.Round == 0) {
			s.TCP.DataSegsOut /= 3
		}
	}
	f := mustFit(t, cluster.Gap, edit(w.Dataset(), "gap", "gap", merge))
	if !warns(f.Findings, "merged-messages", "did not send one segment a message") ||
		f.LeftOutWhy["messages not one a segment"] == 0 ||
		slices.ContainsFunc(f.Named("g_s(m)").Points, func(r params.Residual) bool { return r.X == 20 }) {
		t.Errorf("findings %v, left out %v", f.Findings, f.LeftOutWhy)
	}
	all := func(s *dataset.Sample) { s.TCP.DataSegsOut = 5 }
	f = mustFit(t, cluster.Gap, edit(w.Dataset(), "gap", "gap", all))
	if _, there := f.Functions["g_s"]; there || f.Parameters["g_s"].Status != params.StatusUnidentifiable ||
		len(f.Functions) != 1 {
		t.Errorf("everything merged: %+v, %v", f.Parameters["g_s"], f.Functions)
	}
}

// A stream counts as a whole, and alone. Where the sender shares a CPU with one of two receivers, no line of it is
// missed; where one lost something, both are.
func TestGapStreams(t *testing.T) {
	const lossyRound, crowdedRound = 1, 2
	w := small()
	d := w.Dataset()
	for i := range d.Header.Hosts {
		d.Header.Hosts[i].Boot, d.Header.Hosts[i].CPU = "m", strconv.Itoa(i/2)
	}
	var again, crowded int
	d.Samples = lists.Flat(d.Samples, func(s dataset.Sample) []dataset.Sample {
		if s.Exp != "gap" {
			return []dataset.Sample{s}
		}
		if s.Ranks[0] > 1 { // another team, side by side
			s.Ranks = []int{s.Ranks[0], s.Ranks[0] - 2}
			return []dataset.Sample{s}
		}
		second := s
		s.Ranks, second.Ranks = []int{s.Ranks[0], 2}, []int{s.Ranks[0], 3} // 0 and 1 have one CPU
		switch s.Round {
		case lossyRound:
			second.Flags = []string{dataset.FlagRetrans}
			again += 2 * len(s.NS)
		case crowdedRound:
			second.Ranks = []int{s.Ranks[0], 1 - s.Ranks[0]}
			crowded += 2 * len(s.NS)
		}
		return []dataset.Sample{s, second}
	})
	f := mustFit(t, cluster.Gap, d)
	if f.LeftOutWhy[dataset.FlagRetrans] != again || f.LeftOutWhy[fit.WhyOneCPU] != crowded || f.LeftOut != again+crowded {
		t.Errorf("left out %v, want %d sent again and %d on one CPU", f.LeftOutWhy, again, crowded)
	}
	if near(t, "g_s c0", f.Functions["g_s"].Coeff["c0"], w.Gs.C0, 0.05); !warns(f.Findings, params.ManyLeftOut, "20%") {
		t.Errorf("findings %v", f.Findings)
	}
}

func TestGatherNotSaturated(t *testing.T) {
	w := small()
	w.Gr = params.Cost{C0: w.Gs.C0 / 20, C1: w.Gs.C1 / 20}
	f := mustFit(t, cluster.Gather, w.Dataset())
	p := f.Parameters["g_r"]
	if _, there := f.Functions["g_r"]; there || p.Status != params.StatusUnidentifiable || p.Bound[1] < w.Gr.Of(1448) ||
		p.Bound[1] > w.Gs.Of(1448)/2 {
		t.Errorf("g_r of an idle root: %+v", p)
	}
	w = small()
	w.Hosts = 2
	if p := mustFit(t, cluster.Gather, w.Dataset()).Parameters["g_r"]; p.Status != params.StatusUnidentifiable {
		t.Errorf("g_r of one sender: %+v", p)
	}
}

func TestGatherLossy(t *testing.T) {
	w := small()
	d := edit(w.Dataset(), "gather", names.PhaseArrivals, func(s *dataset.Sample) {
		if s.Point["senders"] > 1 {
			s.Flags = []string{dataset.FlagRetrans}
			s.TCP.Retrans = 200
			s.TCP.DataSegsOut += 200
		}
	})
	f := mustFit(t, cluster.Gather, d)
	if c1 := f.Functions["g_r"].Coeff["c1"]; !warns(f.Findings, "lossy-streams", "with losses") ||
		math.Abs(c1/w.Gr.C1-1) > 0.05 {
		t.Errorf("g_r from streams with losses: c1 %g, findings %v", c1, f.Findings)
	}
}

func TestGatherNotes(t *testing.T) {
	w := small()
	w.Noise = 0
	d := edit(w.Dataset(), "gather", names.PhaseGather, func(s *dataset.Sample) {
		if s.Point["window"] == s.Point["senders"] && s.Point["bytes"] == 1<<20 {
			s.TCP.Retrans = 12 * int64(len(s.NS))
			s.Flags = []string{dataset.FlagRetrans}
		}
	})
	f := mustFit(t, cluster.Gather, d)
	if !notes(f.Findings, "gather-times", "gather, 3 senders, 1MiB each: uncoordinated") ||
		!notes(f.Findings, "gather-times", "(lost segments: 12), window ") {
		t.Errorf("findings %v", f.Findings)
	}
	if !notes(f.Findings, "g-r-senders", "g_r is the interval of 1, 2, 3 senders at") {
		t.Errorf("findings %v", f.Findings)
	}
}

func TestLimitNotReached(t *testing.T) {
	w := small()
	w.L.N = 200e6 / 40
	f := mustFit(t, cluster.Transfer, w.Dataset())
	p := f.Parameters["N"]
	if f.Functions["L_cluster"].Form != params.Bilinear || p.Status != params.StatusUnidentifiable || p.Bound[0] <= 0 ||
		p.Bound[0] > w.L.N {
		t.Errorf("N out of reach: %+v, form %q", p, f.Functions["L_cluster"].Form)
	}
	if !warns(f.Findings, "aggregate-limit-not-reached", "aggregate limit N of the network was not reached") {
		t.Errorf("findings %v", f.Findings)
	}
	w.Hosts = 2
	if f = mustFit(t, cluster.Transfer, w.Dataset()); !warns(f.Findings, "one-load", "l1 is not separable from l0") {
		t.Errorf("two hosts: findings %v", f.Findings)
	}
	d := w.Dataset()
	d.Samples = slices.DeleteFunc(d.Samples, func(s dataset.Sample) bool { return s.Exp == "gap" || s.Exp == "pingpong" })
	f = mustFit(t, cluster.Transfer, d)
	if !warns(f.Findings, "g-s-unknown", "g_s is not known") ||
		!notes(f.Findings, "gathers-unchecked", "not compared with eq. 8") {
		t.Errorf("without gap and pingpong: findings %v", f.Findings)
	}
}

func TestClusterNeeds(t *testing.T) {
	w := small()
	d := w.Dataset()
	d.Samples = slices.DeleteFunc(d.Samples, func(s dataset.Sample) bool { return s.Point["bytes"] != 1 })
	for _, m := range allModels() {
		if _, err := m.Fit(fit.Prepare(d, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) && m.Name != "cluster-gather" {
			t.Errorf("%s of one size: %v", m.Name, err)
		}
	}
}

// What a host's CPU did in a round is in O_s and U_r alike, and L is less by both. Predictions draw them together: the
// time of a message is that of load, whose rounds hardly differ. Drawn one by one, they leave it open by far more.
func TestClusterDrawnTogether(t *testing.T) {
	w := tableOne(40)
	w.L.N, w.Noise, w.Slack, w.Pingpong, w.Gathers = 0, 1e-3, 1e-6, false, false
	d := w.Dataset()
	for _, s := range d.Samples {
		if s.Exp == names.Overhead && (s.Phase == names.PhaseSend || s.Phase == names.PhaseRecv) {
			for i, v := range s.NS {
				s.NS[i] = int64(float64(v) * (1 + 0.1*float64(s.Round%3-1)))
			}
		}
	}
	p, errs := fit.Run([]fit.Model{cluster.Overhead, cluster.Gap, cluster.Transfer}, d, fit.Settings{Replicates: 200})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if r := p.Correlation("O_s.c0", "U_r.c0"); r < 0.8 {
		t.Errorf("O_s and U_r are correlated by %g", r)
	}
	if r := p.Correlation("L_cluster.l0", "O_s.c0"); r > -0.8 {
		t.Errorf("L and O_s are correlated by %g", r)
	}
	one, _ := pattern.Find("p2p", "direct")
	width := func() float64 {
		q, err := predict.New(p, []string{predict.Cluster})
		if err != nil {
			t.Fatal(err)
		}
		v := q.Predict(predict.Query{Pattern: one, Hosts: 2, Bytes: 1})[0]
		if v.CI95 == nil {
			t.Fatalf("%+v", v)
		}
		return v.CI95[1] - v.CI95[0]
	}
	together := width()
	p.Correlations = nil
	if apart := width(); together > apart/2 {
		t.Errorf("drawn together the interval is %g s wide, one by one %g", together, apart)
	}
}
