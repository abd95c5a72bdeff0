package fit

import (
	"fmt"
	"math"
	"strings"

	"calib/internal/params"
	"calib/internal/units"
)

// Sections of plots.
const (
	SectionPingpong   = "Ping-pong"
	SectionContention = "Contention"
	SectionCluster    = "Cluster model"
	SectionLogGP      = "LogGP"
	SectionLoGPC      = "LoGPC"
	SectionCopies     = "Copies"
	SectionTuning     = "Tuning"
	SectionOverlap    = "Latency hiding"
)

// SizeAxis is an axis of message sizes.
func SizeAxis(log bool) params.Axis { return params.Axis{Name: "message size", Unit: "B", Log: log} }

// TimeAxis is an axis of times.
func TimeAxis(name string, log bool) params.Axis { return params.Axis{Name: name, Unit: "s", Log: log} }

// SeriesNames lists the names of series, for Plot.Series.
func SeriesNames(series []params.Series) []string {
	var out []string
	for _, s := range series {
		out = append(out, s.Name)
	}
	return out
}

// Misses says how far what is fitted is from the measured points of series.
func Misses(what string, series ...params.Series) string {
	mean, worst, n := params.Misfit(series...)
	if n == 0 {
		return what + " not to be compared with the points"
	}
	return fmt.Sprintf("%s off the points by %s on average and by %s at most", what, Share(mean), Share(worst))
}

// Share prints a relative number with two digits: "7.2%".
func Share(v float64) string {
	switch {
	case math.Abs(v) >= 0.995:
		return fmt.Sprintf("%.0f%%", 100*v)
	case v != 0 && math.Abs(v) < 1e-4:
		return "less than 0.01%"
	}
	return fmt.Sprintf("%.2g%%", 100*v)
}

// ParameterWords prints a parameter with its value, or says that there is none and why.
func ParameterWords(f *params.Fit, name string) string {
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

// ValueWords prints the value of a parameter; "unknown" without one.
func ValueWords(f *params.Fit, name string) string {
	p := f.Parameters[name]
	if p.Value == nil {
		return "unknown"
	}
	return units.Format(*p.Value, p.Unit)
}

// FunctionWords prints the functions of the fit among names, and why those are missing that are parameters instead.
func FunctionWords(f *params.Fit, names ...string) string {
	var parts []string
	for _, name := range names {
		if fn, ok := f.Functions[name]; ok {
			parts = append(parts, fn.Words(name))
		} else if _, ok := f.Parameters[name]; ok {
			parts = append(parts, ParameterWords(f, name))
		}
	}
	return strings.Join(parts, "; ")
}

// Sentences joins texts into sentences, each with a full stop.
func Sentences(texts ...string) string {
	var out []string
	for _, s := range texts {
		if s = strings.TrimSuffix(strings.TrimSpace(s), "."); s != "" {
			out = append(out, s+".")
		}
	}
	return strings.Join(out, " ")
}
