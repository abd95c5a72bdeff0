package fit

import (
	"errors"
	"math"
	"slices"
	"testing"

	"calib/internal/dataset"
)

func mustFit(t *testing.T, m Model, d *dataset.Dataset) *Fit {
	t.Helper()
	f, err := m.Fit(d, Settings{Replicates: 60})
	if err != nil {
		t.Fatal(err)
	}
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
	w := hku2000(40)
	w.hosts, w.noise, w.rounds = 4, 0.01, 4
	return w
}

func TestOverheadOfReceptionHidden(t *testing.T) {
	w := small()
	w.Or, w.slack = Cost{C0: 1e-7}, 1e-3
	d := w.dataset()
	f := mustFit(t, HKUOverhead{}, d)
	p := f.Parameters["O_r"]
	if _, there := f.Functions["O_r"]; there || p.Status != StatusUnidentifiable || p.Bound[1] < w.Or.At(700) {
		t.Errorf("O_r within the noise: %+v", p)
	}
	l := mustFit(t, HKU{}, d)
	if !says(l.Notes, "O_r is not known") {
		t.Errorf("notes of L: %q", l.Notes)
	}
	c, err := ClusterOf(Collect(d, []*Fit{f, mustFit(t, HKUGap{}, d), l}))
	if err != nil || c.Or != (Cost{}) || c.Gr != c.Gs {
		t.Errorf("cluster %+v, %v", c, err)
	}
	d.Samples = slices.DeleteFunc(d.Samples, func(s dataset.Sample) bool { return s.Phase == phaseCompute })
	if p := mustFit(t, HKUOverhead{}, d).Parameters["O_r"]; !math.IsInf(p.Bound[1], 1) {
		t.Errorf("O_r without computations: %+v", p)
	}
}

func TestOverheadSays(t *testing.T) {
	w := small()
	w.noise = 0
	d := w.dataset()
	for i := range d.Header.Hosts {
		d.Header.Hosts[i].Boot = "one machine"
	}
	edit(d, "overhead", phaseSend, func(s *dataset.Sample) {
		if s.Point["bytes"] > 1448 {
			for i := range s.NS {
				s.NS[i] = s.NS[i]*3/2 - 15
			}
		}
	})
	f := mustFit(t, HKUOverhead{}, d)
	if !says(f.Warnings, "share a machine (h1–h2, h3–h4)") || !says(f.Notes, "the clock costs 3.1e-08 s") ||
		!says(f.Notes, "O_s is fitted up to one packet of 1448 bytes; above, the line is off by up to 33%") {
		t.Errorf("warnings %q, notes %q", f.Warnings, f.Notes)
	}
	if fn := f.Functions["O_s"]; fn.Domain["m"] != [2]float64{1, 1401} || math.Abs(fn.Coeff["c0"]/w.Os.C0-1) > 1e-6 {
		t.Errorf("O_s %+v", fn)
	}
}

func TestGapMerged(t *testing.T) {
	w := small()
	w.merged = func(m float64) float64 { // small messages cost by number, large ones by bytes
		if m <= 40 {
			return 10e-6
		}
		return 2e-6 + 60e-9*m
	}
	f := mustFit(t, HKUGap{}, w.dataset())
	fn := f.Functions["g_s_merged"]
	for _, m := range []float64{1, 40, 100, 1448} {
		v, err := fn.Eval(map[string]float64{"m": m, "x": m}, nil)
		if err != nil || math.Abs(v/w.merged(m)-1) > 0.03 {
			t.Errorf("g_s_merged(%g) = %g (%v), want %g; %+v", m, v, err, w.merged(m), fn)
		}
	}
	w.merged = func(m float64) float64 { return 1e-6 * math.Sqrt(m) }
	f = mustFit(t, HKUGap{}, w.dataset())
	if f.Functions["g_s_merged"].Form != SegmentsForm || !says(f.Notes, "lines over ranges of the size") {
		t.Errorf("a root as merged gap: %+v, notes %q", f.Functions["g_s_merged"], f.Notes)
	}
}

func TestGapNotOneASegment(t *testing.T) {
	w := small()
	merge := func(s *dataset.Sample) {
		if s.Point["merge"] == 0 && (s.Point["bytes"] == 20 || s.Round == 0) {
			s.TCP.DataSegsOut /= 3
		}
	}
	f := mustFit(t, HKUGap{}, edit(w.dataset(), "gap", "gap", merge))
	if !says(f.Warnings, "did not send one segment a message") || f.LeftOutWhy[whyMerged] == 0 ||
		slices.ContainsFunc(f.Residuals, func(r Residual) bool { return r.Series == "g_s(m)" && r.X == 20 }) {
		t.Errorf("warnings %q, left out %v", f.Warnings, f.LeftOutWhy)
	}
	all := func(s *dataset.Sample) { s.TCP.DataSegsOut = 5 }
	f = mustFit(t, HKUGap{}, edit(w.dataset(), "gap", "gap", all))
	if _, there := f.Functions["g_s"]; there || f.Parameters["g_s"].Status != StatusUnidentifiable || len(f.Functions) != 1 {
		t.Errorf("everything merged: %+v, %v", f.Parameters["g_s"], f.Functions)
	}
}

func TestGatherNotSaturated(t *testing.T) {
	w := small()
	w.Gr = Cost{C0: w.Gs.C0 / 20, C1: w.Gs.C1 / 20}
	f := mustFit(t, HKUGather{}, w.dataset())
	p := f.Parameters["g_r"]
	if _, there := f.Functions["g_r"]; there || p.Status != StatusUnidentifiable || p.Bound[1] < w.Gr.At(1448) || p.Bound[1] > w.Gs.At(1448)/2 {
		t.Errorf("g_r of an idle root: %+v", p)
	}
	w = small()
	w.hosts = 2
	if p := mustFit(t, HKUGather{}, w.dataset()).Parameters["g_r"]; p.Status != StatusUnidentifiable {
		t.Errorf("g_r of one sender: %+v", p)
	}
}

func TestGatherLossy(t *testing.T) {
	w := small()
	d := edit(w.dataset(), "gather", phaseArrivals, func(s *dataset.Sample) {
		if s.Point["senders"] > 1 {
			s.Flags = []string{dataset.FlagRetrans}
			s.TCP.Retrans = 200
			s.TCP.DataSegsOut += 200
		}
	})
	f := mustFit(t, HKUGather{}, d)
	if c1 := f.Functions["g_r"].Coeff["c1"]; !says(f.Warnings, "with losses") || math.Abs(c1/w.Gr.C1-1) > 0.05 {
		t.Errorf("g_r from streams with losses: c1 %g, warnings %q", c1, f.Warnings)
	}
}

func TestGatherNotes(t *testing.T) {
	w := small()
	w.noise = 0
	d := edit(w.dataset(), "gather", phaseGather, func(s *dataset.Sample) {
		if s.Point["window"] == s.Point["senders"] && s.Point["bytes"] == 1<<20 {
			s.TCP.Retrans = 12 * int64(len(s.NS))
			s.Flags = []string{dataset.FlagRetrans}
		}
	})
	f := mustFit(t, HKUGather{}, d)
	if !says(f.Notes, "gather, 3 senders, 1MiB each: uncoordinated") || !says(f.Notes, "(12 segments lost), window ") {
		t.Errorf("notes %q", f.Notes)
	}
	if !says(f.Notes, "g_r is the interval of 1, 2, 3 senders at") {
		t.Errorf("notes %q", f.Notes)
	}
}

func TestLimitNotReached(t *testing.T) {
	w := small()
	w.L.N = 200e6 / 40
	f := mustFit(t, HKU{}, w.dataset())
	p := f.Parameters["N"]
	if f.Functions["L"].Form != BilinearForm || p.Status != StatusUnidentifiable || p.Bound[0] <= 0 || p.Bound[0] > w.L.N {
		t.Errorf("N out of reach: %+v, form %q", p, f.Functions["L"].Form)
	}
	if !says(f.Warnings, "aggregate limit N of the network was not reached") {
		t.Errorf("warnings %q", f.Warnings)
	}
	w.hosts = 2
	if f = mustFit(t, HKU{}, w.dataset()); !says(f.Warnings, "l1 is not separable from l0") {
		t.Errorf("two hosts: warnings %q", f.Warnings)
	}
	d := w.dataset()
	d.Samples = slices.DeleteFunc(d.Samples, func(s dataset.Sample) bool { return s.Exp == "gap" || s.Exp == "pingpong" })
	f = mustFit(t, HKU{}, d)
	if !says(f.Warnings, "g_s is not known") || !says(f.Notes, "no ping-pong") || !says(f.Notes, "not held against eq. 8") {
		t.Errorf("without gap and pingpong: warnings %q, notes %q", f.Warnings, f.Notes)
	}
}

func TestIdentityWarns(t *testing.T) {
	w := small()
	d := edit(w.dataset(), "pingpong", "", func(s *dataset.Sample) {
		for i := range s.NS {
			s.NS[i] += s.NS[i] / 8
		}
	})
	f := mustFit(t, HKU{}, d)
	v := f.Parameters["identity_hku"]
	if !says(f.Warnings, "misses the round trip of ping-pong by") || math.Abs(*v.Value+1.0/9) > 0.01 {
		t.Errorf("identity %g, warnings %q", *v.Value, f.Warnings)
	}
}

func TestClusterNeeds(t *testing.T) {
	w := small()
	d := w.dataset()
	d.Samples = slices.DeleteFunc(d.Samples, func(s dataset.Sample) bool { return s.Point["bytes"] != 1 })
	for _, m := range hkuModels() {
		if _, err := m.Fit(d, Settings{}); !errors.Is(err, ErrNeeds) && m.Name() != "hku-gather" {
			t.Errorf("%s of one size: %v", m.Name(), err)
		}
	}
}
