package draw

import (
	"math"
	"time"
)

// maxDate bounds dates to years of four digits, in Unix seconds.
const maxDate = 2.5e11

// timeTicks labels Unix seconds with dates in UTC; nil where they are no dates.
func timeTicks(lo, hi float64, n int) ([]tick, string) {
	if lo < -6e10 || hi > maxDate || !(hi > lo) {
		return nil, ""
	}
	const minute, hour, day = 60.0, 3600.0, 86400.0
	first := time.Unix(int64(math.Floor(lo)), 0).UTC()
	want := (hi - lo) / float64(n)
	for _, d := range []float64{1, 5, 15, 30, minute, 5 * minute, 15 * minute, 30 * minute, hour, 3 * hour, 6 * hour, 12 * hour,
		day, 2 * day, 7 * day, 14 * day} {
		if want > d {
			continue
		}
		layout, word := "2006-01-02", "UTC"
		switch {
		case d < minute:
			layout, word = "15:04:05", "UTC, from "+first.Format(time.DateOnly)
		case d < day:
			layout, word = "01-02 15:04", "UTC, from "+first.Format(time.DateOnly)
		}
		var out []tick
		for _, v := range multiples(lo, hi, d) {
			out = append(out, tick{at: v, label: time.Unix(int64(v), 0).UTC().Format(layout)})
		}
		return out, word
	}
	return monthTicks(first, lo, hi, want/(30.5*day)), "UTC"
}

// monthTicks labels first days of months, want months apart or more.
func monthTicks(first time.Time, lo, hi, want float64) []tick {
	every, layout := 12, "2006"
	switch {
	case want <= 1:
		every, layout = 1, "2006-01"
	case want <= 3:
		every, layout = 3, "2006-01"
	case want <= 6:
		every, layout = 6, "2006-01"
	default:
		every = 12 * int(math.Ceil(step(want/12, 1)))
	}
	var out []tick
	for m := (first.Year()*12)/every*every - every; ; m += every {
		t := time.Date(0, time.Month(m+1), 1, 0, 0, 0, 0, time.UTC)
		if v := float64(t.Unix()); v > hi {
			return out
		} else if v >= lo {
			out = append(out, tick{at: v, label: t.Format(layout)})
		}
	}
}
