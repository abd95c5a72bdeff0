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

// Timeline shows a metric over time, with its levels between change points. The X axis holds Unix seconds with the unit UnitTime.
func Timeline(s Series) Figure {
	r := timedRuns(s)
	f := Figure{ID: seriesID(s), Section: "History", Title: seriesTitle(s), X: Axis{Name: "run", Unit: UnitTime},
		Y: Axis{Name: cmp.Or(s.Label, s.Name, "value"), Unit: strings.TrimPrefix(s.Unit, "1")}}
	levels := r.levels()
	f.Traces = append(r.lines(levels, s.Unit), r.points(s)...)
	f.Marks = r.marks(s)
	f.Says = r.says(s, levels)
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

// timed is the runs of a series that have a time and a value, in the order of time.
type timed struct {
	at     []float64 // Unix seconds
	y      []float64
	from   []int          // index in the series
	change map[int]Change // by index here: the first run of a new level
	known  map[int]Known
}

func timedRuns(s Series) *timed {
	r := &timed{change: map[int]Change{}, known: map[int]Known{}}
	for i := range min(len(s.At), len(s.Y)) {
		if finite(s.Y[i]) {
			r.from = append(r.from, i)
		}
	}
	slices.SortStableFunc(r.from, func(a, b int) int { return s.At[a].Compare(s.At[b]) })
	place := map[int]int{}
	for k, i := range r.from {
		r.at = append(r.at, float64(s.At[i].UnixMilli())/1e3)
		r.y = append(r.y, s.Y[i])
		place[i] = k
	}
	for _, c := range s.Changes {
		if k, ok := place[c.At]; ok && k > 0 {
			r.change[k] = c
		}
	}
	for _, c := range s.Known {
		if k, ok := place[c.At]; ok {
			r.known[k] = c
		}
	}
	return r
}

// level is the median of the runs from, inclusive, to to, exclusive.
type level struct {
	from, to int
	median   float64
}

func (r *timed) levels() []level {
	var out []level
	from := 0
	for k := 1; k <= len(r.y); k++ {
		if _, changed := r.change[k]; changed || k == len(r.y) {
			out = append(out, level{from, k, stats.Median(r.y[from:k])})
			from = k
		}
	}
	return out
}

// lines draws the levels, from half way to the runs before to half way to those behind.
func (r *timed) lines(levels []level, unit string) []Trace {
	var out []Trace
	for _, l := range levels {
		lo, hi := r.at[l.from], r.at[l.to-1]
		if l.from > 0 {
			lo = (lo + r.at[l.from-1]) / 2
		}
		if l.to < len(r.at) {
			hi = (hi + r.at[l.to]) / 2
		}
		if lo < hi {
			out = append(out, Trace{Name: "median " + units.Format(l.median, unit), Kind: Line, X: []float64{lo, hi},
				Y: []float64{l.median, l.median}, Group: 1})
		}
	}
	return out
}

func (r *timed) points(s Series) []Trace {
	if len(r.y) == 0 {
		return nil
	}
	t := Trace{Name: cmp.Or(s.Name, "value"), Kind: Points, X: r.at, Y: r.y}
	some := false
	for k, i := range r.from {
		lo, hi := math.NaN(), math.NaN()
		if i < len(s.Lo) && i < len(s.Hi) && s.Lo[i] <= r.y[k] && r.y[k] <= s.Hi[i] && finite(s.Lo[i]) && finite(s.Hi[i]) {
			lo, hi, some = s.Lo[i], s.Hi[i], true
		}
		t.Lo, t.Hi = append(t.Lo, lo), append(t.Hi, hi)
		t.Text = append(t.Text, strings.TrimSpace(s.run(i)+" "+units.Format(r.y[k], s.Unit)))
	}
	if !some {
		t.Lo, t.Hi = nil, nil
	}
	return []Trace{t}
}

// run names run i.
func (s Series) run(i int) string {
	if i < len(s.Runs) {
		return s.Runs[i]
	}
	return ""
}

// marks are the changes, and the acknowledgements, in the order of time.
func (r *timed) marks(s Series) []Mark {
	var out []Mark
	for k, x := range r.at {
		c, changed := r.change[k]
		known, acknowledged := r.known[k]
		var parts []string
		if changed {
			parts = append(parts, c.words())
		}
		if acknowledged {
			parts = append(parts, strings.TrimSuffix("known: "+known.Reason, ": "))
		}
		if len(parts) > 0 {
			out = append(out, Mark{X: x, Label: strings.Join(parts, "; ")})
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

// says is what there is to see.
func (r *timed) says(s Series, levels []level) string {
	if len(r.y) == 0 {
		return "No run has a value."
	}
	last := len(r.y) - 1
	text := fmt.Sprintf("%s, the last %s", plural(len(r.y), "run"), units.Format(r.y[last], s.Unit))
	if len(levels) == 1 {
		return fmt.Sprintf("%s; no change of level around the median of %s.", text, units.Format(levels[0].median, s.Unit))
	}
	k := levels[len(levels)-1].from
	c := r.change[k]
	text += fmt.Sprintf(". %s of level", plural(len(levels)-1, "change"))
	text += fmt.Sprintf(", the last %s%s (p = %.2g)", c.words(), c.verdict(s.Better), c.P)
	if name := s.run(r.from[k]); name != "" {
		text += " with run " + name
	}
	if q, ok := r.known[k]; ok {
		text += strings.TrimSuffix(", acknowledged: "+q.Reason, ": ")
	}
	return strings.TrimSuffix(text, ".") + "."
}
