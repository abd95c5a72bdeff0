package fault

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// cluster observes pairs of hosts: latency and time per byte of each, with noise.
type cluster struct {
	rng     *rand.Rand
	latency func(a, b, round int) float64 // how many times the usual
	perByte func(from, to, round int) float64
	loss    func(a, b int) float64 // share of observations with a loss
	fails   func(a, b int) bool
	noise   float64
	took    float64 // s, of a round
	heavy   float64 // share of observations that take up to three times as long
}

func (c cluster) see(p [2]int, round int) Seen {
	one := func(v float64) float64 {
		v *= math.Exp(c.noise * c.rng.NormFloat64())
		if c.rng.Float64() < c.heavy {
			v *= 1 + 2*c.rng.Float64()
		}
		return v
	}
	s := Seen{From: p[0], To: p[1], Segments: 5000, Latency: one(1e-4), PerByte: one(1e-9)}
	if c.latency != nil {
		s.Latency *= c.latency(p[0], p[1], round)
	}
	if c.perByte != nil {
		s.PerByte *= c.perByte(p[0], p[1], round)
	}
	if c.loss != nil && c.rng.Float64() < c.loss(p[0], p[1]) {
		s.Again = 1
	}
	s.Failed = c.fails != nil && c.fails(p[0], p[1])
	return s
}

// screened is what a screen says of a cluster, and after how many rounds.
func screened(hosts, least, most int, seed uint64, c cluster) Judgement {
	c.rng, c.took = rand.New(rand.NewPCG(seed, 7)), cmp.Or(c.took, 0.5)
	s := New(hosts, 0.02)
	for round := range most {
		var seen []Seen
		for _, p := range s.Next(c.rng) {
			seen = append(seen, c.see(p, round))
		}
		s.Add(seen, c.took)
		if round >= least && s.Done() {
			break
		}
	}
	return s.Judge()
}

func has(h int, hosts ...int) bool { return slices.Contains(hosts, h) }

// Healthy clusters are accused of nothing, quiet or noisy.
func TestHealthy(t *testing.T) {
	accused, runs := 0, 0
	for seed := range uint64(10) {
		for _, hosts := range []int{4, 5, 16} {
			for _, c := range []cluster{{noise: 0.01}, {noise: 0.1}, {noise: 0.05, heavy: 0.1},
				{noise: 0.01, heavy: 0.02, loss: func(int, int) float64 { return 0.2 }}} {
				runs++
				if j := screened(hosts, 0, 60, seed, c); len(j.Slow) > 0 {
					accused++
					t.Logf("%d hosts, seed %d: %+v", hosts, seed, j.Slow)
				}
			}
		}
	}
	if float64(accused) > 0.01*float64(runs) {
		t.Errorf("%d of %d healthy clusters are accused", accused, runs)
	}
}

var runsFlag = flag.Int("runs", 1, "how many clusters of each size and noise TestHealthyMany checks")

// Healthy clusters of many hosts are accused of nothing: -args -runs 25 checks 200 of them in half an hour.
func TestHealthyMany(t *testing.T) {
	accused, runs := 0, 0
	for seed := range uint64(*runsFlag) {
		for _, hosts := range []int{256, 1000} {
			for _, c := range []cluster{{noise: 0.01}, {noise: 0.1}, {noise: 0.05, heavy: 0.1},
				{noise: 0.02, loss: func(int, int) float64 { return 0.01 }}} {
				if *runsFlag == 1 && (hosts > 256 || c.noise != 0.05) {
					continue // a second, for every day
				}
				runs++
				c.took = 0.2
				if j := screened(hosts, 93, 94, seed, c); len(j.Slow) > 0 {
					accused++
					t.Logf("%d hosts, noise %g, seed %d: %+v", hosts, c.noise, seed, j.Slow)
				}
			}
		}
	}
	t.Logf("%d of %d clusters accused", accused, runs)
	if float64(accused) > 0.01*float64(runs) {
		t.Errorf("%d of %d healthy clusters are accused", accused, runs)
	}
}

// What is at fault is named, and nothing else.
func TestFaults(t *testing.T) {
	both := func(a, b int, x, y int) bool { return a == x && b == y || a == y && b == x }
	for _, c := range []struct {
		name     string
		hosts    int
		rounds   int
		cluster  cluster
		want     [][]int
		quantity string
		way      string
	}{
		{"a slow host", 16, 60, cluster{noise: 0.02, latency: func(a, b, _ int) float64 { return 1 + 0.1*one(has(5, a, b)) }},
			[][]int{{5}}, Latency, ""},
		{"a slow host of four", 4, 120, cluster{noise: 0.02,
			latency: func(a, b, _ int) float64 { return 1 + 0.2*one(has(2, a, b)) }}, [][]int{{2}}, Latency, ""},
		{"two slow hosts", 16, 60, cluster{noise: 0.02, latency: func(a, b,
			_ int) float64 {
			return (1 + 0.1*one(has(5, a, b))) * (1 + 0.15*one(has(9, a, b)))
		}},
			[][]int{{9}, {5}}, Latency, ""},
		{"a slow pair", 16, 90, cluster{noise: 0.02, perByte: func(a, b,
			_ int) float64 {
			return 1 + 0.3*one(both(a, b, 3, 8))
		}}, [][]int{{3, 8}}, Rate, ""},
		{"a host slow in sending", 16, 60, cluster{noise: 0.02,
			perByte: func(from, _, _ int) float64 { return 1 + 0.3*one(from == 4) }}, [][]int{{4}}, Rate, Sending},
		{"a host slow in receiving", 16, 60, cluster{noise: 0.02,
			perByte: func(_, to, _ int) float64 { return 1 + 0.3*one(to == 4) }}, [][]int{{4}}, Rate, Receiving},
		{"a host with losses", 16, 60, cluster{noise: 0.02, loss: func(a, b int) float64 { return 0.4 * one(has(7, a, b)) }},
			[][]int{{7}}, Loss, ""},
		{"a dead pair", 16, 90, cluster{noise: 0.02, fails: func(a, b int) bool { return both(a, b, 1, 2) }}, [][]int{{1, 2}},
			Reach, ""},
		{"a host that comes and goes", 16, 240, cluster{noise: 0.02,
			latency: func(a, b, r int) float64 { return 1 + one(has(5, a, b) && r%40 < 8) }}, [][]int{{5}}, Latency, ""},
		{"a host that comes and goes in sending", 16, 240,
			cluster{noise: 0.03, took: 0.25, perByte: func(from, _, r int) float64 { return 1 + one(from == 5 && r%40 < 8) }},
			[][]int{{5}}, Rate, ""},
		{"a host of many", 300, 30, cluster{noise: 0.02,
			latency: func(a, b, _ int) float64 { return 1 + 0.1*one(has(77, a, b)) }}, [][]int{{77}}, Latency, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(10) {
				j := screened(c.hosts, c.rounds/2, c.rounds, seed, c.cluster)
				var named [][]int
				for _, f := range j.Slow {
					hosts := slices.Clone(f.Hosts)
					slices.Sort(hosts)
					named = append(named, hosts)
				}
				if fmt.Sprint(named) != fmt.Sprint(c.want) && fmt.Sprint(named) != fmt.Sprint(reversed(c.want)) {
					t.Errorf("seed %d, %d rounds: %+v, in doubt %+v", seed, j.Rounds, j.Slow, j.Doubtful())
					continue
				}
				if f := j.Slow[0]; f.Quantity != c.quantity || f.Direction != c.way {
					t.Errorf("seed %d: %+v", seed, f)
				}
			}
		})
	}
}

func reversed(s [][]int) [][]int {
	s = slices.Clone(s)
	slices.Reverse(s)
	return s
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Groups of hosts are found, and no way between them is slow for that. A slow host is found in its group.
func TestRacks(t *testing.T) {
	for _, sizes := range [][]int{{8, 8}, {12, 4}, {4, 4, 4, 4}, {30, 10}, {2, 2}} {
		var rack []int
		for g, n := range sizes {
			rack = append(rack, slices.Repeat([]int{g}, n)...)
		}
		between := func(a, b, _ int) float64 { return 1 + 0.3*one(rack[a] != rack[b]) }
		for seed := range uint64(4) {
			for _, slow := range []int{-1, 3} {
				c := cluster{noise: 0.02, latency: func(a, b, r int) float64 {
					return between(a, b,
						r) * (1 + 0.15*one(has(slow, a, b)))
				},
					perByte: func(a, b, r int) float64 { return 1 + 0.5*one(rack[a] != rack[b]) }}
				j := screened(len(rack), 60, 60, seed, c)
				groups, apart := j.Groups, j.Apart
				if slow >= 0 {
					if len(rack) >= 16 && (len(j.Slow) != 1 || !slices.Equal(j.Slow[0].Hosts, []int{slow})) {
						t.Errorf("racks %v, seed %d: %+v, groups %v", sizes, seed, j.Slow, groups)
					}
					if placed := slices.Concat(groups...); len(rack) >= 16 && len(placed) != len(rack) {
						t.Errorf("racks %v, seed %d: groups %v: the slow host is in none", sizes, seed, groups)
					}
					continue
				}
				if len(j.Slow) > 0 || len(rack) >= 16 && (len(groups) != len(sizes) || len(groups[0]) != sizes[0] ||
					math.Abs(apart-1.3) > 0.03) {
					t.Errorf("racks %v, seed %d: %+v, groups %v, %g", sizes, seed, j.Slow, groups, apart)
				}
			}
		}
	}
	if j := New(4, 0.02).Judge(); j.Groups != nil || j.Kinds != nil {
		t.Errorf("%+v of nothing", j)
	}
}

// The slow uplink of one rack of four is named, and no host of the rack. A slow host of the rack is named beside it.
func TestUplink(t *testing.T) {
	for _, c := range []struct {
		name          string
		latency, rate float64
		slow          int
	}{{"rate", 1, 1.5, -1}, {"latency", 1.2, 1, -1}, {"both", 1.2, 1.5, -1}, {"far away", 3, 1, -1},
		{"and a host", 1, 1.5, 6}, {"full", 1, 1.5, -1}, {"nothing", 1, 1, -1}} {
		for seed := range uint64(4) {
			over := func(times, way float64) func(a, b, _ int) float64 {
				return func(a, b, _ int) float64 {
					v := 1 + 0.3*one(has(c.slow, a, b))
					if a/4 != b/4 {
						v *= way
						if a/4 == 1 || b/4 == 1 {
							v *= times
						}
					}
					return v
				}
			}
			lossy := func(a, b int) float64 {
				return 0.3 * one(c.name == "full" && (has(2, a, b) && has(6, a, b) || has(7, a, b) && has(13, a, b)))
			}
			j := screened(16, 90, 90, seed, cluster{noise: 0.02, latency: over(c.latency, 1.3), perByte: over(c.rate, 1.2),
				loss: lossy})
			var named []string
			for _, f := range j.Slow {
				named = append(named, fmt.Sprint(f.Hosts, f.Uplink))
			}
			want := "[4 5 6 7] true"
			switch {
			case c.slow >= 0:
				want = fmt.Sprintf("[%d] false %s", c.slow, want)
			case c.name == "nothing":
				want = ""
			}
			if got := strings.Join(named, " "); got != want || len(j.Groups) != 4 {
				t.Errorf("%s, seed %d: %s, want %s; groups %v, kinds %v, in doubt %+v", c.name, seed, got, want, j.Groups, j.Kinds,
					j.Doubtful())
			}
		}
	}
}

// An uplink that is slow in one direction of the bytes is named with it, and one that is slow in both without.
func TestUplinkWay(t *testing.T) {
	for _, size := range [][2]int{{3, 4}, {4, 4}} { // groups, and hosts of each
		for _, c := range []struct {
			out, in float64
			way     string
		}{{1.5, 1, Sending}, {1, 1.5, Receiving}, {1.5, 1.5, ""}, {1.5, 1.3, ""}} {
			for seed := range uint64(2) {
				j := screened(size[0]*size[1], 90, 90, seed, cluster{noise: 0.02,
					latency: func(a, b, _ int) float64 { return 1 + 0.3*one(a/size[1] != b/size[1]) },
					perByte: func(from, to, _ int) float64 {
						switch from, to := from/size[1], to/size[1]; {
						case from == to:
							return 1
						case from == 1:
							return 1.2 * c.out
						case to == 1:
							return 1.2 * c.in
						}
						return 1.2
					}})
				if len(j.Slow) != 1 || !j.Slow[0].Uplink || j.Slow[0].Hosts[0] != size[1] || j.Slow[0].Direction != c.way {
					t.Errorf("%d groups of %d, out %g, in %g, seed %d: %+v", size[0], size[1], c.out, c.in, seed, j.Slow)
				}
			}
		}
	}
	two := Found{Hosts: []int{0, 1}, Uplink: true, Quantity: Rate, Direction: Sending}
	if why := two.Why([]string{"a", "b"}); !strings.Contains(why, ", in sending only") {
		t.Errorf("a group of two: %s", why)
	}
}

// Whatever was seen, hosts and pairs are judged.
func TestStrange(t *testing.T) {
	s := New(3, 0.02)
	if j := s.Judge(); len(j.Slow) > 0 || s.Decided() {
		t.Errorf("%+v of nothing", j)
	}
	s.Add([]Seen{{From: 0, To: 1, Failed: true}}, 1)
	s.Add([]Seen{{From: 1, To: 2}, {From: 2, To: 0, Latency: math.NaN(), PerByte: -1}}, 1)
	s.Add(nil, 1)
	if j := s.Judge(); len(j.Slow) > 0 || j.Pairs != 3 || j.Of != 3 || j.Rounds != 3 {
		t.Errorf("%+v", j)
	}
}

// Where every host is in one pair only, the pair is named and no host.
func TestOnePairEach(t *testing.T) {
	c := cluster{noise: 0.02, rng: rand.New(rand.NewPCG(1, 7)),
		latency: func(a, _, _ int) float64 { return 1 + one(a == 4) }}
	s := New(8, 0.02)
	for round := range 60 {
		s.Add([]Seen{c.see([2]int{0, 1}, round), c.see([2]int{2, 3}, round), c.see([2]int{4, 5}, round),
			c.see([2]int{6, 7}, round)}, 0.5)
	}
	if j := s.Judge(); len(j.Slow) != 1 || !slices.Equal(j.Slow[0].Hosts, []int{4, 5}) {
		t.Errorf("%+v", j)
	}
}

// A host of a rack further away is not slow while it has met no neighbour: of many hosts, each meets some only.
func TestSparseRack(t *testing.T) {
	for seed := range uint64(4) {
		for _, rounds := range []int{24, 60} {
			j := screened(200, rounds, rounds, seed, cluster{noise: 0.02,
				latency: func(a, b, _ int) float64 { return 1 + 0.3*one((a < 10) != (b < 10)) }})
			if len(j.Slow) > 0 {
				t.Errorf("seed %d, %d rounds: %+v", seed, rounds, j.Slow)
			}
		}
	}
}

// Ways between the pods of a network of three tiers are compared with each other: no host of the smaller pod is slow.
func TestPods(t *testing.T) {
	pod := func(h int) bool { return h/4 < 6 }
	for seed := range uint64(4) {
		for _, slow := range []int{-1, 30} {
			j := screened(32, 90, 90, seed, cluster{noise: 0.02, latency: func(a, b, _ int) float64 {
				return (1 + 0.3*one(a/4 != b/4) + 0.3*one(pod(a) != pod(b))) * (1 + 0.15*one(has(slow, a, b)))
			}})
			if len(j.Groups) != 8 || slow < 0 && len(j.Slow) > 0 ||
				slow >= 0 && (len(j.Slow) != 1 || j.Slow[0].Hosts[0] != slow) {
				t.Errorf("slow host %d, seed %d: %+v, groups %v", slow, seed, j.Slow, j.Groups)
			}
		}
	}
}

// After an outage of the whole network a slow host is still found.
func TestOutage(t *testing.T) {
	s, c := New(16, 0.02), cluster{noise: 0.02, rng: rand.New(rand.NewPCG(1, 7)),
		latency: func(a, b, _ int) float64 { return 1 + 0.2*one(has(5, a, b)) }}
	for round := range 60 {
		c.fails = func(int, int) bool { return round == 7 || round == 8 }
		var seen []Seen
		for _, p := range s.Next(c.rng) {
			seen = append(seen, c.see(p, round))
		}
		s.Add(seen, 0.5)
	}
	if j := s.Judge(); len(j.Slow) != 1 || !slices.Equal(j.Slow[0].Hosts, []int{5}) {
		t.Errorf("%+v, undecided %+v", j.Slow, j.Undecided)
	}
}
