package history

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"calib/internal/history"
	"calib/internal/hosts"
	"calib/internal/lists"
	"calib/internal/stats"
	"calib/params"
)

// Settings of the search for changes of level.
const (
	minSegment = 5    // runs between two changes
	minEffect  = 0.05 // shift of the median
	ackReach   = 5    // runs between a change and the run of an acknowledgement that covers it
)

// A cluster of 64 hosts has 8,064 series of links. Where there are more readings of links than maxLinkReadings, links
// are searched in fewer of the newest runs, but in minLinkRuns at least.
const (
	maxLinkReadings = 200_000
	minLinkRuns     = 40
)

type timeline struct {
	cluster  string      // its hosts, where the runs are of several; "" elsewhere
	each     string      // of its readings; "" is a run
	looks    [][]float64 // of each day
	metric   history.Followed
	readings []history.Reading
	changes  []change
}

// searchable reports whether there are readings enough to find a change.
func (t *timeline) searchable() bool { return len(t.readings) >= 2*minSegment }

type survey struct {
	runs           []history.Entry   // oldest first
	network, links []*timeline       // that have readings in them
	linkRuns       int               // the newest so many runs in which links were searched
	cluster        map[string]string // of runs, by their IDs: its hosts; nil where all are of one
}

// part says of which cluster each run is, and returns the clusters: each by the hosts of its newest run, "" where there
// is only one.
func (v *survey) part(hostsOf map[string][]string) []string {
	var newest [][]string
	of := map[string]string{}
	for _, r := range slices.Backward(v.runs) {
		own := hostsOf[r.ID]
		i := slices.IndexFunc(newest, func(other []string) bool { return history.SameCluster(own, other) })
		if i < 0 {
			i, newest = len(newest), append(newest, own)
		}
		of[r.ID] = hosts.Fold(newest[i])
	}
	if len(newest) < 2 {
		return []string{""}
	}
	v.cluster = of
	return lists.Map(newest, hosts.Fold)
}

func surveyRuns(ctx context.Context, s *history.Store, f history.Filter, of []history.Followed) (*survey, error) {
	runs, err := s.List(ctx, f)
	acks, other := s.Acks(ctx)
	hostsOf, failed := s.Hosts(ctx, f)
	v := &survey{runs: runs}
	if err = cmp.Or(err, other, failed); err != nil || len(runs) == 0 {
		return v, err
	}
	clusters := v.part(hostsOf)
	// search reads and searches metrics in the newest runs, side by side. Those without a reading there are left out.
	search := func(of []history.Followed, runs []history.Entry) ([]*timeline, error) {
		f.Last, f.Since = len(runs), runs[0].Started
		out := make([][]*timeline, len(of))
		searches, ctx := errgroup.WithContext(ctx)
		searches.SetLimit(runtime.GOMAXPROCS(0))
		for i, m := range of {
			searches.Go(func() error {
				if m.Last.Before(f.Since) {
					return nil
				}
				all, err := s.Series(ctx, f, m)
				for _, name := range clusters {
					t := &timeline{cluster: name, metric: m}
					t.readings = sameSizes(lists.Where(all, func(r history.Reading) bool { return v.cluster[r.Run] == name }))
					t.search(lists.Where(acks, func(a history.Ack) bool { return cmp.Or(v.cluster[a.Run], name) == name }))
					out[i] = append(out[i], t)
				}
				return err
			})
		}
		err := searches.Wait()
		return slices.DeleteFunc(slices.Concat(out...), func(t *timeline) bool { return len(t.readings) == 0 }), err
	}
	network := lists.Where(of, func(m history.Followed) bool { return m.Link() == "" })
	links := lists.Where(of, func(m history.Followed) bool { return m.Link() != "" })
	v.linkRuns = linkWindow(len(runs), len(links))
	v.network, err = search(network, runs)
	v.links, other = search(links, runs[len(runs)-v.linkRuns:])
	return v, cmp.Or(err, other)
}

// sameSizes keeps the readings that were fitted to the same message sizes as the last one: others are another number.
func sameSizes(all []history.Reading) []history.Reading {
	last := ""
	if n := len(all); n > 0 {
		last = all[n-1].Sizes
	}
	return slices.DeleteFunc(all, func(r history.Reading) bool {
		return r.Sizes != "" && last != "" && r.Sizes != last
	})
}

// linkWindow returns in how many of n runs so many links are searched.
func linkWindow(n, links int) int {
	if links*n <= maxLinkReadings {
		return n
	}
	return min(max(maxLinkReadings/links, minLinkRuns), n)
}

// search finds the changes of level. Equal readings give equal changes: the metric's name seeds the permutations.
func (t *timeline) search(acks []history.Ack) {
	h := fnv.New64a()
	h.Write([]byte(t.metric.Name + "\x00" + t.metric.Link())) // a hash never fails
	options := stats.ChangeOptions{Segment: minSegment, Effect: minEffect, Seed: h.Sum64()}
	t.changes = lists.Map(stats.EDivisive(t.values(), options), t.change)
	t.acknowledge(acks)
}

// acknowledge gives each change the last acknowledgement that covers it: of a run within ackReach of the change.
func (t *timeline) acknowledge(acks []history.Ack) {
	for i := range t.changes {
		c := &t.changes[i]
		from, to := max(c.index-ackReach, 0), min(c.index+ackReach, len(t.readings)-1)
		for k, a := range acks {
			if a.Covers(t.metric) && !a.At.Before(t.readings[from].At) && !a.At.After(t.readings[to].At) {
				c.Ack = &acks[k]
			}
		}
	}
}

// largest is the largest share of a change, 0 where there is none.
func (t *timeline) largest() (most float64) {
	for _, c := range t.changes {
		most = max(most, c.size())
	}
	return most
}

// pick returns n timelines, those of the largest changes, in the order in which they were.
func pick(all []*timeline, n int) []*timeline {
	by := slices.Clone(all)
	slices.SortStableFunc(by, func(a, b *timeline) int { return cmp.Compare(b.largest(), a.largest()) })
	by = by[:min(n, len(by))]
	return lists.Where(all, func(t *timeline) bool { return slices.Contains(by, t) })
}

func changed(all []*timeline) []*timeline {
	return lists.Where(all, func(t *timeline) bool { return len(t.changes) > 0 })
}

func (v *survey) changes() []change {
	of := func(t *timeline) []change { return t.changes }
	out := append([]change{}, lists.Flat(slices.Concat(v.network, v.links), of)...)
	slices.SortStableFunc(out, func(a, b change) int { return b.At.Compare(a.At) })
	return out
}

// change is a change point of t as it is printed. An infinite share, from 0, stays out.
func (t *timeline) change(p stats.ChangePoint) change {
	r := t.readings[p.Index]
	out := change{Metric: t.metric.Name, Hosts: t.cluster, From: t.metric.From, To: t.metric.To, Unit: t.metric.Unit,
		Run: r.Run, At: r.At, Before: p.Before, After: p.After, P: p.P,
		Verdict: verdictOf(t.metric.Better, p.Before, p.After), index: p.Index}
	if !math.IsInf(p.Effect, 0) && !math.IsNaN(p.Effect) {
		out.Share = &p.Effect
	}
	return out
}

func verdictOf(better string, before, after float64) string {
	switch {
	case better == params.BetterNeither || before == after:
		return ""
	case (after < before) == (better == params.BetterLower):
		return "better"
	}
	return "worse"
}
