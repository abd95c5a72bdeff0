package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/fit/params"
	"calib/internal/units"
	"calib/reports"
)

// text is a finding in words.
func (f Finding) text() string {
	subject := "network: "
	if f.Scope != ScopeNetwork {
		subject = f.Scope + " " + f.Subject + ": "
	}
	const shown = 3
	few, more := f.Changes[:min(shown, len(f.Changes))], len(f.Changes)-shown
	var list []string
	switch {
	case f.Undecided == 1:
		return subject + "too few runs to exclude that 1 quantity is worse"
	case f.Undecided > 1:
		return subject + fmt.Sprintf("too few runs to exclude that any of %d quantities is worse", f.Undecided)
	case f.Kind == Inconclusive:
		for _, c := range few {
			list = append(list, c.Name+" looks "+c.Says())
		}
		if more > 0 {
			list = append(list, fmt.Sprintf("%d more look worse", more))
		}
		return subject + strings.Join(list, ", ") + ", which the runs cannot tell from noise"
	}
	if f.OfLinks > 0 && f.Links > 0 {
		subject += fmt.Sprintf("%d of its %s: ", f.Links, units.Plural(f.OfLinks, "link"))
	}
	for _, c := range few {
		name := strings.TrimPrefix(c.Name, linksPrefix)
		if f.Scope == ScopeNetwork && c.Scope == ScopeLink {
			name += " of " + c.Subject()
		}
		list = append(list, name+" "+c.Says())
	}
	if more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	return subject + strings.Join(list, ", ")
}

// Says is a change in words: "slower by 2.1×", "faster by 4.0%", "more by 2 kB".
func (c Change) Says() string {
	by := number(math.Abs(c.New-c.Old), c.Unit)
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

// notable are the changes to show in a table: all that a finding names, without repetition.
func (f Finding) notable(most int) (shown []Change, left int) {
	all := slices.Concat(f.Changes, f.Along)
	return all[:min(most, len(all))], max(len(all)-most, 0)
}
