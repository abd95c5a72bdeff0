package run

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/fit/models"
	"calib/internal/dataset/names"
)

// measuredByAll are the experiments that some model needs.
var measuredByAll = func() (out []string) {
	for _, m := range models.All {
		out = append(out, m.Needs...)
	}
	return out
}()

func TestParseTargets(t *testing.T) {
	got, err := ParseTargets("a_c=2%, b_c = 0.01", measuredByAll)
	if want := (Targets{"a_c": 0.02, "b_c": 0.01}); err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if s := written(got); s != "a_c=2%,b_c=1%" {
		t.Errorf("printed %q", s)
	}
	for text, want := range map[string]string{
		"":             `target "": want PARAMETER=SHARE, such as a_c=2%`,
		"a_c":          `target "a_c": want PARAMETER=SHARE`,
		"a=2%,,b_c=1%": `target "": want PARAMETER=SHARE`,
		"a_d=2%":       `target "a_d=2%": "a_d" is no parameter to aim at (have B_L, G, L, O_r, `,
		"a=2%,a=1%":    `target "a=1%": a has a target already`,
		"a=two":        `target "a=two": "two" is no half-width: want a share above 0% and below 100%, such as 2% or 0.02`,
		"a=0%":         `"0%" is no half-width`,
		"a=-1%":        `"-1%" is no half-width`,
		"a=100%":       `"100%" is no half-width`,
		"a=2":          `"2" is no half-width`,
		"a=NaN":        `"NaN" is no half-width`,
		"a=Inf%":       `"Inf%" is no half-width`,
		"a=2%%":        `"2%%" is no half-width`,
		"a=1%;b_c=1%":  `"1%;b_c=1%" is no half-width`,
		"a=1 percent":  `"1 percent" is no half-width`,
	} {
		if got, err := ParseTargets(text, measuredByAll); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want an error that says %s", text, got, err, want)
		}
	}
}

func FuzzParseTargets(f *testing.F) {
	for _, s := range []string{"a_c=2%,b_c=1%", "a=0.02", "", "a=", "=2%", "a=1e-3%", "a=2%,a=2%", "G=NaN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTargets(s, measuredByAll)
		if err != nil {
			if got != nil {
				t.Errorf("%q: an error and targets %v", s, got)
			}
			return
		}
		again, err := ParseTargets(written(got), measuredByAll)
		for name, v := range got {
			if len(needs(name)) == 0 || !(v > 0 && v < 1) {
				t.Errorf("%q: target %s=%g", s, name, v)
			}
			if v > 1e-9 && v < 0.999 && (err != nil || math.Abs(again[name]/v-1) > 1e-9) {
				t.Errorf("%q: %v is read back as %v, %v", s, got, again, err)
				return
			}
		}
	})
}

func TestDefaultTargets(t *testing.T) {
	for _, c := range []struct {
		experiments []string
		hosts       int
		width       float64
		want        string
	}{
		{[]string{names.Clock, names.Pingpong, names.Paired}, 8, 0, "a=2%,a_c=2%,alpha=2%,b=2%,b_c=2%,p99=10%"},
		{[]string{names.Clock, names.Pingpong, names.Paired}, 2, 0.01, "a_prime=1%,alpha=1%,b_prime=1%,p99=1%"},
		{[]string{names.PRTT, names.Gap}, 8, 0, "G=3%,L=3%,g=3%,g_s=3%,o_s=5%"},
		{[]string{names.PRTT, names.Overhead}, 8, 0, "G=3%,L=3%,O_s=5%,g=3%"},
		{[]string{names.Gather, names.Gap}, 3, 0, "g_r=3%,g_s=3%"},
		{[]string{names.Gather, names.Gap}, 2, 0, "g_s=3%"},
		{nil, 8, 0, ""},
	} {
		if got := written(defaultTargets(c.experiments, c.hosts, c.width)); got != c.want {
			t.Errorf("%v: got %q, want %q", c.experiments, got, c.want)
		}
	}
}

func TestCheckTargets(t *testing.T) {
	const targets = "a=2%,O_s=5%"
	if _, err := ParseTargets(targets, []string{names.Paired, names.Load, names.Overhead}); err != nil {
		t.Error(err)
	}
	_, err := ParseTargets(targets, []string{names.Paired, names.Load})
	if want := "target O_s: it is read from experiment overhead, which the plan does not measure"; err == nil ||
		!strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Every number is of a model that there is, which needs an experiment, and none is listed twice.
func TestNumbers(t *testing.T) {
	seen := map[string]bool{}
	for model, given := range numbers {
		for _, name := range given {
			if seen[name] || len(needs(name)) == 0 {
				t.Errorf("%s of %s: listed before: %t; read from %v", name, model, seen[name], needs(name))
			}
			seen[name] = true
		}
	}
	for name := range defaults {
		if !seen[name] {
			t.Errorf("default target %s is no number", name)
		}
	}
}

// written are targets as ParseTargets reads them, sorted by name.
func written(t Targets) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		out = append(out, name+"="+strconv.FormatFloat(100*t[name], 'g', 12, 64)+"%")
	}
	return strings.Join(out, ",")
}
