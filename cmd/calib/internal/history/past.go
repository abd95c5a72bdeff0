package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/urfave/cli/v2"

	"calib/internal/history"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
	"calib/reports"
	"calib/reports/html"
	"calib/run"
)

// PageOf is what the page of the run p in dir has beside p: timelines of its parameters over all runs of its plan, if
// the run is in the history, and changes since a baseline. It is no error that there is no history.
func PageOf(c *cli.Context, dir string, p *params.Params) (out html.Options, err error) {
	out.Dir = dir
	err = WithStore(c, false, func(s *history.Store) error {
		if out.Since, err = since(c.Context, s, p); err != nil {
			return err
		}
		e, err := s.Find(c.Context, p.Run.ID)
		if errors.Is(err, history.ErrNotFound) || errors.Is(err, history.ErrAmbiguous) || err == nil && e.ID != p.Run.ID {
			return nil
		}
		all, other := s.Followed(c.Context)
		if err = cmp.Or(err, other); err != nil {
			return err
		}
		of := slices.DeleteFunc(all, func(f history.Followed) bool {
			_, ok := p.Parameters[f.Name]
			return !ok || f.Link() != ""
		})
		v, err := surveyRuns(c.Context, s, history.Filter{Last: plottedRuns, Plan: e.Plan}, of)
		if err == nil {
			out.History = figuresOf(lists.Where(v.network, func(t *timeline) bool { return t.cluster == v.cluster[e.ID] }))
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return out, err
}

// Paged is PageOf for a run that is being fitted, also after an interrupt. A history that cannot be read is noted.
func Paged(c *cli.Context, note func(string)) run.Page {
	return func(dir string, p *params.Params) html.Options {
		own := *c
		own.Context = context.WithoutCancel(c.Context)
		out, err := PageOf(&own, dir, p)
		if err != nil {
			note("without the history: " + err.Error())
		}
		return out
	}
}

// Usual is what the newest baseline on the same hosts has: medians over its runs.
type Usual struct {
	Baseline      string
	Latency, Rate float64 // of all pairs [s], and of long messages [B/s]; NaN where it has none
}

// UsualOf looks for a baseline of some hosts, in any order; nil where there is none.
func UsualOf(c *cli.Context, hosts []string) (out *Usual, err error) {
	err = WithStore(c, false, func(s *history.Store) error {
		baseline, runs, err := newest(c.Context, s, func(p *params.Params) bool {
			return sameHosts(p.Run.Hosts, hosts)
		})
		if len(runs) == 0 {
			return err
		}
		var latencies, rates []float64
		for _, p := range runs {
			of := lists.Where(p.Pairs, func(q params.Pair) bool { return q.LatencyBytes <= 1 })
			if pairs := reports.PairValues(of, reports.LatencyOf); len(pairs) > 0 {
				latencies = append(latencies, stats.Median(pairs))
			}
			stream := 0.
			for _, s := range p.Streams() {
				if len(s.Points) > 0 && s.Points[0].X == 1 && s.Points[0].Measured > 0 {
					stream = 1 / s.Points[0].Measured
				}
			}
			if q := p.Parameters["r_inf"]; stream > 0 { // a check has streams
				rates = append(rates, stream)
			} else if q.Value != nil {
				rates = append(rates, *q.Value)
			}
		}
		out = &Usual{baseline, stats.Median(latencies), stats.Median(rates)}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return out, err
}

func sameHosts(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// newest returns the newest baseline that has some of the runs that are wanted, with these; no runs where none has. A
// run before an acknowledged change is not wanted.
func newest(ctx context.Context, s *history.Store, wanted func(*params.Params) bool) (baseline string,
	runs []*params.Params, err error) {
	all, err := s.Baselines(ctx)
	acks, other := s.Acks(ctx)
	if err = cmp.Or(err, other); err != nil {
		return "", nil, err
	}
	slices.SortStableFunc(all, func(a, b history.Baseline) int { return b.Made.Compare(a.Made) })
	for _, b := range all {
		of, _, err := runsOf(ctx, s, b, acks)
		if err != nil {
			return "", nil, err
		}
		for _, r := range of {
			if !r.Used {
				continue
			}
			p, _, err := s.Read(ctx, r.ID)
			if err != nil {
				return "", nil, err
			}
			if wanted(p) {
				runs = append(runs, p)
			}
		}
		if len(runs) > 0 {
			return b.Name, runs, nil
		}
	}
	return "", nil, nil
}

const changesShown = 8 // since a baseline

// since holds the numbers of p against the medians of the newest baseline that has other runs on the same hosts, and
// lists the largest changes. It has no rows without such a baseline.
func since(ctx context.Context, s *history.Store, p *params.Params) (t reports.Table, err error) {
	baseline, runs, err := newest(ctx, s, func(q *params.Params) bool {
		return q.Run.ID != p.Run.ID && sameHosts(q.Run.Hosts, p.Run.Hosts)
	})
	was := map[string][]float64{}
	key := func(m params.Metric) string { return m.Name + " " + m.Sizes } // of other sizes it is another number
	for _, q := range runs {
		for _, m := range q.Metrics() {
			if m.Link() == "" && m.Status == params.StatusOK {
				was[key(m)] = append(was[key(m)], m.Value)
			}
		}
	}
	now := slices.DeleteFunc(p.Metrics(), func(m params.Metric) bool {
		return m.Link() != "" || m.Status != params.StatusOK || m.Better == params.BetterNeither ||
			!(stats.Median(was[key(m)]) > 0)
	})
	if len(now) == 0 {
		return t, err
	}
	change := func(m params.Metric) float64 { return m.Value/stats.Median(was[key(m)]) - 1 }
	slices.SortStableFunc(now, func(a, b params.Metric) int {
		return cmp.Compare(math.Abs(change(b)), math.Abs(change(a)))
	})
	t.Title = fmt.Sprintf("Largest changes since baseline %s (%s)", baseline, units.Plural(len(runs), "run"))
	t.Grid = reports.NewGrid("parameter/symbol", "change", "baseline, median", "now", "/words")
	for _, m := range now[:min(len(now), changesShown)] {
		all, beyond := was[key(m)], ""
		if m.Value < slices.Min(all) || m.Value > slices.Max(all) {
			beyond = "outside its range"
		}
		t.Add(m.Name, fmt.Sprintf("%+.1f%%", 100*change(m)), units.Format(stats.Median(all), m.Unit),
			units.Format(m.Value, m.Unit), beyond)
	}
	return t, nil
}
