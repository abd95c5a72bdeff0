package models

import (
	"testing"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// lossy is a dataset of ping-pongs of three hosts, of which the pair (0, 2) loses segments: one in a hundred, and whole
// batches with it.
func lossy(spoilt int) *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{Run: "r", Plan: "test",
		Hosts: []dataset.Host{{Name: "a"}, {Name: "b"}, {Name: "c"}}}}
	for round := range 8 {
		for _, pair := range [][]int{{0, 1}, {0, 2}, {1, 2}} {
			for k, bytes := range []int64{1, 700, 1400, 4000, 16000} {
				s := dataset.Sample{Exp: names.Pingpong, Point: dataset.Point{names.FactorBytes: bytes}, Ranks: pair, Round: round,
					TCP: &dataset.TCP{DataSegsOut: 500, DataSegsIn: 500, MSS: 1448}}
				for i := range 20 {
					s.NS = append(s.NS, 100_000+bytes*50+int64((i*7+round*13+k)%11)*100)
				}
				if pair[0] == 0 && pair[1] == 2 {
					s.TCP.Retrans = 10
				}
				if round < spoilt {
					s.Flags = []string{dataset.FlagRetrans}
				}
				d.Samples = append(d.Samples, s)
			}
		}
	}
	return d
}

// TestLossIsAResult: the share of segments sent again stands in the parameters, overall and for each pair, with its
// interval.
func TestLossIsAResult(t *testing.T) {
	p, errs := fit.Run(All, lossy(0), fit.Settings{Replicates: 50})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	const each = 8 * 5 * 1000 // segments of a pair
	if l := p.Loss; l == nil || l.Segments != 3*each || l.Again != 400 || l.Rate != 400./(3*each) || l.CI95[0] >= l.Rate ||
		l.CI95[1] <= l.Rate {
		t.Fatalf("loss %+v", p.Loss)
	}
	for _, q := range p.Pairs {
		want := int64(0)
		if q.From == "a" && q.To == "c" {
			want = 400
		}
		if q.Loss == nil || q.Loss.Again != want || q.Loss.Segments != each || want == 0 &&
			(q.Loss.CI95[0] != 0 || q.Loss.CI95[1] > 4./each) {
			t.Errorf("%s–%s: %+v", q.From, q.To, q.Loss)
		}
	}
	found := false
	for _, f := range p.Findings {
		found = found || f.Code == params.LostSegments && f.Level == params.Warning && f.Values["rate"] == p.Loss.Rate
	}
	if !found {
		t.Errorf("findings %+v", p.Findings)
	}
}

// TestLossIsTooMuch: where many timings are lost to retransmissions, or slots are missing, no number is ok.
func TestLossIsTooMuch(t *testing.T) {
	for name, c := range map[string]struct {
		spoilt  int
		missing float64
		ok      bool
	}{
		"none": {0, 0, true}, "a quarter": {2, 0, true}, "half": {4, 0, false}, "few slots missing": {0, 0.3, true},
		"most slots missing": {0, 0.8, false},
	} {
		p, errs := fit.Run(All, lossy(c.spoilt), fit.Settings{Replicates: 50, Missing: c.missing})
		if len(errs) > 0 {
			t.Fatal(name, errs)
		}
		oks := 0
		for _, q := range p.Parameters {
			if q.Status == params.StatusOK && q.CI95 != nil {
				oks++
			}
		}
		if (oks > 0) != c.ok || p.Run.Missing != c.missing ||
			(params.Discarded(p.Fits...) > params.MaxDiscarded) != (c.spoilt > 2) {
			t.Errorf("%s: %d parameters are ok, discarded %g, missing %g", name, oks, params.Discarded(p.Fits...), p.Run.Missing)
		}
	}
}
