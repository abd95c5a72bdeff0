package fit

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
)

// coefficients lists what a truth's functions must come out as.
func (w *clusterTruth) coefficients() map[string]map[string]float64 {
	line := func(c Cost) map[string]float64 {
		out := map[string]float64{"c0": c.C0, "c1": c.C1}
		if c.Floor > 0 {
			out["floor"] = c.Floor
		}
		return out
	}
	out := map[string]map[string]float64{
		"O_s": line(w.Os), "U_r": line(w.Ur), "O_r": line(w.Or), "g_s": line(w.Gs), "g_r": line(w.Gr),
		"L": {"l0": w.L.L0, "l1": w.L.L1, "tau": w.L.Tau},
	}
	if w.L.N > 0 {
		out["L"]["N"] = w.L.N
	}
	for name, c := range w.copies {
		out[name] = line(c)
	}
	return out
}

func hkuModels() []Model { return []Model{HKUOverhead{}, HKUGap{}, HKUGather{}, HKUCopy{}, HKU{}} }

// fitCluster fits the cluster models and collects their functions and parameters.
func fitCluster(t *testing.T, w *clusterTruth, replicates int, models ...Model) *Params {
	t.Helper()
	d := w.dataset()
	var fits []*Fit
	for _, m := range models {
		f, err := m.Fit(d, Settings{Replicates: replicates})
		if err != nil {
			t.Fatalf("%s: %v", m.Name(), err)
		}
		checkFit(t, m, f)
		fits = append(fits, f)
	}
	return Collect(d, fits)
}

func TestClusterExact(t *testing.T) {
	free := hku2000(4000)
	free.L.N = 0
	limited := hku2000(4000)
	for name, w := range map[string]*clusterTruth{"bilinear": &free, "aggregate limit": &limited} {
		p := fitCluster(t, w, 20, hkuModels()...)
		for fn, coeff := range w.coefficients() {
			got := p.Functions[fn]
			if len(got.Coeff) != len(coeff) {
				t.Errorf("%s: %s has form %q and coefficients %v, want %v", name, fn, got.Form, got.Coeff, coeff)
			}
			for c, want := range coeff {
				if v := got.Coeff[c]; math.Abs(v/want-1) > 1e-6 {
					t.Errorf("%s: %s.%s = %g, want %g (%.2g off)", name, fn, c, v, want, v/want-1)
				}
			}
		}
		if v := p.Parameters["identity_hku"]; v.Value == nil || math.Abs(*v.Value) > 1e-6 {
			t.Errorf("%s: identity %+v", name, v)
		}
		gathers := 0
		for _, f := range p.Fits {
			for _, r := range f.Residuals {
				if strings.HasPrefix(r.Series, "T_gather") {
					gathers++
				}
				if r.Series != "g_s_merged(m)" && math.Abs(r.Relative()) > 1e-5 {
					t.Errorf("%s: residual %+v", name, r)
				}
			}
		}
		if gathers < 28 {
			t.Errorf("%s: %d gathers", name, gathers)
		}
	}
}

// Intervals of coefficients must hold the truth in 34 of 40 runs at least, with 1% noise between batches and within them.
func TestClusterCoverage(t *testing.T) {
	const runs, want = 40, 34
	free, limited := hku2000(40), hku2000(40)
	free.L.N = 0
	for _, c := range []struct {
		w      clusterTruth
		models []Model
	}{{limited, hkuModels()}, {free, []Model{HKU{}}}} {
		hit, total := map[string]int{}, map[string]int{}
		w := c.w
		w.noise, w.slack, w.rounds, w.pingpong, w.gathers = 0.01, 20e-6, 5, false, false
		for seed := range uint64(runs) {
			w.seed = 300 + seed
			p := fitCluster(t, &w, 100, c.models...)
			for fn, coeff := range w.coefficients() {
				for name, truth := range coeff {
					if _, ok := p.Functions[fn]; !ok {
						continue
					}
					total[fn+"."+name]++
					if ci, ok := p.Functions[fn].CI95[name]; ok && ci[0] <= truth && truth <= ci[1] {
						hit[fn+"."+name]++
					}
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(total)) {
			t.Logf("N = %g: %s covered in %d of %d", w.L.N, name, hit[name], runs)
			if hit[name] < want {
				t.Errorf("N = %g: %s covered in %d of %d runs, want %d", w.L.N, name, hit[name], runs, want)
			}
		}
		if total["L.l0"] != runs || w.L.N > 0 && len(total) != 28 {
			t.Errorf("N = %g: coefficients %v", w.L.N, total)
		}
	}
}
