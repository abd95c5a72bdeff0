// Package drifttest draws looks at a simulated cluster whose network has days, weeks, noise and changes, for tests of
// drift. It sends no packets: the numbers of a look are drawn.
package drifttest

import (
	"math"
	"math/rand/v2"
	"time"

	"calib/fit/drift"
	"calib/fit/fault"
)

// Missing is the quantity of a Slowness of a host whose agent does not answer.
const Missing = "missing"

// between is by how much more a message between racks takes, a logarithm.
const between = 0.5

// Slowness is what is wrong for a time. Of the rate of a host, no direction means both.
type Slowness struct {
	drift.Subject
	Ratio    float64 // times what is usual; of fault.Loss the share lost; of fault.Reach and Missing nothing
	From, To time.Time
}

// At reports whether it is so at a time.
func (s Slowness) At(t time.Time) bool { return !t.Before(s.From) && t.Before(s.To) }

func (s Slowness) hits(from, to int) bool {
	a, b := s.Hosts[0], s.Hosts[1]
	switch {
	case s.Size() == 0:
		return true
	case s.Size() == drift.Many:
		out, in := s.In(from), s.In(to)
		return out && !in && s.Direction != fault.Receiving || in && !out && s.Direction != fault.Sending
	case s.Size() == 2 && s.Quantity == fault.Rate:
		return a == from && b == to
	case s.Size() == 2:
		return fault.Pair(a, b) == fault.Pair(from, to)
	}
	return a == from && s.Direction != fault.Receiving || a == to && s.Direction != fault.Sending
}

// walk is noise that is alike for an hour, or a level that changes slowly.
type walk struct{ now, scatter float64 }

func (w *walk) step(rng *rand.Rand, passed time.Duration) float64 {
	keep := math.Exp(-passed.Hours())
	w.now = keep*w.now + math.Sqrt(1-keep*keep)*w.scatter*rng.NormFloat64()
	return w.now
}

// Cluster is a network of hosts. Its numbers of record are those of New; a test may set others before the first look.
type Cluster struct {
	Hosts int
	Slow  []Slowness
	Load  float64 // by how much a working day is slower at noon: each day has its own, weekends a third
	Creep float64 // a month: each subject becomes faster or slower by up to so much
	Rack  int     // hosts in each rack, the first ones in the first; 0 is no racks
	Upset float64 // share of observations that take 10% longer, on average; of looks at a host a tenth of it
	rng   *rand.Rand
	last  time.Time
	day   int64
	peak  float64 // of this day, and by how many hours it is late
	late  float64
	noise [][2]walk    // of the network and then the hosts in latency and rate
	creep [][2]float64 // likewise: by how much it is slower, and by how much more a month
	ways  map[[2]int]float64
	round int
}

// New is a cluster of a 10 Gbit/s Ethernet whose network wanders by 0.4%, its hosts by 0.2%, a pair's numbers by 2%.
func New(hosts int, seed uint64) *Cluster {
	c := &Cluster{Hosts: hosts, Load: 0.04, Creep: 0.009, Upset: 0.005, ways: map[[2]int]float64{},
		rng: rand.New(rand.NewPCG(seed, 0x6472696674))}
	for h := range hosts + 1 {
		scatter := 0.002
		if h == 0 {
			scatter = 0.004
		}
		c.noise = append(c.noise, [2]walk{{0, scatter}, {0, scatter}})
		c.creep = append(c.creep, [2]float64{0, c.rng.Float64()*2 - 1})
	}
	for b := range hosts {
		for a := range b {
			c.ways[[2]int{a, b}] = 0.05 * c.rng.NormFloat64()
		}
	}
	return c
}

// load is by how much the network is slower for what else it does.
func (c *Cluster) load(at time.Time) float64 {
	if d := at.Unix() / 86400; d != c.day {
		c.day, c.late = d, 0.7*c.rng.NormFloat64()
		c.peak = c.Load * math.Exp(0.3*c.rng.NormFloat64())
		if w := at.UTC().Weekday(); w == time.Saturday || w == time.Sunday {
			c.peak /= 3
		}
		if d%30 == 0 {
			for i := range c.creep {
				c.creep[i][1] = c.rng.Float64()*2 - 1
			}
		}
	}
	hour := float64(at.Unix()%86400) / 3600
	return c.peak * math.Max(0, math.Sin((hour-8-c.late)/12*math.Pi))
}

// Look draws a look of some rounds, in each of which hosts form pairs.
func (c *Cluster) Look(at time.Time, rounds int) drift.Look {
	l := drift.Look{At: at}
	load, passed := c.load(at), max(0, at.Sub(c.last))
	c.last = at
	over := make([][2]float64, c.Hosts+1)
	for i := range over {
		c.creep[i][0] += c.Creep * c.creep[i][1] * min(1, passed.Hours()/720)
		upset := c.upset(c.Upset / 10)
		for q := range over[i] {
			over[i][q] = c.noise[i][q].step(c.rng, passed) + c.creep[i][0] + upset
		}
	}
	missing := map[int]bool{}
	for _, s := range c.Slow {
		if s.Quantity == Missing && s.At(at) {
			missing[s.Hosts[0]] = true
			l.Missing = append(l.Missing, s.Hosts[0])
		}
	}
	for range rounds {
		for _, p := range c.pairs() {
			if !missing[p[0]] && !missing[p[1]] {
				way, apart := load+c.ways[fault.Pair(p[0], p[1])], 0.
				if c.Rack > 0 && p[0]/c.Rack != p[1]/c.Rack {
					apart = between
				}
				l.Seen = append(l.Seen, c.seen(at, p, [2]float64{
					way + apart + over[0][0] + over[p[0]+1][0] + over[p[1]+1][0],
					way + over[0][1] + over[p[0]+1][1] + over[p[1]+1][1]}))
			}
		}
	}
	return l
}

func (c *Cluster) upset(share float64) float64 {
	if c.rng.Float64() >= share {
		return 0
	}
	return 0.1 * c.rng.ExpFloat64()
}

// seen draws what a pair sees that takes so much more than usual, a logarithm, in latency and rate.
func (c *Cluster) seen(at time.Time, p [2]int, over [2]float64) fault.Seen {
	upset, loss := c.upset(c.Upset), 1e-5
	s := fault.Seen{From: p[0], To: p[1], Segments: 600,
		Latency: 50e-6 * math.Exp(over[0]+upset+0.02*c.rng.NormFloat64()),
		PerByte: 0.8e-9 * math.Exp(over[1]+upset+0.015*c.rng.NormFloat64())}
	for _, x := range c.Slow {
		if !x.At(at) || !x.hits(p[0], p[1]) {
			continue
		}
		switch x.Quantity {
		case fault.Latency:
			s.Latency *= x.Ratio
		case fault.Rate:
			s.PerByte *= x.Ratio
		case fault.Loss:
			loss += x.Ratio
		case fault.Reach:
			s.Failed = true
		}
	}
	for lost := c.rng.ExpFloat64(); lost < loss*float64(s.Segments); lost += c.rng.ExpFloat64() {
		s.Again++
	}
	return s
}

// pairs are those of the next round, by the circle method: the first one sends.
func (c *Cluster) pairs() (out [][2]int) {
	n := c.Hosts - 1 + c.Hosts%2
	k, swap := c.round%n, c.round/n%2
	c.round++
	for i := range (c.Hosts + 1) / 2 {
		p := [2]int{(k + i) % n, (k - i + n) % n}
		if i == 0 {
			if p[1] = c.Hosts - 1; c.Hosts%2 == 1 {
				continue
			}
		}
		out = append(out, [2]int{p[swap], p[1-swap]})
	}
	return out
}
