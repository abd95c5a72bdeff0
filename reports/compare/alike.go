package compare

import (
	"fmt"
	"slices"
	"strings"

	"calib/internal/params"
	"calib/internal/stats"
)

// What may differ between the sides of a comparison (Options.Allow). A difference that is not allowed makes them not
// comparable: less was measured than before, or something else, and what is gone cannot have become worse.
const (
	AllowHosts       = "hosts"
	AllowLinks       = "links"
	AllowPlan        = "plan"
	AllowParameters  = "parameters"
	AllowEnvironment = "environment"
)

// Allowable lists what Options.Allow may have.
func Allowable() []string {
	return []string{AllowHosts, AllowLinks, AllowPlan, AllowParameters, AllowEnvironment}
}

// unlike is a way in which the sides differ, of a kind that may be allowed.
type unlike struct {
	kind, text string
	links      []string // that only the old runs have
}

// unlikes lists how the sides differ in what was measured. Environments are compared apart.
func unlikes(old, new []Run) []unlike {
	var out []unlike
	add := func(kind, format string, args ...any) {
		out = append(out, unlike{kind: kind, text: fmt.Sprintf(format, args...)})
	}
	was, is := most(old, Run.hosts), most(new, Run.hosts)
	gone, more := without(was, is), without(is, was)
	if len(gone) > 0 {
		add(AllowHosts, "only the old runs have %s", namesOf(gone))
	}
	if len(more) > 0 {
		add(AllowHosts, "only the new runs have %s", namesOf(more))
	}
	apart := append(gone, more...)
	var lost []string
	for _, l := range without(most(old, Run.links), most(new, Run.links)) {
		from, to, _ := strings.Cut(l, "→")
		if !slices.Contains(apart, from) && !slices.Contains(apart, to) {
			lost = append(lost, l)
		}
	}
	if len(lost) > 0 {
		out = append(out, unlike{AllowLinks, "only the old runs measured " + namesOf(lost), lost})
	}
	plan := func(r Run) []string { return []string{r.Plan} }
	if was, is := valuesIn(old, plan), valuesIn(new, plan); len(was) > 0 && len(is) > 0 && !slices.Equal(was, is) {
		add(AllowPlan, "the plan differs: it was %s, is %s", strings.Join(was, " or "), strings.Join(is, " or "))
	}
	models := func(r Run) []string { return r.Models }
	if gone := without(most(old, models), valuesIn(new, models)); len(gone) > 0 && len(valuesIn(new, models)) > 0 {
		add(AllowParameters, "only the old runs have parameters of %s", namesOf(gone))
	}
	return out
}

// most lists the values that at least half of the runs have.
func most(runs []Run, of func(Run) []string) []string {
	n := map[string]int{}
	for _, r := range runs {
		for _, v := range valuesIn([]Run{r}, of) {
			n[v]++
		}
	}
	return slices.DeleteFunc(valuesIn(runs, of), func(v string) bool { return 2*n[v] < len(runs) })
}

// links lists the links that a run has measured; none where it has drawn them, because other runs draw others.
func (r Run) links() []string {
	if r.Drawn {
		return nil
	}
	var out []string
	for _, m := range r.Metrics {
		if l := m.Link(); l != "" {
			out = append(out, l)
		}
	}
	return out
}

// quantities lists the parameters and functions that a run has, with a value or without.
func (r Run) quantities() []string {
	var out []string
	for name := range r.Status {
		out = append(out, name)
	}
	return out
}

// missing is the status of a parameter that a run does not have.
const missing = "missing"

// Lost is a parameter or a function that was of status ok, and is not any more.
type Lost struct {
	Name    string `json:"name"`
	OldOK   int    `json:"old_ok"` // runs in which it is ok, of OldRuns
	OldRuns int    `json:"old_runs"`
	NewOK   int    `json:"new_ok"`
	NewRuns int    `json:"new_runs"`
	Status  string `json:"status"` // in the new runs, the most frequent that is not ok; or "missing"
}

// lost lists what is ok in most of the old runs and not in most of the new ones, where chance does not explain it: it
// was ok in all of the old runs and is in none of the new ones, of three a side at least, or Fisher's exact test of the
// two shares (one-sided, corrected for the number of parameters by Bonferroni's method) says so at alpha.
func lost(old, new []Run, alpha float64) []Lost {
	var out []Lost
	all := valuesIn(old, Run.quantities)
	for _, name := range all {
		l := Lost{Name: name}
		count := func(runs []Run) (ok, n int, other string) {
			by := map[string]int{}
			for _, r := range runs {
				if r.Status == nil {
					continue
				}
				n++
				s, has := r.Status[name]
				if !has {
					s = missing
				}
				if s == params.StatusOK {
					ok++
				} else if by[s]++; other == "" || by[s] > by[other] {
					other = s
				}
			}
			return ok, n, other
		}
		l.OldOK, l.OldRuns, _ = count(old)
		l.NewOK, l.NewRuns, l.Status = count(new)
		if l.OldRuns == 0 || 2*l.OldOK < l.OldRuns || 2*l.NewOK >= l.NewRuns {
			continue
		}
		unanimous := l.OldOK == l.OldRuns && l.NewOK == 0 && min(l.OldRuns, l.NewRuns) >= leastTested
		if unanimous || stats.Fisher(l.NewOK, l.NewRuns, l.OldOK, l.OldRuns)*float64(len(all)) <= alpha {
			out = append(out, l)
		}
	}
	return out
}

// lose records what is no longer ok: status is of parameters and functions, values of what decides and has no value in
// the new runs. A gate notes what it does not decide by.
func (v *Verdict) lose(status, values []Lost, gate bool) {
	for _, l := range status {
		if gate && !(judges(l.Name) && 10*l.OldOK >= 9*l.OldRuns) {
			v.Notes = append(v.Notes, "no longer ok, which does not decide: "+l.String())
		} else {
			v.Lost = append(v.Lost, l)
		}
	}
	for _, l := range values {
		if base, _ := params.SplitSize(l.Name); !slices.ContainsFunc(v.Lost, func(s Lost) bool { return s.Name == base }) {
			v.Lost = append(v.Lost, l)
		}
	}
}

// String is "b (provisional, ok in 0 of 6 new runs and in 6 of 6 old ones)".
func (l Lost) String() string {
	return fmt.Sprintf("%s (%s; ok in %d of %d new runs and in %d of %d old ones)", l.Name, l.Status, l.NewOK, l.NewRuns, l.OldOK, l.OldRuns)
}
