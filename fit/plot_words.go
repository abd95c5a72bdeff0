package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"calib/internal/units"
)

// Sections of plots.
const (
	sectionPingpong   = "Ping-pong"
	sectionContention = "Contention"
	sectionCluster    = "Cluster model"
	sectionLogGP      = "LogGP"
	sectionCopies     = "Copies"
	sectionTuning     = "Tuning"
)

func sizeAxis(log bool) Axis { return Axis{Name: "message size", Unit: "B", Log: log} }

func timeAxis(name string, log bool) Axis { return Axis{Name: name, Unit: "s", Log: log} }

// seriesNamed lists the residual series whose name begins with prefix, in the order of their first points.
func (f *Fit) seriesNamed(prefix string) []string {
	var out []string
	for _, r := range f.Residuals {
		if strings.HasPrefix(r.Series, prefix) && !slices.Contains(out, r.Series) {
			out = append(out, r.Series)
		}
	}
	return out
}

// seriesSpan is the range of x of series; false without a point.
func (f *Fit) seriesSpan(series ...string) (lo, hi float64, ok bool) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, r := range f.Residuals {
		if slices.Contains(series, r.Series) && finite(r.X) {
			lo, hi, ok = math.Min(lo, r.X), math.Max(hi, r.X), true
		}
	}
	return lo, hi, ok
}

// misses says how far what is fitted is from the measured points of series.
func (f *Fit) misses(what string, series ...string) string {
	sum, worst, n := 0.0, 0.0, 0
	for _, r := range f.Residuals {
		if e := math.Abs(r.Relative()); slices.Contains(series, r.Series) && finite(e) {
			sum, worst, n = sum+e, math.Max(worst, e), n+1
		}
	}
	if n == 0 {
		return what + " not to be compared with the points"
	}
	return fmt.Sprintf("%s off the points by %s on average and by %s at most", what, share(sum/float64(n)), share(worst))
}

// share prints a relative number with two digits: "7.2%".
func share(v float64) string {
	switch {
	case math.Abs(v) >= 0.995:
		return fmt.Sprintf("%.0f%%", 100*v)
	case v != 0 && math.Abs(v) < 1e-4:
		return "less than 0.01%"
	}
	return fmt.Sprintf("%.2g%%", 100*v)
}

// paramWords prints a parameter with its value, or says that there is none and why.
func (f *Fit) paramWords(name string) string {
	p, ok := f.Parameters[name]
	switch {
	case !ok:
		return ""
	case p.Value != nil && p.CI95 != nil:
		return fmt.Sprintf("%s is %s (95%%: %s to %s)", name, units.Format(*p.Value, p.Unit), units.Format(p.CI95[0], p.Unit),
			units.Format(p.CI95[1], p.Unit))
	case p.Value != nil:
		return name + " is " + units.Format(*p.Value, p.Unit)
	}
	return name + " has no value: " + p.Why
}

// format prints the value of a parameter; "unknown" without one.
func (f *Fit) format(name string) string {
	p := f.Parameters[name]
	if p.Value == nil {
		return "unknown"
	}
	return units.Format(*p.Value, p.Unit)
}

// lineWords prints c0 + c1·arg, c0 [s] and c1 [s/B].
func lineWords(c0, c1 float64, arg string) string {
	sign := " + "
	if c1 < 0 {
		sign, c1 = " − ", -c1
	}
	return units.Format(c0, "s") + sign + units.Format(c1, "s/B") + "·" + arg
}

// words prints f as a formula.
func (f Function) words(name string) string {
	c := f.Coeff
	switch f.Form {
	case LineForm:
		return name + "(m) = " + lineWords(c["c0"], c["c1"], "m")
	case FloorForm:
		return fmt.Sprintf("%s(m) = %s, but at least %s", name, lineWords(c["c0"], c["c1"], "m"), units.Format(c["floor"], "s"))
	case SegmentsForm:
		var parts []string
		for i := 1; ; i++ {
			if _, ok := c[fmt.Sprintf("c0_%d", i)]; !ok {
				break
			}
			part := lineWords(c[fmt.Sprintf("c0_%d", i)], c[fmt.Sprintf("c1_%d", i)], "x")
			if from := c[fmt.Sprintf("from_%d", i)]; from > 0 {
				part += " above " + units.Format(from, "B")
			}
			parts = append(parts, part)
		}
		return name + "(x) = " + strings.Join(parts, "; ")
	case BilinearForm, TransferForm:
		text := fmt.Sprintf("%s(m, p) = %s + %s·p + %s·m", name, units.Format(c["l0"], "s"), units.Format(c["l1"], "s"),
			units.Format(c["tau"], "s/B"))
		if f.Form == TransferForm {
			text += ", and longer where the hosts offer more than " + units.Format(c["N"], "B/s") + " together"
		}
		return text
	}
	return name + " = " + f.Form
}

// functionsWords prints the functions of the fit among names, and why those are missing that are parameters instead.
func (f *Fit) functionsWords(names ...string) string {
	var parts []string
	for _, name := range names {
		if fn, ok := f.Functions[name]; ok {
			parts = append(parts, fn.words(name))
		} else if _, ok := f.Parameters[name]; ok {
			parts = append(parts, f.paramWords(name))
		}
	}
	return strings.Join(parts, "; ")
}

// sentences joins texts into sentences, each with a full stop.
func sentences(texts ...string) string {
	var out []string
	for _, s := range texts {
		if s = strings.TrimSuffix(strings.TrimSpace(s), "."); s != "" {
			out = append(out, s+".")
		}
	}
	return strings.Join(out, " ")
}
