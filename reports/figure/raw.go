package figure

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/params"
	"calib/internal/stats"
	"calib/internal/units"
)

// brokenFlags mark batches that were not exchanges at all.
var brokenFlags = []string{dataset.FlagDeadlock, dataset.FlagTimeout, dataset.FlagUnsteady}

// rawKey is equal for selections of the same samples.
func rawKey(r params.Raw) string {
	return fmt.Sprintf("%q %q %q %s", r.Experiment, r.Phase, r.Factor, dataset.Point(r.Fixed).Key())
}

// timings is the raw timings of a selection.
type timings struct {
	at          map[int64][]float64 // [ns] by the value of the factor
	count       int
	retransmits int // timings left out because of a retransmission
	broken      int // timings left out because the exchange was broken off
}

// timingsOf gathers the timings of r, of every pair of hosts.
func timingsOf(d dataset.Source, r params.Raw) timings {
	out := timings{at: map[int64][]float64{}}
	for _, s := range d.Select(r.Experiment, r.Phase) {
		x, ok := s.Point[r.Factor]
		if !ok || !fixed(s.Point, r.Fixed) {
			continue
		}
		switch {
		case s.Has(dataset.FlagRetrans):
			out.retransmits += len(s.NS)
		case slices.ContainsFunc(brokenFlags, s.Has):
			out.broken += len(s.NS)
		default:
			out.count += len(s.NS)
			all := slices.Grow(out.at[x], len(s.NS))
			for _, ns := range s.NS {
				all = append(all, float64(ns))
			}
			out.at[x] = all
		}
	}
	return out
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
func quantileBands(d dataset.Source, r params.Raw) []Trace {
	if d == nil {
		return nil
	}
	s := timingsOf(d, r)
	factors := slices.Sorted(maps.Keys(s.at))
	for _, x := range factors {
		slices.Sort(s.at[x])
	}
	var out []Trace
	for _, b := range []struct {
		name string
		p    float64
	}{{"5–95% of ", 0.05}, {"25–75% of ", 0.25}} {
		t := Trace{Name: b.name + s.words(), Kind: Band}
		for _, x := range factors {
			at := func(p float64) float64 { return stats.SortedQuantile(s.at[x], p) * 1e-9 }
			t.X, t.Y = append(t.X, float64(x)), append(t.Y, at(0.5))
			t.Lo, t.Hi = append(t.Lo, at(b.p)), append(t.Hi, at(1-b.p))
		}
		if len(t.X) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// words says how many timings there are, and how many were left out.
func (s timings) words() string {
	text := units.Grouped(int64(s.count)) + " timings"
	var left []string
	if s.retransmits > 0 {
		left = append(left, units.Grouped(int64(s.retransmits))+" with retransmissions")
	}
	if s.broken > 0 {
		left = append(left, units.Grouped(int64(s.broken))+" broken off")
	}
	if len(left) == 0 {
		return text
	}
	return text + " (left out: " + strings.Join(left, ", ") + ")"
}
