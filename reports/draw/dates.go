package draw

import (
	"math"
	"time"

	"gonum.org/v1/plot"
)

// timeTicks labels Unix seconds with dates in UTC; nil where years would not have four digits.
func timeTicks(lo, hi float64, n int) ([]plot.Tick, string) {
	if lo < -6e10 || hi > 2.5e11 || !(hi > lo) {
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
		layout, word := time.DateOnly, "UTC"
		switch {
		case d < minute:
			layout, word = time.TimeOnly, "UTC, from "+first.Format(time.DateOnly)
		case d < day:
			layout, word = "01-02 15:04", "UTC, from "+first.Format(time.DateOnly)
		}
		var out []plot.Tick
		for _, v := range multiples(lo, hi, d) {
			out = append(out, plot.Tick{Value: v, Label: plot.UTCUnixTime(v).Format(layout)})
		}
		return out, word
	}
	return monthTicks(first, lo, hi, want/(30.5*day)), "UTC"
}

// monthTicks labels first days of months that are want months apart or more.
func monthTicks(first time.Time, lo, hi, want float64) []plot.Tick {
	every, layout := 12*int(math.Ceil(roundStep(want/12, 1))), "2006"
	for _, months := range []int{1, 3, 6} {
		if want <= float64(months) {
			every, layout = months, "2006-01"
			break
		}
	}
	var out []plot.Tick
	for m := (first.Year()*12)/every*every - every; ; m += every {
		t := time.Date(0, time.Month(m+1), 1, 0, 0, 0, 0, time.UTC)
		if v := float64(t.Unix()); v > hi {
			return out
		} else if v >= lo {
			out = append(out, plot.Tick{Value: v, Label: t.Format(layout)})
		}
	}
}
