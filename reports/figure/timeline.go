package figure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

// Run is one run of a series.
type Run struct {
	Name      string
	At        time.Time
	Y, Lo, Hi float64 // Y is NaN where there is none, Lo below Hi where there is an interval
	Change    *Change // of which this run is the first; nil is none
}

// Change is a change of level.
type Change struct {
	Share   *float64 // of the level before; nil where there is none
	Verdict string   // better, worse, or empty where neither is
	P       float64
	Known   string // why it came, where it is acknowledged
}

func (r Run) seconds() float64 { return float64(r.At.UnixMilli()) / 1e3 }

// Timeline shows a metric over time, with its levels between change points. Its X axis has the unit UnitTime. Metrics
// whose names differ in capitals alone have one ID.
func Timeline(s params.Metric, of []Run) Figure {
	runs := slices.DeleteFunc(slices.Clone(of), func(r Run) bool { return !finite(r.Y) })
	slices.SortStableFunc(runs, func(a, b Run) int { return a.At.Compare(b.At) })
	if len(runs) > 0 {
		runs[0].Change = nil // there is no level before
	}
	levels := levelsOf(runs)
	subject := strings.TrimSpace(cmp.Or(s.Name, "Metric") + " " + s.Link())
	f := Figure{ID: Slug(subject), Section: "History", Title: strings.TrimSuffix(subject+": "+s.Label, ": "),
		X: Axis{Name: "run", Unit: UnitTime},
		Y: Axis{Name: cmp.Or(s.Label, s.Name, "value"), Unit: strings.TrimPrefix(s.Unit, "1")}}
	for _, l := range levels {
		if l.lo < l.hi {
			f.Traces = append(f.Traces, Trace{Name: "median " + units.Format(l.median, s.Unit), Kind: Line,
				Points: []Point{{X: l.lo, Y: l.median}, {X: l.hi, Y: l.median}}, Group: 1})
		}
	}
	points := Trace{Name: cmp.Or(s.Name, "value"), Kind: Points}
	for _, r := range runs {
		if !(r.Lo <= r.Y && r.Y <= r.Hi) { // Settle takes away what is not finite
			r.Lo, r.Hi = math.NaN(), math.NaN()
		}
		text := strings.TrimSpace(r.Name + " " + units.Format(r.Y, s.Unit))
		points.Points = append(points.Points, Point{r.seconds(), r.Y, r.Lo, r.Hi, text})
		if r.Change != nil {
			label := r.Change.words()
			if r.Change.Known != "" {
				label += "; known: " + r.Change.Known
			}
			f.Marks = append(f.Marks, Mark{X: r.seconds(), Label: label})
		}
	}
	f.Traces = append(f.Traces, points)
	f.Says = timelineSays(levels, len(runs), s)
	Settle(&f)
	return f
}

// level is the runs between two changes.
type level struct {
	runs   []Run
	median float64
	lo, hi float64 // [s] from half way to the run before to half way to the one behind
}

func levelsOf(runs []Run) (out []level) {
	from := 0
	for to := 1; to <= len(runs); to++ {
		if to < len(runs) && runs[to].Change == nil {
			continue
		}
		l := level{runs: runs[from:to], lo: runs[from].seconds(), hi: runs[to-1].seconds()}
		var y []float64
		for _, r := range l.runs {
			y = append(y, r.Y)
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

func (c Change) words() string {
	if c.Share == nil {
		return "change"
	}
	return fmt.Sprintf("%+.1f%%", 100**c.Share)
}

func timelineSays(levels []level, n int, s params.Metric) string {
	if n == 0 {
		return "No run has a value."
	}
	last := levels[len(levels)-1]
	first := last.runs[0]
	text := units.Plural(n, "run") + ", the last " + units.Format(last.runs[len(last.runs)-1].Y, s.Unit)
	if first.Change == nil {
		return fmt.Sprintf("%s; no change of level around the median of %s.", text, units.Format(last.median, s.Unit))
	}
	text += fmt.Sprintf(". %s of level, the last %s", units.Plural(len(levels)-1, "change"), first.Change.words())
	if first.Change.Verdict != "" {
		text += ", for the " + first.Change.Verdict
	}
	text += fmt.Sprintf(" (p = %.2g)", first.Change.P)
	if first.Name != "" {
		text += " with run " + first.Name
	}
	if first.Change.Known != "" {
		text += ", acknowledged: " + first.Change.Known
	}
	return strings.TrimSuffix(text, ".") + "."
}
