package models

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"calib/internal/dataset"
	"calib/params"
)

// Datasets of known truth are written as an experiment would have written them. The names of their phases and values
// are literals on purpose: they are those of the file format.

// truth is a network with known parameters, from which tests write the samples that calib would have measured.
type truth struct {
	Host, Medium params.Block
	L            float64 // s
	MSS          float64
	Hosts        int
	Switched     bool
	Rounds, Reps int
	Between      float64 // relative standard deviation between rounds, of each point
	Drift        float64 // relative standard deviation of what a round does to a point of all pairs
	Serial       float64 // lag-1 correlation of Drift
	Pair         float64 // relative standard deviation of pairs of hosts
	Permuted     bool    // pairs are drawn anew in every round
	Within       float64 // mean of the exponential tail within a batch, relative to T
	Offset       float64 // s, by which one direction is late and the other early
	Seed         uint64
	Slow         map[int]float64 // host → factor of its a and b
	Exact        bool            // T of pingpong by eq. 3 instead of by packets
	Sizes        []float64       // of pingpong; nil means a geometric series
	Disjoint     bool            // pingpong of pairs (0,1), (2,3), … only

	state *state
}

// state is what outlasts a round.
type state struct {
	rng   *rand.Rand
	drift map[string]float64 // by experiment, size and number of pairs
	pairs map[[2]int]float64 // lower host first
	order []int              // of the hosts in this round
}

// next begins a round.
func (w *truth) next() {
	if w.state == nil {
		w.state = &state{rand.New(rand.NewPCG(w.Seed, 3)), map[string]float64{}, map[[2]int]float64{}, nil}
	}
	s := w.state
	for _, key := range slices.Sorted(maps.Keys(s.drift)) {
		s.drift[key] = w.Serial*s.drift[key] + math.Sqrt(1-w.Serial*w.Serial)*s.rng.NormFloat64()
	}
	if w.Permuted {
		s.order = s.rng.Perm(w.Hosts)
		return
	}
	s.order = first(w.Hosts)
}

// drifted is by which factor this round's values of a point are off.
func (w *truth) drifted(exp string, x float64, n int) float64 {
	key := fmt.Sprintf("%s %g %d", exp, x, n)
	if _, seen := w.state.drift[key]; !seen {
		w.state.drift[key] = w.state.rng.NormFloat64()
	}
	return 1 + w.Drift*w.state.drift[key]
}

// pair is by which factor a pair of hosts differs from others.
func (w *truth) pair(i, j int) float64 {
	key := [2]int{min(i, j), max(i, j)}
	if _, seen := w.state.pairs[key]; !seen {
		w.state.pairs[key] = w.state.rng.NormFloat64()
	}
	return 1 + w.Pair*w.state.pairs[key]
}

// sparc is the cluster of Stoica, Sultan, Keyes 1994, section 4.
func sparc() truth {
	return truth{
		Host: params.Block{A: 859.52e-6, B: 1.42e-6}, Medium: params.Block{A: 345.60e-6, B: 0.92e-6},
		MSS: 1448, Hosts: 8, Rounds: 5, Reps: 20, Seed: 1994,
	}
}

func (w *truth) block(h int) params.Block {
	if f, ok := w.Slow[h]; ok {
		return params.Block{A: w.Host.A * f, B: w.Host.B * f}
	}
	return w.Host
}

// sharers is how many messages meet on the network when n are under way.
func (w *truth) sharers(n int) int {
	if w.Switched {
		return 1
	}
	return n
}

// packet is the service time of a packet of x bytes. Source: Stoica, Sultan, Keyes 1994, eq. 1.
func (w *truth) packet(c params.Block, x float64) float64 { return c.A + (c.B-c.A/w.MSS)*x }

// Message is the time of a message of x bytes from host s to host r, k-th in the queue of the network.
func (w *truth) Message(s, r, k int, x float64) float64 {
	hs, hr, c := w.block(s), w.block(r), w.Medium.ConcurrentEqual(k)
	first := math.Min(x, w.MSS)
	t := w.packet(hs, first) + w.packet(c, first) + w.packet(hr, first) + w.L
	return t + math.Max(0, x-w.MSS)*max(hs.B, c.B, hr.B)
}

func (w *truth) noisy(rng *rand.Rand, v, shift float64, n int) []int64 {
	v *= 1 + w.Between*rng.NormFloat64()
	out := make([]int64, n)
	for i := range out {
		t := v
		if w.Within > 0 {
			t *= 1 + w.Within*(rng.ExpFloat64()-math.Ln2)
		}
		out[i] = int64(math.Round((t + shift) * 1e9))
	}
	return out
}

func (w *truth) Dataset() *dataset.Dataset {
	d := datasetOf("synthetic", w.Seed, w.Hosts)
	rng := rand.New(rand.NewPCG(w.Seed, 1))
	w.state = nil
	for round := range w.Rounds {
		w.next()
		w.clock(d, rng, round)
		w.pingpong(d, rng, round)
		for n := 1; n <= w.Hosts/2; n++ {
			w.paired(d, rng, round, n)
		}
	}
	return d
}

func (w *truth) clock(d *dataset.Dataset, rng *rand.Rand, round int) {
	for h := range w.Hosts {
		d.Samples = append(d.Samples, dataset.Sample{Exp: "clock", Phase: "cost", Point: dataset.Point{}, Ranks: []int{h},
			Round: round, Slot: round * 1000, Aux: map[string]float64{"calls": 1000}, NS: w.noisy(rng, 31e-6, 0, w.Reps)})
	}
	d.Samples = append(d.Samples, dataset.Sample{Exp: "clock", Phase: "offset", Point: dataset.Point{}, Ranks: []int{0, 1},
		Round: round, Slot: round*1000 + 1, Aux: map[string]float64{"bound_ns": 4000}, NS: []int64{10, 20}})
}

func (w *truth) pingpong(d *dataset.Dataset, rng *rand.Rand, round int) {
	sizes := w.Sizes
	if sizes == nil {
		sizes = []float64{1, 3, 9, 30, 85, 260, 700, 1400, 4500, 14100, 43000, 133000, 420000, 1310000, 4194304}
	}
	for a := range w.Hosts {
		for b := a + 1; b < w.Hosts; b++ {
			if w.Disjoint && (a%2 != 0 || b != a+1) {
				continue
			}
			i, j := w.state.order[a], w.state.order[b]
			for _, x := range sizes {
				v := w.Message(i, j, 1, x)
				if w.Exact {
					v = params.ServiceTime(x, 2*w.Host.A+w.Medium.A+w.L, max(w.Host.B, w.Medium.B))
				}
				d.Samples = append(d.Samples, dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": int64(x)},
					Ranks: []int{i, j}, Round: round, Slot: round*1000 + 2, TCP: &dataset.TCP{MSS: int64(w.MSS)},
					NS: w.noisy(rng, v*w.drifted("pingpong", x, 1)*w.pair(i, j), 0, w.Reps)})
			}
		}
	}
}

func (w *truth) paired(d *dataset.Dataset, rng *rand.Rand, round, n int) {
	line := func(phase string, x, i, dir int, ns []int64) {
		s, r := w.state.order[2*i+dir], w.state.order[2*i+1-dir]
		d.Samples = append(d.Samples, dataset.Sample{Exp: "paired", Phase: phase, Ranks: []int{s, r}, Round: round,
			Point: dataset.Point{"bytes": int64(x), "pairs": int64(n)}, Slot: round*1000 + 10 + n,
			Aux: map[string]float64{"dir": float64(dir)}, TCP: &dataset.TCP{MSS: int64(w.MSS)}, NS: ns})
	}
	for dir := range 2 {
		shift := w.Offset * float64(1-2*dir)
		for _, x := range []int{1, 181, 1123, 5003, 20011} {
			round := w.Between * rng.NormFloat64() // a batch is early or late as a whole
			for i := range n {
				s, r := w.state.order[2*i+dir], w.state.order[2*i+1-dir]
				v := w.Message(s, r, w.sharers(i+1), float64(x)) * (1 + round) * w.drifted("burst", float64(x), n) * w.pair(s, r)
				quiet := *w
				quiet.Between = 0
				line("burst-pair", x, i, dir, quiet.noisy(rng, v, shift, w.Reps))
			}
		}
		for i := range n {
			s, r := w.state.order[2*i], w.state.order[2*i+1]
			b := max(w.block(s).B, w.block(r).B, w.Medium.ConcurrentEqual(w.sharers(n)).B) * w.drifted("stream", 0,
				n) * w.pair(s, r)
			line("stream", 16384, i, dir, w.noisy(rng, 16384*b/(1+w.Within*(1-math.Ln2)), 0, w.Reps)) // sums: mean, not median
		}
	}
}
