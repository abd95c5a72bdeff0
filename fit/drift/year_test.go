package drift

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"calib/fit/fault"
)

var (
	days  = flag.Int("days", 20, "days of simulated time")
	seeds = flag.Int("seeds", 1, "simulated years")
)

// cluster draws looks at hosts whose network has days, noise, and changes.
type cluster struct {
	hosts   int
	rng     *rand.Rand
	network walk
	host    []walk
	slow    []slowness
	dead    []slowness
	round   int
	loss    float64
	ways    map[[2]int]float64 // by which pairs differ
}

// walk is noise that is alike from look to look.
type walk struct{ now, scatter, keep float64 }

func (w *walk) step(rng *rand.Rand) float64 {
	w.now = w.keep*w.now + math.Sqrt(1-w.keep*w.keep)*w.scatter*rng.NormFloat64()
	return w.now
}

// slowness is a change that is injected.
type slowness struct {
	Subject
	ratio    float64
	from, to time.Time
}

const every = 180 * time.Second

func newCluster(hosts int, seed uint64) *cluster {
	c := &cluster{hosts: hosts, rng: rand.New(rand.NewPCG(seed, 7)), network: walk{0, 0.004, 0.95},
		ways: map[[2]int]float64{}, loss: 1e-5}
	for range hosts {
		c.host = append(c.host, walk{0, 0.002, 0.95})
	}
	for b := range hosts {
		for a := range b {
			c.ways[[2]int{a, b}] = 0.05 * c.rng.NormFloat64()
		}
	}
	return c
}

func (c *cluster) look(at time.Time) Look {
	l := Look{At: at}
	hour := float64(at.Unix()%86400) / 3600
	load := 0.04*math.Max(0, math.Sin((hour-8)/12*math.Pi)) + c.network.step(c.rng)
	part := make([]float64, c.hosts)
	for h := range part {
		part[h] = c.host[h].step(c.rng)
	}
	for range 6 {
		n := c.hosts - 1 + c.hosts%2
		k := c.round % n
		swap := c.round/n%2 == 1
		c.round++
		for i := range (c.hosts + 1) / 2 {
			a, b := (k+i)%n, (k-i+n)%n
			if i == 0 {
				if b = c.hosts - 1; c.hosts%2 == 1 {
					continue
				}
			}
			if swap {
				a, b = b, a
			}
			p := fault.Pair(a, b)
			over := load + part[a] + part[b] + c.ways[p]
			s := fault.Seen{From: a, To: b, Latency: 50e-6 * math.Exp(over+0.02*c.rng.NormFloat64()+0.3*math.Max(0, c.rng.NormFloat64()-3)),
				PerByte: 0.8e-9 * math.Exp(over+0.015*c.rng.NormFloat64()), Segments: 600}
			for _, x := range c.slow {
				if !at.Before(x.from) && at.Before(x.to) && x.covers(a, b) {
					switch {
					case x.Quantity == fault.Latency:
						s.Latency *= x.ratio
					case x.Quantity == fault.Rate:
						if x.Direction == "" && (x.Size() != 2 || x.Hosts[0] == a) || x.Direction == fault.Sending && x.Hosts[0] == a ||
							x.Direction == fault.Receiving && x.Hosts[0] == b {
							s.PerByte *= x.ratio
						}
					}
				}
			}
			for _, x := range c.dead {
				s.Failed = s.Failed || !at.Before(x.from) && at.Before(x.to) && x.covers(a, b)
			}
			loss := c.loss
			for range s.Segments {
				if c.rng.Float64() < loss {
					s.Again++
				}
			}
			l.Seen = append(l.Seen, s)
		}
	}
	return l
}

func TestYear(t *testing.T) {
	for seed := range *seeds {
		c := newCluster(8, uint64(seed))
		begun := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		at := func(d float64) time.Time { return begun.Add(time.Duration(d * float64(day))) }
		forever := at(1e4)
		_ = forever
		c.slow = []slowness{
			{Host(3, fault.Rate, fault.Sending), 1.10, at(6.2), at(9)},
			{Host(5, fault.Latency, ""), 1.01, at(11), at(13)},
			{Subject{[2]int{1, 4}, fault.Rate, ""}, 1.10, at(14), at(15)},
			{Network(fault.Rate), 1.02, at(17), at(19)},
		}
		c.dead = []slowness{{Subject: Subject{[2]int{2, 6}, fault.Reach, ""}, from: at(8), to: at(8.1)}}
		w := New(Options{Learn: day, Margin: 0.005, Yearly: float64(365 * day / every), False: 1}, nil)
		for now := begun; now.Before(at(float64(*days))); now = now.Add(every) {
			began, ended := w.Add(c.look(now))
			for _, b := range began {
				fmt.Printf("%d day %.2f began %v since day %.2f ×%.3f [%.3f %.3f] 10^%.1f\n", seed, now.Sub(begun).Hours()/24, b.Subject, b.Since.Sub(begun).Hours()/24, b.Ratio, b.CI[0], b.CI[1], b.Evidence)
			}
			for _, b := range ended {
				fmt.Printf("%d day %.2f ended %v since %.2f over %.2f usual %v\n", seed, now.Sub(begun).Hours()/24, b.Subject, b.Since.Sub(begun).Hours()/24, b.Over.Sub(begun).Hours()/24, b.Usual)
			}
		}
		tough := map[int][]float64{}
		for s, of := range w.usual.of {
			tough[s.Size()] = append(tough[s.Size()], of.tough)
			if s.Size() < 2 {
				fmt.Printf("%v tough %.2f n %d offset %.4f\n", s, of.tough, len(of.sorted), of.offset)
			}
		}
	}
}
