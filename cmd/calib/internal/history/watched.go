package history

import (
	"time"

	"github.com/urfave/cli/v2"

	"calib/fit/fault"
	"calib/internal/history"
	"calib/internal/stats"
	"calib/reports/figure"
	"calib/run/watch"
)

const eachDay = "day"

// watched draws what calib watch has seen, by days: of a link, or the medians of all. Nothing where runs or their
// numbers were chosen.
func watched(c *cli.Context, s *history.Store, f history.Filter) (out []figure.Figure, err error) {
	from, to, ok := hostsOf(c.String("link"))
	if c.IsSet("metric") || f.Label != "" || f.Plan != "" || !ok && c.String("link") != "" {
		return nil, nil
	}
	latency := &timeline{each: eachDay, metric: history.Followed{Name: "latency", From: from, To: to, Unit: "s"}}
	rate := &timeline{each: eachDay, metric: history.Followed{Name: "rate", From: from, To: to, Unit: "B/s"}}
	err = watch.Each(c.Context, s, f.Since, func(at time.Time, hosts []string, seen []fault.Seen) {
		var latencies, rates []float64
		for _, o := range seen {
			a, b := hosts[o.From], hosts[o.To]
			there := !ok || a == from && b == to
			if !o.Failed && (there || a == to && b == from) {
				latencies = append(latencies, o.Latency)
				if there && o.PerByte > 0 {
					rates = append(rates, 1/o.PerByte)
				}
			}
		}
		latency.add(at, latencies)
		rate.add(at, rates)
	})
	for _, t := range []*timeline{latency, rate} {
		for i, looks := range t.looks {
			t.readings[i].Value = stats.Median(looks)
		}
		if len(t.readings) > 0 {
			f := t.figure()
			f.ID, f.Section = "watch-"+f.ID, "What calib watch has seen"
			out = append(out, f)
		}
	}
	return out, err
}

// add adds the median of a look to those of its day.
func (t *timeline) add(at time.Time, values []float64) {
	if len(values) == 0 {
		return
	}
	if n := len(t.readings); n == 0 || t.readings[n-1].Run != day(at) {
		t.readings, t.looks = append(t.readings, history.Reading{Run: day(at), At: at}), append(t.looks, nil)
	}
	last := &t.looks[len(t.looks)-1]
	*last = append(*last, stats.Median(values))
}
