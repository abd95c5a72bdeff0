package history

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"calib/fit/fault"
	"calib/internal/history"
	"calib/internal/hosts"
	"calib/internal/stats"
	"calib/reports/figure"
	"calib/run/watch"
)

const eachDay = "day"

// watched draws what calib watch has seen of each cluster, by days: of a link, or the medians of all. Nothing where
// runs or their numbers were chosen.
func watched(c *cli.Context, s *history.Store, f history.Filter) (out []figure.Figure, err error) {
	from, to, ok := hostsOf(c.String("link"))
	if c.IsSet("metric") || f.Label != "" || f.Plan != "" || !ok && c.String("link") != "" {
		return nil, nil
	}
	var clusters [][]string // by the hosts of their newest looks
	var all []*timeline     // two of each
	err = watch.Each(c.Context, s, f.Since, func(at time.Time, hosts []string, seen []fault.Seen) {
		i := slices.IndexFunc(clusters, func(of []string) bool { return history.SameCluster(of, hosts) })
		if i < 0 {
			i, clusters = len(clusters), append(clusters, nil)
			latency := history.Followed{Name: "latency", From: from, To: to, Unit: "s"}
			rate := history.Followed{Name: "rate", From: from, To: to, Unit: "B/s"}
			all = append(all, &timeline{each: eachDay, metric: latency}, &timeline{each: eachDay, metric: rate})
		}
		clusters[i] = hosts
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
		all[2*i].add(at, latencies)
		all[2*i+1].add(at, rates)
	})
	for k, t := range all {
		for i, looks := range t.looks {
			t.readings[i].Value = stats.Median(looks)
		}
		if len(t.readings) > 0 {
			if len(clusters) > 1 {
				t.cluster = hosts.Fold(clusters[k/2])
			}
			f := t.figure()
			f.ID, f.Section = "watch-"+f.ID, "What calib watch has seen"+ofCluster(t.cluster)
			out = append(out, f)
		}
	}
	figure.Unique(out)
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
