package figure

import (
	"maps"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/plot"
	"calib/internal/stats"
	"calib/internal/units"
)

// brokenFlags mark batches that were not exchanges at all.
var brokenFlags = []string{dataset.FlagDeadlock, dataset.FlagTimeout, dataset.FlagUnsteady}

// timingsOf gathers the timings of r [ns], of every pair of hosts, by the value of the factor, and says how many there
// are and how many were left out.
func timingsOf(d dataset.Source, r plot.Raw) (at map[int64][]float64, words string) {
	at = map[int64][]float64{}
	count, again, broken := 0, 0, 0
	for _, s := range d.Select(r.Experiment, "") {
		x, ok := s.Point[r.Factor]
		switch {
		case !ok || !fixed(s.Point, r.Fixed):
		case s.Has(dataset.FlagRetrans):
			again += len(s.NS)
		case slices.ContainsFunc(brokenFlags, s.Has):
			broken += len(s.NS)
		default:
			count += len(s.NS)
			for _, ns := range s.NS {
				at[x] = append(at[x], float64(ns))
			}
		}
	}
	var left []string
	if again > 0 {
		left = append(left, units.Grouped(int64(again))+" with retransmissions")
	}
	if broken > 0 {
		left = append(left, units.Grouped(int64(broken))+" broken off")
	}
	words = units.Grouped(int64(count)) + " timings"
	if len(left) > 0 {
		words += " (left out: " + strings.Join(left, ", ") + ")"
	}
	return at, words
}

func fixed(p dataset.Point, want map[string]int64) bool {
	for k, v := range want {
		if have, ok := p[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// quantileBands are the middle 90% and 50% of the timings [s] at each value of the factor; none without d or timings.
func quantileBands(d dataset.Source, r *plot.Raw) (out []Trace) {
	if d == nil || r == nil {
		return nil
	}
	timings, words := timingsOf(d, *r)
	factors := slices.Sorted(maps.Keys(timings))
	for _, x := range factors {
		slices.Sort(timings[x])
	}
	for _, b := range []struct {
		name string
		p    float64
	}{{"5–95% of ", 0.05}, {"25–75% of ", 0.25}} {
		t := Trace{Name: b.name + words, Kind: Band}
		for _, x := range factors {
			at := func(p float64) float64 { return stats.SortedQuantile(timings[x], p) * 1e-9 }
			t.Points = append(t.Points, Point{X: float64(x), Y: at(0.5), Lo: at(b.p), Hi: at(1 - b.p)})
		}
		out = append(out, t)
	}
	return out
}
