package figure

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"time"

	"calib/internal/stats"
	"calib/internal/units"
)

// Series is one metric over many runs, in the order of time.
type Series struct {
	Name, Link, Label, Unit string
	Better                  string // as fit.Metric's
	Runs                    []string
	At                      []time.Time
	Y                       []float64
	Lo, Hi                  []float64 // NaN where a run has no interval; nil where none has
	Changes                 []Change
	Known                   []Known
}

// Change is a change point found: run At is the first of the new level.
type Change struct {
	At            int
	Before, After float64 // medians of the segments
	P             float64
}

// Known is an acknowledged change.
type Known struct {
	At     int
	Reason string
}

// Timeline shows a metric over time, with its levels between change points. The X axis holds Unix seconds with the unit
// UnitTime.
func Timeline(s Series) Figure {
	runs := runsOf(s)
	levels := levelsOf(runs)
	f := Figure{ID: seriesID(s), Section: "History", Title: seriesTitle(s), X: Axis{Name: "run", Unit: UnitTime},
		Y: Axis{Name: cmp.Or(s.Label, s.Name, "value"), Unit: strings.TrimPrefix(s.Unit, "1")}}
	f.Traces = append(levelLines(levels, s.Unit), runPoints(runs, s))
	f.Marks = runMarks(runs)
	f.Says = timelineSays(levels, len(runs), s)
	Settle(&f)
	return f
}

// seriesTitle names the metric and its link.
func seriesTitle(s Series) string {
	title := cmp.Or(s.Name, "Metric")
	if s.Link != "" {
		title += " " + s.Link
	}
	if s.Label != "" {
		title += ": " + s.Label
	}
	return title
}

// seriesID is the metric and its link as an ID. A sum of both tells apart what letters in lower case do not: g and G.
func seriesID(s Series) string {
	id := slug(s.Name + " " + s.Link)
	if id == strings.ReplaceAll(s.Name, "_", "-") && s.Link == "" {
		return id
	}
	h := fnv.New32a()
	h.Write([]byte(s.Name + "\x00" + s.Link)) // a hash never fails
	return fmt.Sprintf("%s-%08x", id, h.Sum32())
}

// run is one run of a series with a value.
type run struct {
	name      string
	at        time.Time
	y, lo, hi float64
	change    *Change // of which this run is the first; nil is none
	known     *Known
}

func (r run) seconds() float64 { return float64(r.at.UnixMilli()) / 1e3 }

// runsOf lists the runs that have a time and a value, in the order of time.
func runsOf(s Series) []run {
	var out []run
	for i := range min(len(s.At), len(s.Y)) {
		if !finite(s.Y[i]) {
			continue
		}
		r := run{at: s.At[i], y: s.Y[i], lo: math.NaN(), hi: math.NaN()}
		if i < len(s.Runs) {
			r.name = s.Runs[i]
		}
		if i < len(s.Lo) && i < len(s.Hi) && s.Lo[i] <= r.y && r.y <= s.Hi[i] && finite(s.Lo[i]) && finite(s.Hi[i]) {
			r.lo, r.hi = s.Lo[i], s.Hi[i]
		}
		for k := range s.Changes {
			if s.Changes[k].At == i {
				r.change = &s.Changes[k]
			}
		}
		for k := range s.Known {
			if s.Known[k].At == i {
				r.known = &s.Known[k]
			}
		}
		out = append(out, r)
	}
	slices.SortStableFunc(out, func(a, b run) int { return a.at.Compare(b.at) })
	if len(out) > 0 {
		out[0].change = nil // there is no level before
	}
	return out
}

// level is the runs between two changes.
type level struct {
	runs   []run
	median float64
	lo, hi float64 // [s] from half way to the run before to half way to the one behind
}

func levelsOf(runs []run) []level {
	var out []level
	from := 0
	for to := 1; to <= len(runs); to++ {
		if to < len(runs) && runs[to].change == nil {
			continue
		}
		l := level{runs: runs[from:to], lo: runs[from].seconds(), hi: runs[to-1].seconds()}
		var y []float64
		for _, r := range l.runs {
			y = append(y, r.y)
		}
		l.median = stats.Median(y)
		if from > 0 {
			l.lo = (l.lo + runs[from-1].seconds()) / 2
		}
		if to < len(runs) {
			l.hi = (l.hi + runs[to].seconds()) / 2
		}
		out = append(out, l)
		from = to
	}
	return out
}

func levelLines(levels []level, unit string) []Trace {
	var out []Trace
	for _, l := range levels {
		if l.lo < l.hi {
			out = append(out, Trace{Name: "median " + units.Format(l.median, unit), Kind: Line, X: []float64{l.lo, l.hi},
				Y: []float64{l.median, l.median}, Group: 1})
		}
	}
	return out
}

func runPoints(runs []run, s Series) Trace {
	t := Trace{Name: cmp.Or(s.Name, "value"), Kind: Points}
	for _, r := range runs {
		t.add(r.seconds(), r.y, r.lo, r.hi, strings.TrimSpace(r.name+" "+units.Format(r.y, s.Unit)))
	}
	return t
}

// runMarks are the changes and the acknowledgements, in the order of time.
func runMarks(runs []run) []Mark {
	var out []Mark
	for _, r := range runs {
		var parts []string
		if r.change != nil {
			parts = append(parts, r.change.words())
		}
		if r.known != nil {
			parts = append(parts, strings.TrimSuffix("known: "+r.known.Reason, ": "))
		}
		if len(parts) > 0 {
			out = append(out, Mark{X: r.seconds(), Label: strings.Join(parts, "; ")})
		}
	}
	return out
}

// words is the change as a share of the level before.
func (c Change) words() string {
	v := c.After/c.Before - 1
	if !finite(v) {
		return "change"
	}
	return fmt.Sprintf("%+.1f%%", 100*v)
}

// verdict says whether a change is for the better; "" where neither is.
func (c Change) verdict(better string) string {
	switch {
	case better == BetterNeither || c.After == c.Before || !finite(c.After/c.Before):
		return ""
	case (c.After < c.Before) == (better == BetterLower):
		return ", for the better"
	}
	return ", for the worse"
}

// timelineSays is what there is to see in n runs.
func timelineSays(levels []level, n int, s Series) string {
	if n == 0 {
		return "No run has a value."
	}
	last := levels[len(levels)-1]
	first := last.runs[0]
	text := fmt.Sprintf("%s, the last %s", units.GroupedPlural(n, "run"), units.Format(last.runs[len(last.runs)-1].y, s.Unit))
	if first.change == nil {
		return fmt.Sprintf("%s; no change of level around the median of %s.", text, units.Format(last.median, s.Unit))
	}
	text += fmt.Sprintf(". %s of level, the last %s%s (p = %.2g)", units.GroupedPlural(len(levels)-1, "change"), first.change.words(),
		first.change.verdict(s.Better), first.change.P)
	if first.name != "" {
		text += " with run " + first.name
	}
	if first.known != nil {
		text += strings.TrimSuffix(", acknowledged: "+first.known.Reason, ": ")
	}
	return strings.TrimSuffix(text, ".") + "."
}
