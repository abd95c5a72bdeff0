package compare

import (
	"slices"
	"strings"
	"testing"
	"time"

	"calib/params"
)

// edited are runs, each after a change.
func edited(runs []Run, change func(i int, r *Run)) []Run {
	for i := range runs {
		change(i, &runs[i])
	}
	return runs
}

// withStatus gives runs the status of their parameters.
func withStatus(runs []Run, status func(i int) string) []Run {
	return edited(runs, func(i int, r *Run) {
		r.Status = map[string]string{"a": status(i), "b": params.StatusOK, "f_best": params.StatusOK}
	})
}

func ok(int) string { return params.StatusOK }

// Runs that measured less than the old ones, or something else, are not found to be as good. What may differ is said by
// kind; the rest is then compared.
func TestNotAlike(t *testing.T) {
	fresh := func(seed uint64, hosts int) []Run { return withStatus(cluster(seed, hosts, 10, 0.01, nil), ok) }
	unlinked := func(runs []Run) []Run {
		return edited(runs, func(_ int, r *Run) {
			r.Metrics = slices.DeleteFunc(r.Metrics, func(m params.Metric) bool { return m.Link() == "n00→n01" })
		})
	}
	for _, c := range []struct {
		what     string
		old, new []Run
		allow    string
		why      string
	}{
		{"a host is missing", fresh(1, 6), fresh(2, 5), AllowHosts,
			"only the old runs have n05 (to compare anyway: --allow hosts"},
		{"hosts were added", fresh(1, 4), fresh(2, 6), AllowHosts,
			"only the new runs have n04, n05 (to compare anyway: --allow hosts"},
		{"half of the hosts are missing", fresh(1, 8), fresh(2, 4), AllowHosts, "only the old runs have n04, n05, n06, n07 " +
			"(to compare anyway: --allow hosts"},
		{"most runs lack a host", fresh(1, 6), append(fresh(2, 6)[:2], fresh(3, 5)[:8]...), AllowHosts,
			"only the old runs have n05 (to compare anyway: --allow hosts"},
		{"a link is missing", fresh(1, 6), unlinked(fresh(2, 6)), AllowLinks,
			"only the old runs measured n00→n01 (to compare anyway: --allow links"},
		{"another plan", fresh(1, 6), edited(fresh(2, 6), func(_ int, r *Run) { r.Plan = "quick" }), AllowPlan,
			"the plan differs: it was standard, is quick (to compare anyway: --allow plan"},
		{"a model is missing", fresh(1, 6), edited(fresh(2, 6), func(_ int, r *Run) { r.Models = []string{"loggp"} }),
			AllowParameters,
			"only the old runs have parameters of hockney (to compare anyway: --allow parameters"},
	} {
		v := Compare(c.old, c.new, Options{})
		if v.Outcome != NotComparable || len(v.Why) == 0 || !strings.HasPrefix(v.Why[0], c.why) {
			t.Errorf("%s: %s %q", c.what, v.Outcome, v.Why)
		}
		v = Compare(c.old, c.new, Options{Allow: []string{c.allow}})
		named, _, _ := strings.Cut(c.why, " (")
		if v.Outcome != OK || !slices.Contains(v.Notes, named) {
			t.Errorf("%s, allowed: %s %q, notes %q", c.what, v.Outcome, v.Why, v.Notes)
		}
		network := slices.ContainsFunc(v.Network, func(c Change) bool { return c.Name == "a" })
		if network == (c.allow == AllowHosts) {
			t.Errorf("%s: parameters of the network compared: %v", c.what, network)
		}
	}
	if v := Compare(fresh(1, 6), withStatus(append(cluster(2, 6, 9, 0.01, nil), cluster(3, 5, 1, 0.01, nil)...), ok),
		Options{}); v.Outcome != OK {
		t.Errorf("one run of ten lost a host: %s %q", v.Outcome, v.Why)
	}
	drawn := edited(unlinked(fresh(2, 6)), func(_ int, r *Run) { r.Drawn = true })
	for _, old := range [][]Run{fresh(1, 6), edited(fresh(1, 6), func(_ int, r *Run) { r.Drawn = true })} {
		if v := Compare(old, drawn, Options{}); v.Outcome != OK {
			t.Errorf("runs that draw their pairs: %s %q", v.Outcome, v.Why)
		}
	}
}

// A parameter that was ok and is not now is a finding of its own, and no pass. One whose status comes and goes is none.
func TestNoLongerOK(t *testing.T) {
	old := withStatus(cluster(1, 3, 6, 0.01, nil), ok)
	fresh := func(status func(i int) string) []Run { return withStatus(cluster(2, 3, 6, 0.01, nil), status) }
	bad := func(int) string { return params.StatusInconsistent }
	v := Compare(old, fresh(bad), Options{})
	want := "network: no longer ok: a (inconsistent; ok in 0 of 6 new runs and in 6 of 6 old ones)"
	if v.Outcome != Inconclusive || len(v.Findings) == 0 || v.Findings[0].Kind != NoLongerOK ||
		v.Findings[0].Text != want {
		t.Errorf("%s %+v", v.Outcome, v.Findings)
	}
	if v = Compare(old, fresh(bad), Options{Allow: []string{AllowParameters}}); v.Outcome != OK || len(v.Lost) != 1 {
		t.Errorf("allowed: %s %q", v.Outcome, v.Why)
	}
	v = Compare(old, edited(fresh(ok), func(_ int, r *Run) { delete(r.Status, "a") }), Options{})
	if v.Outcome != Inconclusive || len(v.Lost) != 1 || v.Lost[0].Status != missing {
		t.Errorf("missing: %s %+v", v.Outcome, v.Lost)
	}
	flaps := func(i int) string { return []string{params.StatusOK, params.StatusProvisional}[i%2] }
	if v = Compare(withStatus(cluster(1, 3, 6, 0.01, nil), flaps), fresh(flaps), Options{}); v.Outcome != OK ||
		len(v.Lost) > 0 {
		t.Errorf("a status that comes and goes: %s %q", v.Outcome, v.Why)
	}
}

// A change of a quantity near zero is given as a difference.
func TestNearZero(t *testing.T) {
	zero := func(seed uint64, by float64) []Run {
		return edited(cluster(seed, 3, 6, 0.01, nil), func(i int, r *Run) {
			r.Metrics = append(r.Metrics, params.Metric{Name: "a_c", Unit: "s", Label: "contention", Better: params.BetterLower,
				Value: by + 2e-6*float64(1+(i*7+int(seed))%5)})
		})
	}
	v := Compare(zero(1, -5e-6), zero(2, 20e-6), Options{})
	i := slices.IndexFunc(v.Network, func(c Change) bool { return c.Name == "a_c" })
	if c := v.Network[i]; c.Ratio != nil || c.RatioCI != nil || c.DifferenceCI == nil || c.State != Regression ||
		!strings.HasPrefix(changed(c), "+") || !strings.HasSuffix(changed(c), " µs") {
		t.Errorf("%+v, shown as %s %s", c, changed(c), changedCI(c))
	}
	// Positive in every run, but hardly known: 1 to 9 µs.
	v = Compare(zero(1, -1e-6), zero(2, -1e-6), Options{})
	i = slices.IndexFunc(v.Network, func(c Change) bool { return c.Name == "a_c" })
	if c := v.Network[i]; c.Ratio != nil {
		t.Errorf("a ratio of %g of a median that is not known to half of it", *c.Ratio)
	}
}

// Six runs against six find what is beyond doubt, however many sizes say the same.
func TestBeyondDoubt(t *testing.T) {
	sizes := func(seed uint64, worse float64) []Run {
		return edited(cluster(seed, 3, 6, 0.01, nil), func(i int, r *Run) {
			for k := range 40 {
				f := 1 + 0.003*float64((i*(k+3)+int(seed))%7)
				if k < 18 {
					f *= worse
				}
				r.Metrics = append(r.Metrics, params.Metric{Name: "T." + string(rune('a'+k)), Unit: "s", Better: params.BetterLower,
					Value: 1e-3 * f})
			}
		})
	}
	v := Compare(sizes(1, 1), sizes(2, 1.56), Options{})
	if v.Outcome != Regression || len(v.Findings) == 0 || len(v.Findings[0].Changes) != 18 {
		t.Errorf("%s %q", v.Outcome, v.Why)
	}
}

// The runs that are said to be needed are enough: with them, runs of the same network are found to be ok.
func TestNeededIsEnough(t *testing.T) {
	open, n := 0, 100
	for seed := range uint64(n) {
		runs := func(k, n int) []Run { return cluster(3*seed+uint64(k), 4, n, 0.01, nil) }
		few := Compare(runs(1, 2), runs(2, 1), Options{})
		if few.Outcome != Inconclusive {
			continue
		}
		if few.More == nil {
			t.Fatalf("seed %d: %q needs nothing", seed, few.Why)
		}
		if v := Compare(runs(1, 2+few.More.Old), runs(2, 1+few.More.New), Options{}); v.Outcome == Inconclusive {
			open++
		}
	}
	if open > n/20 {
		t.Errorf("with the runs that were needed, %d of %d comparisons are inconclusive", open, n)
	}
}

// A run that had the rounds for all pairs has drawn none: what it lacks is a dead link, and that alone.
func TestDrawn(t *testing.T) {
	for _, c := range []struct {
		rounds, pairs int
		groups        *params.Groups
		drawn         bool
	}{{5, 15, nil, false}, {5, 14, nil, false}, {4, 12, nil, true}, {30, 9, nil, false}, {9, 14, &params.Groups{}, true}} {
		p := &params.Params{Groups: c.groups, Run: params.Run{Hosts: []string{"a", "b", "c", "d", "e", "f"},
			Sampled: map[string]params.Sampled{"pingpong": {Rounds: c.rounds, Hosts: 6, Pairs: c.pairs, Of: 15}}}}
		if r := FromParams(p, time.Time{}); r.Drawn != c.drawn {
			t.Errorf("%+v: drawn %t", c, r.Drawn)
		}
	}
}

// o_s is a parameter, and a function of the size: each has a status of its own.
func TestLostOfOneName(t *testing.T) {
	v := 1e-5
	made := func(status string) []Run {
		q := params.Parameter{Value: &v, Unit: "s", Status: status}
		if status != params.StatusOK {
			q.Value = nil
		}
		p := &params.Params{Parameters: map[string]params.Parameter{"o_s": q},
			Functions: map[string]params.Function{"o_s": {Status: params.StatusOK}}}
		r := FromParams(p, time.Time{})
		return []Run{r, r, r, r}
	}
	got := lost(made(params.StatusOK), made(params.StatusInconsistent))
	if len(got) != 1 || got[0].Name != "o_s" || got[0].Status != params.StatusInconsistent {
		t.Errorf("lost %+v, want o_s", got)
	}
}
