package compare

import (
	"slices"
	"testing"

	"calib/params"
)

func TestThresholds(t *testing.T) {
	param := func(by float64) func(string, string, string) float64 {
		return func(name, _, _ string) float64 { return map[bool]float64{true: by, false: 1}[name == "a"] }
	}
	old := cluster(1, 2, 12, 0.002, nil)
	noisy := Noise(cluster(9, 2, 10, 0.1, nil))
	for name, c := range map[string]struct {
		by   float64
		o    Options
		want string
	}{
		"below relative": {1.04, Options{}, OK},
		"above relative": {1.06, Options{}, Regression},
		"lower relative": {1.04, Options{Relative: 0.03}, Regression},
		"no relative":    {1.02, Options{Relative: -1}, Regression},
		"below absolute": {1.06, Options{Absolute: map[string]float64{"s": 2e-6}}, OK},
		"of other unit":  {1.06, Options{Absolute: map[string]float64{"B": 2e-6}}, Regression},
		"below noise":    {1.10, Options{Noise: noisy}, OK},
		"above noise":    {2, Options{Noise: noisy}, Regression},
	} {
		if v := Compare(old, cluster(2, 2, 12, 0.002, param(c.by)), c.o); v.Outcome != c.want {
			t.Errorf("%s: %s, want %s: %q", name, v.Outcome, c.want, texts(v))
		}
	}
}

func TestEnvironments(t *testing.T) {
	with := func(runs []Run, fact, value string, hosts ...string) []Run {
		for _, r := range runs {
			for h, e := range r.Environment {
				if len(hosts) == 0 || slices.Contains(hosts, h) {
					e[fact] = value
				}
			}
		}
		return runs
	}
	fresh := func(seed uint64) []Run { return cluster(seed, 4, 10, 0.01, nil) }
	v := Compare(fresh(1), with(fresh(2), "kernel", "6.8", "n01", "n02"), Options{})
	if v.Outcome != NotComparable || len(v.Why) != 1 || v.Why[0] != "the environment differs: kernel was 6.1, is 6.8 on "+
		"n01, n02 (to compare anyway: --allow environment)" {
		t.Errorf("%s %q", v.Outcome, v.Why)
	}
	if len(v.Network) == 0 {
		t.Error("the numbers are not shown")
	}
	v = Compare(fresh(1), with(fresh(2), "kernel", "6.8"), Options{Allow: []string{AllowEnvironment}})
	if v.Outcome != OK || len(v.Environment) != 1 || !v.Environment[0].Counts {
		t.Errorf("allowed: %s %+v", v.Outcome, v.Environment)
	}
	for fact, says := range map[string]string{"calib.version": "not a fact of the network",
		"nic.driver": "not known before"} {
		if v = Compare(fresh(1), with(fresh(2), fact, "v2"), Options{}); v.Outcome != OK || len(v.Environment) != 1 ||
			v.Environment[0].Counts {
			t.Errorf("%s, %s: %s %+v", fact, says, v.Outcome, v.Environment)
		}
	}
	adaptive := func(runs []Run, usecs string) []Run {
		return with(with(runs, "nic.coalesce.adaptive_rx", "1"), "nic.coalesce.rx_usecs", usecs)
	}
	if v = Compare(adaptive(fresh(1), "8"), adaptive(fresh(2), "64"), Options{}); v.Outcome != OK {
		t.Errorf("adaptive coalescing: %s %q", v.Outcome, v.Why)
	}
	// One of two old kernels is known.
	if v = Compare(append(fresh(1), with(fresh(3), "kernel", "6.8")...), with(fresh(2), "kernel", "6.8"),
		Options{}); v.Outcome != OK {
		t.Errorf("a known kernel: %s %q", v.Outcome, v.Why)
	}
}

func TestNothingInCommon(t *testing.T) {
	other := cluster(2, 3, 10, 0.01, nil)
	for i := range other {
		other[i].Environment = map[string]map[string]string{"x": {}}
	}
	if v := Compare(cluster(1, 3, 10, 0.01, nil), other, Options{}); v.Outcome != NotComparable ||
		v.Why[0] != "the runs have no host in common" {
		t.Errorf("%s %q", v.Outcome, v.Why)
	}
	changed := cluster(2, 3, 10, 0.01, nil)
	for i := range changed {
		changed[i].Versions, changed[i].Models = []string{"v2"}, []string{"loggp"}
	}
	v := Compare(cluster(1, 3, 10, 0.01, nil), changed, Options{})
	want := []string{"the version of calib differs: it was v1.0.0, is v2", "fitted to the new runs only: loggp"}
	if len(v.Notes) < len(want) || !slices.Equal(v.Notes[:len(want)], want) {
		t.Errorf("%q", v.Notes)
	}
	for i := range changed {
		changed[i].Metrics = []params.Metric{{Name: "new", Unit: "s", Value: 1}}
	}
	if v = Compare(cluster(1, 3, 10, 0.01, nil), changed, Options{}); v.Outcome != NotComparable {
		t.Errorf("nothing in common: %s", v.Outcome)
	}
}
