package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/internal/params"
)

// namesShown bounds the names that one part of the sentence on reliance lists.
const namesShown = 8

// reliance says in one sentence which parameters and functions may be relied on, and which not. What reading the clock
// costs is left out: it has a sentence of its own.
func reliance(p *params.Params) string {
	by := map[string][]string{}
	for _, q := range inOrder(p) {
		if q.Experiment != "clock" {
			by[q.Status] = append(by[q.Status], q.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Functions)) {
		status := cmp.Or(p.Functions[name].Status, params.StatusOK)
		by[status] = append(by[status], name+"()")
	}
	if len(by) == 0 {
		return ""
	}
	text := "Rely on no number of this run"
	if ok := by[params.StatusOK]; len(ok) > 0 {
		text = "Rely on " + listed(ok)
	}
	for _, s := range []struct{ status, words string }{
		{params.StatusProvisional, "take with care "}, {params.StatusInconsistent, "do not use "}, {params.StatusBound, "there is only a bound for "},
		{params.StatusUnidentifiable, "nothing is known of "},
	} {
		if names := by[s.status]; len(names) > 0 {
			text += "; " + s.words + listed(names)
		}
	}
	return Clean(text + ".")
}

// listed joins names, the first few of many.
func listed(names []string) string {
	if n := len(names) - namesShown; n > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesShown], ", "), n)
	}
	return strings.Join(names, ", ")
}

// whatFor says in one sentence which of the models of one message to use for what, of those that may be used.
func whatFor(p *params.Params) string {
	var parts []string
	if f, ok := p.Functions["T"]; ok && f.Usable() {
		d := f.Domain["bytes"]
		parts = append(parts, fmt.Sprintf("T(x) for the time of a message of %s to %s bytes", count(d[0]), count(d[1])))
	}
	has := func(name string) bool { return p.Parameters[name].Value != nil }
	if has("a_prime_limits") {
		parts = append(parts, "a_prime_limits for the shortest messages")
	}
	if has("b_prime_limits") {
		parts = append(parts, "b_prime_limits for each further byte of long ones")
	}
	if has("alpha") && has("beta") {
		misses := ""
		for _, f := range p.Fits {
			if f.Model == p.Parameters["alpha"].Model && f.Quality != nil {
				misses = fmt.Sprintf(", which misses T(x) by %s on average", Percent(f.Quality.MeanError))
			}
		}
		parts = append(parts, "alpha + beta·x where a formula of two numbers must do"+misses)
	}
	if len(parts) < 2 {
		return ""
	}
	return "Use " + strings.Join(parts, "; ") + "."
}
