package lab

import (
	"encoding/json"
	"math"
	"math/bits"
)

// Histogram counts times in buckets that grow by an eighth of a power of two: exact to 12.5% from nanoseconds to
// minutes, in 2.5 KB, with no allocation to add to it.
type Histogram struct {
	counts [buckets]uint64
	n      uint64
	worst  int64
}

const (
	subBits = 3
	buckets = (40 - subBits + 1) << subBits // to 2^40 ns, 18 minutes
)

// Add counts a time in nanoseconds. A negative one counts as zero.
func (h *Histogram) Add(ns int64) {
	ns = max(ns, 0)
	h.counts[bucketOf(ns)]++
	h.n++
	h.worst = max(h.worst, ns)
}

func bucketOf(ns int64) int {
	v := uint64(ns)
	if v < 1<<subBits {
		return int(v)
	}
	exp := bits.Len64(v) - 1 - subBits
	return min(exp<<subBits+int(v>>exp), buckets-1)
}

// upper returns the largest time of a bucket [ns].
func upper(bucket int) int64 {
	if bucket < 1<<subBits {
		return int64(bucket)
	}
	exp := bucket>>subBits - 1
	mantissa := int64(bucket&(1<<subBits-1) | 1<<subBits)
	return (mantissa+1)<<exp - 1
}

// Count returns how many times were added.
func (h *Histogram) Count() uint64 { return h.n }

// Quantile returns a time that a fraction q of those added do not exceed [ns]: the upper edge of the bucket, never more
// than the largest added; 0 if there are none.
func (h *Histogram) Quantile(q float64) int64 {
	want := uint64(math.Ceil(q * float64(h.n)))
	var seen uint64
	for i, c := range h.counts {
		seen += c
		if c > 0 && seen >= want {
			return min(upper(i), h.worst)
		}
	}
	return h.worst
}

// Above returns how many of the times added were above ns, to within the bucket of ns.
func (h *Histogram) Above(ns int64) uint64 {
	var n uint64
	for i := bucketOf(ns) + 1; i < buckets; i++ {
		n += h.counts[i]
	}
	return n
}

// MarshalJSON writes the buckets that are not empty as [upper bound in ns, count] pairs, beside the quantiles.
func (h Histogram) MarshalJSON() ([]byte, error) {
	w := histogramJSON{
		Count: h.n, Max: h.worst, P50: h.Quantile(0.5), P99: h.Quantile(0.99), P999: h.Quantile(0.999),
		Buckets: [][2]uint64{},
	}
	for i, c := range h.counts {
		if c > 0 {
			w.Buckets = append(w.Buckets, [2]uint64{uint64(upper(i)), c})
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (h *Histogram) UnmarshalJSON(b []byte) error {
	var w histogramJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return err
	}
	*h = Histogram{n: w.Count, worst: w.Max}
	for _, pair := range w.Buckets {
		h.counts[bucketOf(int64(min(pair[0], 1<<62)))] += pair[1]
	}
	return nil
}

type histogramJSON struct {
	Count   uint64      `json:"count"`
	P50     int64       `json:"p50_ns"`
	P99     int64       `json:"p99_ns"`
	P999    int64       `json:"p999_ns"`
	Max     int64       `json:"max_ns"`
	Buckets [][2]uint64 `json:"buckets_ns"`
}
