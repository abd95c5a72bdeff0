package drift

import (
	"cmp"
	"math"
	"slices"
	"time"

	"calib/fit/fault"
	"calib/internal/stats"
)

// visit is a Look, small: fortnights of them are kept.
type visit struct {
	at  time.Time
	obs []obs
}

type obs struct {
	from, to            int32
	segments, again     int32
	latency, perByte    float32 // logarithms
	latencies, perBytes bool    // they are known
}

func visitOf(l Look) visit {
	v := visit{at: l.At, obs: make([]obs, 0, len(l.Seen))}
	for _, s := range l.Seen {
		if s.Failed {
			continue
		}
		v.obs = append(v.obs, obs{int32(s.From), int32(s.To), int32(s.Segments), int32(s.Again),
			float32(math.Log(s.Latency)), float32(math.Log(s.PerByte)), s.Latency > 0, s.PerByte > 0})
	}
	return v
}

// usual is what is usual.
type usual struct {
	made time.Time
	ways map[Subject]float64 // logarithm of what a pair takes
	hour map[Subject]*[24]float64
	of   map[Subject]*sample
}

// due reports whether the usual is to be learnt, first or again.
func (w *Watch) due(now time.Time) bool {
	if w.usual == nil {
		return now.Sub(w.visits[0].at) >= w.Learn
	}
	since := now.Sub(w.usual.made)
	return since >= min(day, w.Learn) || since < 0
}

// learn says what was usual, until a day ago or a quarter of the time: what has just changed is not usual yet.
func (w *Watch) learn(now time.Time) *usual {
	u := &usual{made: now, ways: map[Subject]float64{}, hour: map[Subject]*[24]float64{}, of: map[Subject]*sample{}}
	span := now.Sub(w.visits[0].at)
	until := now.Add(-min(day, span/4))
	var past []visit
	for _, v := range w.visits {
		if v.at.Before(until) && now.Sub(v.at) <= fortnight {
			past = append(past, visit{v.at, slices.DeleteFunc(slices.Clone(v.obs), func(o obs) bool {
				return w.unusual(v.at, o)
			})})
		}
	}
	ways := map[Subject][]float64{}
	for _, v := range past {
		for _, o := range v.obs {
			for _, r := range o.readings() {
				ways[r.Subject] = append(ways[r.Subject], r.value)
			}
		}
	}
	for s, all := range ways {
		if len(all) >= least/4 {
			u.ways[s] = stats.Median(all)
		}
	}
	seen := map[Subject][]float64{}
	var at map[Subject][]time.Time // of the network's
	for pass := range 2 {
		clear(seen)
		at = map[Subject][]time.Time{}
		for _, v := range past {
			for s, x := range u.values(v) {
				seen[s] = append(seen[s], x)
				if s.Size() == 0 {
					at[s] = append(at[s], v.at)
				}
			}
		}
		if pass == 0 {
			for s, times := range at {
				if span >= 2*day+day/2 && s.Quantity != fault.Loss {
					u.hour[s] = hours(times, seen[s])
				}
			}
		}
		if len(u.hour) == 0 {
			break
		}
	}
	for s, all := range seen {
		margin := w.Margin
		if s.Quantity == fault.Loss {
			margin = lossMargin
		}
		// A network has days: some are seen before one is judged.
		if len(all) >= least && (s.Size() > 0 || span >= 3*w.Learn) {
			u.of[s] = newSample(all, margin)
		}
	}
	return u
}

// hours are the medians of the values by the hour of the day, 0 where there are few.
func hours(at []time.Time, values []float64) *[24]float64 {
	var by [24][]float64
	for i, t := range at {
		h := t.UTC().Hour()
		by[h] = append(by[h], values[i])
	}
	var out [24]float64
	for h := range by {
		if len(by[h]) >= 4 {
			out[h] = stats.Median(by[h])
		}
	}
	return &out
}

// unusual reports whether an observation was of something that had changed, or has become usual only since.
func (w *Watch) unusual(at time.Time, o obs) bool {
	return slices.ContainsFunc(w.changes, func(c Change) bool {
		if !c.covers(int(o.from), int(o.to)) || c.Quantity == fault.Reach {
			return false
		}
		if c.Usual {
			return at.Before(c.Since)
		}
		return !at.Before(c.Since) && (c.open() || at.Before(c.Over))
	})
}

type reading struct {
	Subject
	value float64
}

// readings are what an observation says of its pair.
func (o obs) readings() (out []reading) {
	from, to := int(o.from), int(o.to)
	if o.latencies {
		out = append(out, reading{Subject{fault.Pair(from, to), fault.Latency, ""}, float64(o.latency)})
	}
	if o.perBytes {
		out = append(out, reading{Subject{[2]int{from, to}, fault.Rate, ""}, float64(o.perByte)})
	}
	return out
}

// common is which share of the pairs of a look, or of a host, may be slow for reasons of their own at least.
const common = 0.25

// values are what a look says of all subjects, beside what is usual for pairs.
func (u *usual) values(v visit) map[Subject]float64 {
	out := map[Subject]float64{}
	over := map[string][]reading{} // by quantity
	for _, o := range v.obs {
		for _, r := range o.readings() {
			if usual, ok := u.ways[r.Subject]; ok {
				over[r.Quantity] = append(over[r.Quantity], reading{r.Subject, r.value - usual})
			}
		}
	}
	for quantity, all := range over {
		whole := quantile(all, common)
		hosts := map[Subject][]reading{}
		for i := range all {
			all[i].value -= whole
			for k, h := range all[i].Hosts {
				s := Host(h, quantity, direction(quantity, k))
				hosts[s] = append(hosts[s], all[i])
			}
		}
		network := Network(quantity)
		if by := u.hour[network]; by != nil {
			whole -= by[v.at.UTC().Hour()]
		}
		out[network] = whole
		for s, own := range hosts {
			if len(own) > 1 {
				out[s] = quantile(own, common)
			}
		}
		pairs := map[Subject][]reading{}
		for _, r := range all {
			part := 0.
			for k, h := range r.Hosts {
				part = max(part, out[Host(h, quantity, direction(quantity, k))])
			}
			pairs[r.Subject] = append(pairs[r.Subject], reading{r.Subject, r.value - part})
		}
		for s, own := range pairs {
			out[s] = quantile(own, 0.5)
		}
	}
	losses(v, out)
	return out
}

// direction is that of the first or second host of a rate.
func direction(quantity string, k int) string {
	switch {
	case quantity != fault.Rate:
		return ""
	case k == 0:
		return fault.Sending
	}
	return fault.Receiving
}

func quantile(all []reading, q float64) float64 {
	v := make([]float64, len(all))
	for i, r := range all {
		v[i] = r.value
	}
	slices.Sort(v)
	return stats.SortedQuantile(v, q)
}

// losses adds the shares of segments that were sent again: of the network, of a host without the partner with which it
// lost most, and of pairs, beside that of the network.
func losses(v visit, out map[Subject]float64) {
	type count struct{ again, segments float64 }
	var all count
	pairs, hosts := map[[2]int]count{}, map[int]count{}
	for _, o := range v.obs {
		c := count{float64(o.again), float64(o.segments)}
		add := func(t count) count { return count{t.again + c.again, t.segments + c.segments} }
		p := fault.Pair(int(o.from), int(o.to))
		all, pairs[p] = add(all), add(pairs[p])
		for _, h := range p {
			hosts[h] = add(hosts[h])
		}
	}
	if all.segments == 0 {
		return
	}
	whole := all.again / all.segments
	out[Network(fault.Loss)] = whole
	without := map[int]count{}
	for p, c := range pairs {
		if c.segments > 0 {
			out[Subject{p, fault.Loss, ""}] = c.again/c.segments - whole
		}
		for _, h := range p {
			if w, ok := without[h]; !ok || cmp.Compare(c.again, w.again) > 0 {
				without[h] = c
			}
		}
	}
	for h, c := range hosts {
		if n := c.segments - without[h].segments; n > 0 {
			out[Host(h, fault.Loss, "")] = (c.again-without[h].again)/n - whole
		}
	}
}
