package figure

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/units"
)

// quantiler makes bands of raw timings.
type quantiler struct{ d *dataset.Dataset }

func newQuantiler(d *dataset.Dataset) *quantiler { return &quantiler{d} }

// broken flags mark batches that were not exchanges at all.
var broken = [...]string{dataset.FlagDeadlock, dataset.FlagTimeout, dataset.FlagUnsteady}

// rawKey is equal for selections of the same samples.
func rawKey(r fit.Raw) string {
	return fmt.Sprintf("%q %q %q %s", r.Experiment, r.Phase, r.Factor, dataset.Point(r.Fixed).Key())
}

// selected is the raw timings by the value of the factor [ns].
type selected struct {
	at      map[int64][]int64
	count   int
	retrans int // timings left out because of a retransmission
	broken  int // timings left out because the exchange was broken off
}

// take gathers the timings of r, of every pair of hosts.
func (q *quantiler) take(r fit.Raw) selected {
	out := selected{at: map[int64][]int64{}}
	if q.d == nil {
		return out
	}
	size := map[int64]int{}
	var keep []*dataset.Sample
	for i := range q.d.Samples {
		s := &q.d.Samples[i]
		x, ok := s.Point[r.Factor]
		if s.Exp != r.Experiment || r.Phase != "" && s.Phase != r.Phase || !ok || !fixed(s.Point, r.Fixed) {
			continue
		}
		switch {
		case s.Has(dataset.FlagRetrans):
			out.retrans += len(s.NS)
		case slices.ContainsFunc(broken[:], s.Has):
			out.broken += len(s.NS)
		default:
			keep = append(keep, s)
			size[x] += len(s.NS)
			out.count += len(s.NS)
		}
	}
	for _, s := range keep {
		x := s.Point[r.Factor]
		if out.at[x] == nil {
			out.at[x] = make([]int64, 0, size[x])
		}
		out.at[x] = append(out.at[x], s.NS...)
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

// bands are the middle 90% and 50% of the timings [s] at each value of the factor.
func (q *quantiler) bands(r fit.Raw) []Trace {
	s := q.take(r)
	wide := Trace{Name: "5–95% of " + s.words(), Kind: Band}
	narrow := Trace{Name: "25–75% of " + s.words(), Kind: Band}
	for _, x := range slices.Sorted(maps.Keys(s.at)) {
		ns := s.at[x]
		if len(ns) == 0 {
			continue
		}
		slices.Sort(ns)
		mid := quantile(ns, 0.5)
		for _, t := range []struct {
			to *Trace
			p  float64
		}{{&wide, 0.05}, {&narrow, 0.25}} {
			t.to.X, t.to.Y = append(t.to.X, float64(x)), append(t.to.Y, mid)
			t.to.Lo, t.to.Hi = append(t.to.Lo, quantile(ns, t.p)), append(t.to.Hi, quantile(ns, 1-t.p))
		}
	}
	if len(wide.X) == 0 {
		return nil
	}
	return []Trace{wide, narrow}
}

// words says how many timings there are, and how many were left out.
func (s selected) words() string {
	text := units.Grouped(int64(s.count)) + " timings"
	switch {
	case s.retrans > 0 && s.broken > 0:
		return fmt.Sprintf("%s (left out: %s with retransmissions, %s broken off)", text, units.Grouped(int64(s.retrans)), units.Grouped(int64(s.broken)))
	case cmp.Or(s.retrans, s.broken) == 0:
		return text
	case s.retrans > 0:
		return fmt.Sprintf("%s (left out: %s with retransmissions)", text, units.Grouped(int64(s.retrans)))
	}
	return fmt.Sprintf("%s (left out: %s broken off)", text, units.Grouped(int64(s.broken)))
}

// quantile is that of type 7, as everywhere in calib, of sorted nanoseconds, in seconds. Package stats has it for float64
// only, and a copy of a million timings is not needed.
func quantile(ns []int64, p float64) float64 {
	h := p * float64(len(ns)-1)
	i := int(math.Floor(h))
	v := float64(ns[i])
	if i+1 < len(ns) {
		v += (h - float64(i)) * (float64(ns[i+1]) - v)
	}
	return v * 1e-9
}
