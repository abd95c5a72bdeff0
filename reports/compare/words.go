package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

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
	if f.Kind == Inconclusive {
		return subject + ": " + f.doubt()
	}
	const shown = 3
	var what []string
	for _, c := range f.Changes[:min(shown, len(f.Changes))] {
		name := c.Name
		if f.Scope == ScopeNetwork && c.Scope == ScopeLink {
			name += " of " + c.Subject()
		}
		what = append(what, strings.TrimPrefix(name, linksPrefix)+" "+c.Says())
	}
	if n := len(f.Changes) - shown; n > 0 {
		what = append(what, fmt.Sprintf("%d more", n))
	}
	which := ""
	if f.OfLinks > 0 && f.Links > 0 {
		which = fmt.Sprintf("%d of its %s: ", f.Links, units.Plural(f.OfLinks, "link"))
	}
	return subject + ": " + which + strings.Join(what, ", ")
}

// doubt says what the runs cannot tell.
func (f Finding) doubt() string {
	if f.Undecided == 1 {
		return "too few runs to exclude that 1 quantity is worse"
	}
	if f.Undecided > 0 {
		return fmt.Sprintf("too few runs to exclude that any of %d quantities is worse", f.Undecided)
	}
	const shown = 3
	var looks []string
	for _, c := range f.Changes[:min(shown, len(f.Changes))] {
		looks = append(looks, c.Name+" looks "+c.Says())
	}
	if n := len(f.Changes) - shown; n > 0 {
		looks = append(looks, fmt.Sprintf("%d more look worse", n))
	}
	return strings.Join(looks, ", ") + ", which the runs cannot tell from noise"
}

// Says is a change in words: "slower by 2.1×", "better by 4.0%".
func (c Change) Says() string {
	by := number(math.Abs(c.New-c.Old), c.Unit)
	if c.Ratio != nil {
		by = times(*c.Ratio)
	}
	up := c.New > c.Old
	switch {
	case c.Better == "":
		return map[bool]string{true: "more", false: "less"}[up] + " by " + by
	case up == (c.Better == "higher"):
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

func number(v float64, unit string) string {
	if unit == "1" {
		unit = ""
	}
	return strings.TrimSpace(units.Format(v, unit))
}

// printer writes lines until one fails.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.w, strings.TrimRight(reports.Clean(fmt.Sprintf(format, args...)), " "))
	}
}

// signed is a ratio as a change in percent, never "-0.0%".
func signed(r float64) string {
	return strings.Replace(fmt.Sprintf("%+.1f%%", 100*(r-1)), "-0.0%", "+0.0%", 1)
}

// ratioCI is an interval of a ratio as changes in percent.
func ratioCI(ci *[2]float64) string {
	if ci == nil {
		return ""
	}
	return "[" + signed(ci[0]) + ", " + signed(ci[1]) + "]"
}

// notable are the changes to show in a table: all that a finding names, without repetition.
func (f Finding) notable(most int) (shown []Change, left int) {
	all := slices.Concat(f.Changes, f.Along)
	return all[:min(most, len(all))], max(len(all)-most, 0)
}
