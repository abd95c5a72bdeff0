package compare

import (
	"embed"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
)

//go:embed templates
var templates embed.FS

// Text writes v for a terminal: verdict, findings with their evidence, every parameter of the network, notes.
func Text(w io.Writer, v *Verdict) error { return render(w, "verdict.txt", v) }

func Markdown(w io.Writer, v *Verdict) error { return render(w, "verdict.md", v) }

func render(w io.Writer, name string, data any) error {
	return reports.Render(w, templates, name, template.FuncMap{
		"cell": cell, "names": namesOf, "headline": headline, "row": row, "nameIn": Change.nameIn, "changed": changed,
		"plural":    func(runs []string, what string) string { return units.Plural(len(runs), what) },
		"changedCI": changedCI, "threshold": threshold, "p": pValue, "shown": Finding.shown, "left": Finding.left,
	}, data)
}

func headline(v *Verdict) string {
	switch v.Outcome {
	case OK:
		return fmt.Sprintf("ok: no regression above %s or the noise", reports.Percent(v.Relative))
	case Regression:
		return "regression: " + units.Plural(len(v.Why), "finding") // each is one reason
	}
	return v.Outcome + ": " + strings.Join(v.Why, "; ")
}

// row is a change on one line, with its evidence, in a list of the given scope.
func row(c Change, scope string) string {
	s := fmt.Sprintf("%-20s %12s → %-12s %8s %-18s  threshold %s (%s)", c.nameIn(scope), units.Format(c.Old, c.Unit),
		units.Format(c.New, c.Unit), changed(c), changedCI(c), threshold(c), c.By)
	if c.AdjustedP != nil {
		s += "  p " + pValue(c.AdjustedP)
	}
	return s
}

func threshold(c Change) string {
	if c.Ratio == nil {
		return units.Format(c.Threshold, c.Unit)
	}
	return reports.Percent(c.Threshold / c.Old)
}

func pValue(p *float64) string {
	switch {
	case p == nil:
		return "–"
	case *p < 0.0001:
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", *p)
}

// special are the characters that mean something in a Markdown table.
var special = regexp.MustCompile("[\\\\`*_{}\\[\\]<>|#~]")

// cell makes text safe in a Markdown table.
func cell(s string) string { return special.ReplaceAllString(reports.Clean(s), `\$0`) }

func (f Finding) text() string {
	subject := f.Scope
	if f.Scope != ScopeNetwork {
		subject += " " + f.Subject
	}
	switch {
	case f.Undecided == 1:
		return subject + ": too few runs to say whether 1 quantity is worse"
	case f.Undecided > 1:
		return fmt.Sprintf("%s: too few runs to say whether any of %d quantities is worse", subject, f.Undecided)
	case f.Kind == Inconclusive:
		looks := firstThree(f.Changes, "%d more look worse", func(c Change) string { return c.Name + " looks " + c.Says() })
		return subject + ": " + looks + ", which the runs cannot tell from noise"
	}
	which := ""
	if f.OfLinks > 0 && f.Links > 0 {
		which = fmt.Sprintf("%d of its %s: ", f.Links, units.Plural(f.OfLinks, "link"))
	}
	return subject + ": " + which + firstThree(f.Changes, "%d more", func(c Change) string {
		return strings.TrimPrefix(c.nameIn(f.Scope), linksPrefix) + " " + c.Says()
	})
}

// firstThree describes the first three; more counts the others.
func firstThree[T any](all []T, more string, describe func(T) string) string {
	const shown = 3
	what := lists.Map(all[:min(shown, len(all))], describe)
	if n := len(all) - shown; n > 0 {
		what = append(what, fmt.Sprintf(more, n))
	}
	return strings.Join(what, ", ")
}

// nameIn is the name of the quantity, with its subject in a list of another scope.
func (c Change) nameIn(scope string) string {
	if c.Scope == scope || c.Scope == ScopeNetwork {
		return c.Name
	}
	return c.Name + " of " + c.Subject()
}

// Says is a change in words: "slower by 2.1×", "faster by 4.0%", of a share such as loss "more by 3.0×".
func (c Change) Says() string {
	by := units.Format(math.Abs(c.New-c.Old), c.Unit)
	if c.Ratio != nil {
		by = times(*c.Ratio)
	}
	up := c.New > c.Old
	switch {
	case c.Better == params.BetterNeither, c.Unit == "1":
		return map[bool]string{true: "more", false: "less"}[up] + " by " + by
	case up == (c.Better == params.BetterHigher):
		return "faster by " + by
	}
	return "slower by " + by
}

// times is a ratio in words: a percentage up to a half, then how many times.
func times(r float64) string {
	if d := math.Abs(r - 1); d < 0.5 {
		return reports.Percent(d)
	}
	if r < 1 {
		r = 1 / r
	}
	return strconv.FormatFloat(r, 'f', 1, 64) + "×"
}

// by writes a change as a share where there is a ratio, never "-0.0%", and else in the unit.
func (c Change) by(ratio, difference float64) string {
	switch {
	case c.Ratio != nil:
		return strings.Replace(fmt.Sprintf("%+.1f%%", 100*(ratio-1)), "-0.0%", "+0.0%", 1)
	case difference > 0:
		return "+" + units.Format(difference, c.Unit)
	}
	return units.Format(difference, c.Unit)
}

func changed(c Change) string { return c.by(c.New/c.Old, c.New-c.Old) }

// changedCI is the interval of what changed says.
func changedCI(c Change) string {
	ci := c.RatioCI
	if c.Ratio == nil {
		ci = c.DifferenceCI
	}
	if ci == nil {
		return ""
	}
	return "[" + c.by(ci[0], ci[0]) + ", " + c.by(ci[1], ci[1]) + "]"
}

const maxShown = 8

// shown are the changes to show in a table, left how many others there are.
func (f Finding) shown() []Change {
	all := slices.Concat(f.Changes, f.Along)
	return all[:min(maxShown, len(all))]
}

func (f Finding) left() int { return max(len(f.Changes)+len(f.Along)-maxShown, 0) }

// testcase of JUnit. Result is the element that says how it ended, "" where it passed.
type testcase struct{ Class, Name, Result, Message, Type, Text string }

// JUnit writes v as a test suite: a case for each parameter of the network, for each host and for each link with a
// finding, one for all other links, and one for each number that is no longer ok. A regression is a failure, what is
// inconclusive is skipped, and environments that are not comparable are the error of a case named "comparable".
func JUnit(w io.Writer, v *Verdict) error {
	var cases []testcase
	why := reports.Clean(strings.Join(v.Why, "; "))
	if v.Outcome == NotComparable || len(v.changes) == 0 {
		cases = append(cases, testcase{"calib", "comparable", "error", why, v.Outcome, why})
	}
	for _, c := range v.Network {
		cases = append(cases, caseOf(c.Name, c))
	}
	if len(v.Dead) > 0 {
		dead := reports.Clean(strings.Join(v.Dead, ", "))
		cases = append(cases, testcase{"calib.link", "measured", "failure",
			"not measured any more: " + dead, Regression, dead})
	}
	for _, changes := range [][]Change{v.Hosts, v.Links} {
		by := map[string][]Change{}
		for _, c := range changes {
			by[c.Subject()] = append(by[c.Subject()], c)
		}
		for subject, own := range lists.ByKey(by) {
			cases = append(cases, caseOf(subject, own...))
		}
	}
	if v.Tested.Links > 0 {
		cases = append(cases, testcase{Class: "calib.link", Name: "all other links",
			Text: fmt.Sprintf("%s of links tested", units.Plural(v.Tested.Links, "metric"))})
	}
	if !v.allowsLost {
		for _, l := range v.Lost {
			cases = append(cases, testcase{"calib.network", reports.Clean(l.Name) + " is ok", "skipped", "no longer ok",
				Inconclusive, reports.Clean(l.String())})
		}
	}
	skipped := func(c testcase) bool { return c.Result == "skipped" }
	if v.Outcome == Inconclusive && !slices.ContainsFunc(cases, skipped) {
		cases = append(cases, testcase{"calib", "decided", "skipped", why, Inconclusive, why})
	}
	count := map[string]int{}
	for _, c := range cases {
		count[c.Result]++
	}
	return render(w, "verdict.xml", map[string]any{"Cases": cases, "Count": count,
		"Properties": [][2]string{{"outcome", v.Outcome},
			{"old", reports.Clean(strings.Join(v.Old.Runs, " "))}, {"new", reports.Clean(strings.Join(v.New.Runs, " "))}}})
}

// caseOf is a case of changes of one subject: the worst of them counts.
func caseOf(name string, changes ...Change) testcase {
	var lines, failed, open []string
	for _, c := range changes {
		lines = append(lines, reports.Clean(row(c, c.Scope)))
		switch c.State {
		case Regression:
			failed = append(failed, c.Name+" "+c.Says())
		case Inconclusive:
			open = append(open, c.Name)
		}
	}
	t := testcase{Class: "calib." + changes[0].Scope, Name: reports.Clean(name), Text: strings.Join(lines, "\n")}
	switch {
	case failed != nil:
		t.Result, t.Message, t.Type = "failure", reports.Clean(strings.Join(failed, ", ")), Regression
	case open != nil:
		t.Result, t.Message, t.Type = "skipped", "inconclusive: "+reports.Clean(strings.Join(open, ", ")), Inconclusive
	}
	return t
}
