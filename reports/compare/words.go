package compare

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/internal/params"
	"calib/internal/units"
	"calib/reports"
)

// text is a finding in words.
func (f Finding) text() string {
	subject := "network"
	switch f.Scope {
	case ScopeHost:
		subject = "host " + f.Subject
	case ScopeLink:
		subject = "link " + f.Subject
	}
	switch {
	case f.Undecided == 1:
		return subject + ": too few runs to exclude that 1 quantity is worse"
	case f.Undecided > 1:
		return fmt.Sprintf("%s: too few runs to exclude that any of %d quantities is worse", subject, f.Undecided)
	case f.Kind == Inconclusive:
		looks := f.list("%d more look worse", func(c Change) string { return c.Name + " looks " + c.Says() })
		return subject + ": " + looks + ", which the runs cannot tell from noise"
	}
	which := ""
	if f.OfLinks > 0 && f.Links > 0 {
		which = fmt.Sprintf("%d of its %s: ", f.Links, units.Plural(f.OfLinks, "link"))
	}
	return subject + ": " + which + f.list("%d more", func(c Change) string {
		return strings.TrimPrefix(c.nameIn(f.Scope), linksPrefix) + " " + c.Says()
	})
}

// list describes the three largest changes of a finding; more counts the others.
func (f Finding) list(more string, describe func(Change) string) string {
	const shown = 3
	var what []string
	for _, c := range f.Changes[:min(shown, len(f.Changes))] {
		what = append(what, describe(c))
	}
	if n := len(f.Changes) - shown; n > 0 {
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

// Says is a change in words: "slower by 2.1×", "better by 4.0%".
func (c Change) Says() string {
	by := units.Format(math.Abs(c.New-c.Old), c.Unit)
	if c.Ratio != nil {
		by = times(*c.Ratio)
	}
	up := c.New > c.Old
	switch {
	case c.Better == params.BetterNeither:
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

// printer writes lines; Flush returns the first error.
type printer struct{ *bufio.Writer }

func newPrinter(w io.Writer) printer { return printer{bufio.NewWriter(w)} }

func (p printer) line(format string, args ...any) {
	fmt.Fprintln(p, strings.TrimRight(reports.Clean(fmt.Sprintf(format, args...)), " "))
}

// changed is a change in percent, or as a difference where a ratio says nothing.
func changed(c Change) string {
	if c.Ratio == nil {
		return difference(c.New-c.Old, c.Unit)
	}
	return signed(*c.Ratio)
}

// changedCI is the interval of what changed says.
func changedCI(c Change) string {
	switch {
	case c.Ratio == nil && c.DifferenceCI != nil:
		return "[" + difference(c.DifferenceCI[0], c.Unit) + ", " + difference(c.DifferenceCI[1], c.Unit) + "]"
	case c.RatioCI != nil:
		return "[" + signed(c.RatioCI[0]) + ", " + signed(c.RatioCI[1]) + "]"
	}
	return ""
}

// difference is a value with its sign.
func difference(v float64, unit string) string {
	if v > 0 {
		return "+" + units.Format(v, unit)
	}
	return units.Format(v, unit)
}

// signed is a ratio as a change in percent, never "-0.0%".
func signed(r float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f%%", 100*(r-1)), "-0.0%", "+0.0%", 1)
}

// notable are the changes to show in a table, and how many others there are.
func (f Finding) notable() (shown []Change, left int) {
	const most = 8
	all := slices.Concat(f.Changes, f.Along)
	return all[:min(most, len(all))], max(len(all)-most, 0)
}
