package compare

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"calib/internal/units"
	"calib/reports"
)

// Text writes v for a terminal: the verdict, the findings with their evidence, every parameter of the network, and
// notes.
func Text(w io.Writer, v *Verdict) error {
	p := newPrinter(w)
	p.line("%s", headline(v))
	for _, f := range v.Findings {
		p.line("")
		p.line("%-12s  %s", f.Kind, f.Text)
		shown, left := f.notable()
		for _, c := range shown {
			p.line("    %s", row(c, f.Scope))
		}
		if left > 0 {
			p.line("    and %d more", left)
		}
	}
	if len(v.Environment) > 0 {
		p.line("")
		p.line("Environment")
		for _, d := range v.Environment {
			p.line("  %s%s", d.String(), map[bool]string{true: "", false: " (does not count)"}[d.Counts])
		}
	}
	if len(v.Network) > 0 {
		p.line("")
		p.line("Network: medians of %s and %s", units.Plural(len(v.Old.Runs), "old run"), units.Plural(len(v.New.Runs), "new run"))
		for _, c := range v.Network {
			p.line("  %-13s %s", c.State, row(c, c.Scope))
		}
	}
	if v.Tested.Links > 0 {
		p.line("")
		p.line("Links: %s of links tested, %s of hosts", units.Plural(v.Tested.Links, "metric"), units.Plural(v.Tested.Hosts, "metric"))
	}
	if len(v.Notes) > 0 {
		p.line("")
		for _, n := range v.Notes {
			p.line("note: %s", n)
		}
	}
	return p.Flush()
}

// headline is the outcome on one line.
func headline(v *Verdict) string {
	switch v.Outcome {
	case OK:
		return fmt.Sprintf("ok: no regression above %s or the noise", reports.Percent(v.Relative))
	case Regression:
		n := 0
		for _, f := range v.Findings {
			if f.Kind == Regression {
				n++
			}
		}
		return fmt.Sprintf("regression: %s", units.Plural(n, "finding"))
	}
	return v.Outcome + ": " + strings.Join(v.Why, "; ")
}

// row is a change on one line, with its evidence, in a list of the given scope.
func row(c Change, scope string) string {
	s := fmt.Sprintf("%-20s %12s → %-12s %8s %-18s  threshold %s (%s)", c.nameIn(scope), units.Format(c.Old, c.Unit), units.Format(c.New, c.Unit),
		changed(c), changedCI(c), threshold(c), c.By)
	if c.AdjustedP != nil {
		s += "  p " + pValue(c.AdjustedP)
	}
	return s
}

func threshold(c Change) string {
	if c.Ratio == nil || c.Old == 0 {
		return units.Format(c.Threshold, c.Unit)
	}
	return reports.Percent(c.Threshold / c.Old)
}

// pValue prints a p value, a dash where there is none.
func pValue(p *float64) string {
	switch {
	case p == nil:
		return "–"
	case *p < 0.0001:
		return "< 0.0001"
	}
	return fmt.Sprintf("%.4f", *p)
}

// Markdown writes v as the summary of a CI job.
func Markdown(w io.Writer, v *Verdict) error {
	p := newPrinter(w)
	p.line("## calib: %s", cell(v.Outcome))
	p.line("")
	p.line("%s. %s against %s; changes below %s do not count.", cell(headline(v)), units.Plural(len(v.New.Runs), "new run"),
		units.Plural(len(v.Old.Runs), "old run"), reports.Percent(v.Relative))
	if len(v.Findings) > 0 {
		p.line("")
		p.line("| finding | quantity | old | new | change | 95%% interval | threshold | adjusted p |")
		p.line("|---|---|--:|--:|--:|---|--:|--:|")
	}
	for _, f := range v.Findings {
		p.line("| **%s** | %s | | | | | | |", f.Kind, cell(f.Text))
		shown, left := f.notable()
		for _, c := range shown {
			p.line("| | %s | %s | %s | %s | %s | %s | %s |", cell(c.nameIn(ScopeNetwork)), units.Format(c.Old, c.Unit), units.Format(c.New, c.Unit),
				changed(c), changedCI(c), threshold(c), strings.ReplaceAll(pValue(c.AdjustedP), "<", "&lt;"))
		}
		if left > 0 {
			p.line("| | and %d more | | | | | | |", left)
		}
	}
	if len(v.Environment) > 0 {
		p.line("")
		p.line("| environment | old | new | hosts |")
		p.line("|---|---|---|---|")
		for _, d := range v.Environment {
			p.line("| %s | %s | %s | %s |", cell(d.Fact), cell(d.Old), cell(d.New), cell(namesOf(d.Hosts)))
		}
	}
	if len(v.Notes) > 0 {
		p.line("")
		for _, n := range v.Notes {
			p.line("- %s", cell(n))
		}
	}
	return p.Flush()
}

// special are the characters that mean something in a Markdown table.
var special = regexp.MustCompile("[\\\\`*_{}\\[\\]<>|#~]")

// cell makes text safe in a Markdown table.
func cell(s string) string { return special.ReplaceAllString(s, `\$0`) }
