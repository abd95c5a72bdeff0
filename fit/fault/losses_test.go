package fault

import (
	"math/rand/v2"
	"testing"
)

// path is a cluster of which only losses are looked at. Losses of one queue are bursts.
type path struct {
	hosts, rounds, segments int
	burst                   int64
	loss                    func(a, b, round int) float64 // share of segments
}

// losing is what a screen says of the losses of a cluster, and how many observations had one.
func losing(seed uint64, c path) (j Judgement, lost int) {
	rng, s := rand.New(rand.NewPCG(seed, 7)), New(c.hosts, 0.02)
	for round := range c.rounds {
		var seen []Seen
		for _, p := range s.Next(rng) {
			o := Seen{From: p[0], To: p[1], Segments: int64(c.segments), Latency: 1e-4, PerByte: 1e-9}
			bursts := c.loss(p[0], p[1], round) * float64(c.segments) / float64(c.burst)
			for x := rng.ExpFloat64(); x < bursts; x += rng.ExpFloat64() {
				o.Again += c.burst
			}
			if seen = append(seen, o); o.Again > 0 {
				lost++
			}
		}
		s.Add(seen, 0.25)
		if len(s.rounds)%batch == 0 { // latency and rate, all alike, would take most of the time
			j = Judgement{}
			s.losses(&j)
			s.judged, s.last = len(s.rounds)/batch, j
		}
	}
	return j, lost
}

// A host that loses one of 10,000 segments is seen wherever it has lost any and no other has, and named as often as it
// can be at the stated rate of false alarms. Nothing else is named. Of 46,000 segments 4.6 are lost: none in one of 100
// clusters. That five or more are, which alone prove it among 16 hosts, is so in half of them.
func TestLosses(t *testing.T) {
	host := func(share, all float64) func(a, b, _ int) float64 {
		return func(a, b, _ int) float64 { return all + share*one(has(2, a, b)) }
	}
	pair := func(share, all float64) func(a, b, _ int) float64 {
		return func(a, b, _ int) float64 { return all + share*one(has(2, a, b) && has(1, a, b)) }
	}
	moments := func(_, _, round int) float64 { return 1e-2 * one(round%20 < 2) }
	for _, c := range []struct {
		name  string
		want  []int
		path  path
		named float64 // share of clusters at least
		sure  bool    // what has lost anything is seen
		seeds int
	}{
		{"46,000 segments of a host, 350 at a time", []int{2}, path{16, 129, 350, 1, host(1e-4, 0)}, 0.3, true, 24},
		{"46,000 segments of a host", []int{2}, path{16, 84, 550, 1, host(1e-4, 0)}, 0.3, true, 60},
		{"46,000 segments of a host, 1,900 at a time", []int{2}, path{16, 24, 1900, 1, host(1e-4, 0)}, 0.3, true, 60},
		{"of four hosts", []int{2}, path{4, 84, 550, 1, host(1e-4, 0)}, 0, true, 40},
		{"twice as many", []int{2}, path{16, 168, 550, 1, host(1e-4, 0)}, 0.85, true, 12},
		{"others lose some", []int{2}, path{16, 84, 550, 1, host(1e-4, 1e-6)}, 0.2, false, 40},
		{"in bursts", []int{2}, path{16, 84, 550, 5, host(1e-3, 0)}, 0.85, true, 12},
		{"a host that loses more", []int{2}, path{16, 84, 550, 1, host(1e-3, 1e-4)}, 1, true, 20},
		{"a pair", []int{1, 2}, path{16, 84, 550, 1, pair(1e-3, 0)}, 0.6, true, 40},
		{"a pair of four hosts", []int{1, 2}, path{4, 84, 550, 1, pair(1e-3, 1e-6)}, 0.9, false, 20},
		{"nothing", nil, path{16, 84, 550, 1, host(0, 1e-6)}, 0, false, 60},
		{"nothing: four losses in all", nil, path{16, 84, 550, 1, host(0, 1e-5)}, 0, false, 60},
		{"nothing: four hosts", nil, path{4, 84, 550, 1, host(0, 5e-5)}, 0, false, 40},
		{"congestion", nil, path{16, 84, 550, 1, host(0, 1e-3)}, 0, false, 20},
		{"congestion in bursts", nil, path{16, 84, 550, 8, host(0, 1e-3)}, 0, false, 20},
		{"congestion in moments", nil, path{16, 84, 550, 8, moments}, 0, false, 20},
	} {
		named, missed, accused := 0, 0, 0
		seeds := c.seeds * *runsFlag
		for seed := range seeds {
			j, lost := losing(uint64(seed), c.path)
			seen := lost == 0
			for _, f := range j.Slow {
				if (Found{Hosts: c.want}).same(f) {
					named, seen = named+1, true
				} else {
					accused++
					t.Logf("%s, seed %d: %+v", c.name, seed, f)
				}
			}
			for _, f := range j.Doubtful() {
				seen = seen || has(2, f.Hosts...)
			}
			missed += int(one(!seen))
		}
		t.Logf("%s: %d of %d named, %d not seen, %d accused", c.name, named, seeds, missed, accused)
		if float64(named) < c.named*float64(seeds) || c.sure && missed > 0 || float64(accused) > 0.01*float64(seeds) {
			t.Errorf("%s: %d of %d named, %d not seen, %d others named", c.name, named, seeds, missed, accused)
		}
	}
}

// One loss on a slow path, which carries few segments, puts nobody in doubt.
func TestOneLossOfFew(t *testing.T) {
	once := func(a, b, round int) float64 { return one(round == 3 && has(2, a, b)) / 40 }
	j, lost := losing(1, path{16, 84, 40, 1, once})
	for seed := uint64(2); lost != 1; seed++ {
		j, lost = losing(seed, path{16, 84, 40, 1, once})
	}
	if len(j.Slow)+len(j.Doubtful()) > 0 {
		t.Errorf("%+v, in doubt %+v", j.Slow, j.Doubtful())
	}
}

// Of two hosts nobody can say whether they lose more than others.
func TestLossOfTwo(t *testing.T) {
	j, lost := losing(1, path{2, 84, 550, 1, func(_, _, _ int) float64 { return 1e-4 }})
	if lost == 0 || len(j.Slow)+len(j.Undecided) > 0 {
		t.Errorf("%d lost: %+v, undecided %+v", lost, j.Slow, j.Undecided)
	}
}
