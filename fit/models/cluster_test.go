package models

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"calib/fit"
	"calib/fit/cluster"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// coefficients lists what a truth's functions must come out as.
func coefficients(w *clusterTruth) map[string]map[string]float64 {
	line := func(c params.Cost) map[string]float64 {
		out := map[string]float64{"c0": c.C0, "c1": c.C1}
		if c.Floor > 0 {
			out["floor"] = c.Floor
		}
		return out
	}
	out := map[string]map[string]float64{
		"O_s": line(w.Os), "U_r": line(w.Ur), "O_r": line(w.Or), "g_s": line(w.Gs), "g_r": line(w.Gr),
		"L_cluster": {"l0": w.L.L0, "l1": w.L.L1, "tau": w.L.Tau},
	}
	if w.L.N > 0 {
		out["L_cluster"]["N"] = w.L.N
	}
	if w.L.Floor > 0 {
		out["L_cluster"]["floor"] = w.L.Floor
	}
	for name, c := range w.Copies {
		out[name] = line(c)
	}
	return out
}

// allModels are the models of the package.
func allModels() []fit.Model {
	return []fit.Model{cluster.Overhead, cluster.Gap, cluster.Gather, cluster.Copy, cluster.Transfer}
}

// fitCluster fits the cluster models and collects their functions and parameters.
func fitCluster(t *testing.T, w *clusterTruth, replicates int, models ...fit.Model) *params.Params {
	t.Helper()
	d := fit.Prepare(w.Dataset(), fit.Settings{Replicates: replicates})
	var fits []*params.Fit
	for _, m := range models {
		f, err := m.Fit(d)
		if err != nil {
			t.Fatalf("%s: %v", m.Name, err)
		}
		checkFit(t, m, f)
		fits = append(fits, f)
	}
	return fit.Collect(d, fits)
}

func TestClusterExact(t *testing.T) {
	free := tableOne(4000)
	free.L.N = 0
	limited := tableOne(4000)
	least, both := free, limited // a least frame, as the port of hku2000 has
	least.L.Floor = 1.1 * free.L.L0
	both.L.Floor = 1.1 * limited.L.L0
	for name, w := range map[string]*clusterTruth{
		"bilinear": &free, "aggregate limit": &limited, "floor": &least, "both": &both,
	} {
		p := fitCluster(t, w, 20, allModels()...)
		for fn, coeff := range coefficients(w) {
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
		if v, there := p.Parameters["identity_cluster"]; there {
			t.Errorf("%s: the costs that L was made of are added to it again, and held against its own round trip: %+v", name, v)
		}
		gathers := 0
		for _, f := range p.Fits {
			for _, s := range f.Series {
				if s.Quantity == params.GatherTime {
					gathers += len(s.Points)
				}
				for _, r := range s.Points {
					if s.Symbol != "g_s_merged" && math.Abs(r.Relative()) > 1e-5 {
						t.Errorf("%s: %s: point %+v", name, s.Name, r)
					}
				}
			}
		}
		if gathers < 28 {
			t.Errorf("%s: %d gathers", name, gathers)
		}
	}
}

// Without one of two sizes nothing is known of tau: then no error at sizes that the fit has not seen is stated.
func TestTransferLeavesSizesOut(t *testing.T) {
	w := tableOne(4000)
	for _, two := range []bool{false, true} {
		d := w.Dataset()
		d.Samples = slices.DeleteFunc(d.Samples, func(s dataset.Sample) bool {
			return two && s.Exp == names.Load && s.Point[names.FactorBytes] != 1 && s.Point[names.FactorBytes] != 1401
		})
		f, err := cluster.Transfer.Fit(fit.Prepare(d, fit.Settings{Replicates: 20}))
		if err != nil {
			t.Fatal(err)
		}
		if e := f.Quality.LeaveOneOut; two != (e == nil) || e != nil && *e > 1e-6 {
			t.Errorf("two sizes: %v, error %v", two, e)
		}
		if slices.ContainsFunc(f.Series, func(s params.Series) bool {
			return s.Quantity == params.TransferTime && s.Symbol != "L_cluster"
		}) {
			t.Error("L_cluster is not judged by its own points")
		}
	}
}

// Intervals of coefficients must hold the truth in 34 of 40 runs at least, with 1% noise between batches and within
// them.
func TestClusterCoverage(t *testing.T) {
	const runs, want = 40, 34
	free, limited := tableOne(40), tableOne(40)
	free.L.N = 0
	for _, c := range []struct {
		w      clusterTruth
		models []fit.Model
	}{{limited, allModels()}, {free, []fit.Model{cluster.Transfer}}} {
		hit, total := map[string]int{}, map[string]int{}
		w := c.w
		w.Noise, w.Slack, w.Rounds, w.Pingpong, w.Gathers = 0.01, 20e-6, 5, false, false
		for seed := range uint64(runs) {
			w.Seed = 300 + seed
			p := fitCluster(t, &w, 100, c.models...)
			for fn, coeff := range coefficients(&w) {
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
		if total["L_cluster.l0"] != runs || w.L.N > 0 && len(total) != 28 {
			t.Errorf("N = %g: coefficients %v", w.L.N, total)
		}
	}
}

func TestClusterOf(t *testing.T) {
	w := tableOne(4000)
	p := fitCluster(t, &w, 10, allModels()...)
	c, err := cluster.Of(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []float64{1, 100, 1448} {
		for what, v := range map[string][2]float64{
			"O_s": {c.Os.Of(m), w.Os.Of(m)}, "g_s": {c.Gs.Of(m), w.Gs.Of(m)}, "g_r": {c.Gr.Of(m), w.Gr.Of(m)},
			"O_r": {c.Or.Of(m), w.Or.Of(m)}, "U_r": {c.Ur.Of(m), w.Ur.Of(m)}, "L_cluster": {c.L.At(m, 8), w.L.At(m, 8)},
		} {
			if math.Abs(v[0]/v[1]-1) > 1e-6 {
				t.Errorf("%s(%g) = %g, want %g", what, m, v[0], v[1])
			}
		}
	}
	if c.MTU != 1448 || !math.IsInf(c.BL, 1) {
		t.Errorf("MTU %g, B_L %g", c.MTU, c.BL)
	}
	p.Parameters["B_L"] = params.Parameter{Status: params.StatusBound, Bound: &params.Bound{64, math.Inf(1)}}
	if c, err = cluster.Of(p); err != nil || c.BL != 64 {
		t.Errorf("B_L %g of a bound: %v", c.BL, err)
	}
	p.Parameters["B_L"] = params.Parameter{Status: params.StatusOK, Value: ptr(1935)}
	if c, err = cluster.Of(p); err != nil || c.BL != 1935 {
		t.Errorf("B_L %g: %v", c.BL, err)
	}
	odd := p.Functions["O_s"]
	odd.Form = params.Pieces
	p.Functions["O_s"] = odd
	if _, err = cluster.Of(p); !errors.Is(err, params.ErrForm) {
		t.Errorf("O_s of another form: %v", err)
	}
	p.Functions["O_s"] = p.Functions["U_r"]
	withheld := p.Functions["g_s"]
	withheld.Status = params.StatusInconsistent
	p.Functions["g_s"] = withheld
	if _, err = cluster.Of(p); !errors.Is(err, fit.ErrNeeds) || !strings.Contains(err.Error(), "g_s is withheld") {
		t.Errorf("g_s is withheld: %v", err)
	}
	delete(p.Functions, "g_s")
	delete(p.Functions, "L_cluster")
	_, err = cluster.Of(p)
	if !errors.Is(err, fit.ErrNeeds) ||
		!strings.Contains(err.Error(), "g_s is missing; L_cluster is missing; measure with ") {
		t.Errorf("without g_s and L_cluster: %v", err)
	}
}

// A floor must not be found in a line, nor be missed where it is deep.
func TestFloorShows(t *testing.T) {
	for _, c := range []struct {
		floor float64
		want  bool
	}{{0, false}, {3.027e-6 * 40 * 1.03, false}, {6.73e-6 * 40, true}} {
		found := 0
		for seed := range uint64(20) {
			w := small()
			w.Noise, w.Hosts, w.Seed, w.Gs.Floor = 0.01, 2, seed, c.floor
			if f := mustFit(t, cluster.Gap, w.Dataset()); f.Functions["g_s"].Form == params.Floored {
				found++
			}
		}
		if c.want && found != 20 || !c.want && found > 1 {
			t.Errorf("floor %g: found in %d of 20 runs", c.floor, found)
		}
	}
}

func ptr(v float64) *float64 { return &v }
