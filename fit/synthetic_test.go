package fit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"calib/internal/dataset"
)

// truth is a network with known parameters, from which tests write the samples that calib would have measured.
type truth struct {
	host, medium Block
	l            float64 // s
	mss          float64
	hosts        int
	switched     bool
	rounds, reps int
	between      float64 // relative standard deviation between rounds, of each point
	within       float64 // mean of the exponential tail within a batch, relative to T
	offset       float64 // s, by which one direction is late and the other early
	seed         uint64
	slow         map[int]float64 // host → factor of its a and b
	exact        bool            // T of pingpong by eq. 3 instead of by packets
	sizes        []float64       // of pingpong; nil means a geometric series
	disjoint     bool            // pingpong of pairs (0,1), (2,3), … only
}

// sparc is the cluster of Stoica, Sultan, Keyes 1994, section 4.
func sparc() truth {
	return truth{
		host: Block{859.52e-6, 1.42e-6}, medium: Block{345.60e-6, 0.92e-6},
		mss: 1448, hosts: 8, rounds: 5, reps: 20, seed: 1994,
	}
}

func (w *truth) block(h int) Block {
	if f, ok := w.slow[h]; ok {
		return Block{w.host.A * f, w.host.B * f}
	}
	return w.host
}

// sharers is how many messages meet on the network when n are under way.
func (w *truth) sharers(n int) int {
	if w.switched {
		return 1
	}
	return n
}

// message is the time of a message of x bytes from host s to host r, k-th in the queue of the network.
func (w *truth) message(s, r, k int, x float64) float64 {
	hs, hr, c := w.block(s), w.block(r), w.medium.ConcurrentEqual(k)
	first := math.Min(x, w.mss)
	t := hs.Packets(first, w.mss) + c.Packets(first, w.mss) + hr.Packets(first, w.mss) + w.l
	return t + math.Max(0, x-w.mss)*max(hs.B, c.B, hr.B)
}

// noisy writes raw nanoseconds of a value with the truth's noise.
func (w *truth) noisy(rng *rand.Rand, v, shift float64, n int) []int64 {
	v *= 1 + w.between*rng.NormFloat64()
	out := make([]int64, n)
	for i := range out {
		t := v
		if w.within > 0 {
			t *= 1 + w.within*(rng.ExpFloat64()-math.Ln2)
		}
		out[i] = int64(math.Round((t + shift) * 1e9))
	}
	return out
}

// dataset writes the samples of every experiment.
func (w *truth) dataset() *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Run: "synthetic", Seed: w.seed}}
	for i := range w.hosts {
		d.Header.Hosts = append(d.Header.Hosts, dataset.Host{Name: fmt.Sprintf("h%d", i+1)})
	}
	rng := rand.New(rand.NewPCG(w.seed, 1))
	for round := range w.rounds {
		w.clock(d, rng, round)
		w.pingpong(d, rng, round)
		for n := 1; n <= w.hosts/2; n++ {
			w.paired(d, rng, round, n)
		}
	}
	return d
}

func (w *truth) clock(d *dataset.Dataset, rng *rand.Rand, round int) {
	for h := range w.hosts {
		d.Samples = append(d.Samples, dataset.Sample{Exp: "clock", Phase: "cost", Point: dataset.Point{}, Ranks: []int{h},
			Round: round, Slot: round * 1000, Aux: map[string]float64{"calls": 1000}, NS: w.noisy(rng, 31e-6, 0, w.reps)})
	}
	d.Samples = append(d.Samples, dataset.Sample{Exp: "clock", Phase: "offset", Point: dataset.Point{}, Ranks: []int{0, 1},
		Round: round, Slot: round*1000 + 1, Aux: map[string]float64{"bound_ns": 4000}, NS: []int64{10, 20}})
}

func (w *truth) pingpong(d *dataset.Dataset, rng *rand.Rand, round int) {
	sizes := w.sizes
	if sizes == nil {
		sizes = []float64{1, 3, 9, 30, 85, 260, 700, 1400, 4500, 14100, 43000, 133000, 420000, 1310000, 4194304}
	}
	for i := range w.hosts {
		for j := i + 1; j < w.hosts; j++ {
			if w.disjoint && (i%2 != 0 || j != i+1) {
				continue
			}
			for _, x := range sizes {
				v := w.message(i, j, 1, x)
				if w.exact {
					v = T(x, 2*w.host.A+w.medium.A+w.l, max(w.host.B, w.medium.B))
				}
				d.Samples = append(d.Samples, dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": int64(x)},
					Ranks: []int{i, j}, Round: round, Slot: round*1000 + 2, TCP: &dataset.TCP{MSS: int64(w.mss)},
					NS: w.noisy(rng, v, 0, w.reps)})
			}
		}
	}
}

func (w *truth) paired(d *dataset.Dataset, rng *rand.Rand, round, n int) {
	line := func(phase string, x, i, dir int, ns []int64) {
		s, r := 2*i+dir, 2*i+1-dir
		d.Samples = append(d.Samples, dataset.Sample{Exp: "paired", Phase: phase, Ranks: []int{s, r}, Round: round,
			Point: dataset.Point{"bytes": int64(x), "pairs": int64(n)}, Slot: round*1000 + 10 + n,
			Aux: map[string]float64{"dir": float64(dir)}, TCP: &dataset.TCP{MSS: int64(w.mss)}, NS: ns})
	}
	for dir := range 2 {
		shift := w.offset * float64(1-2*dir)
		for _, x := range []int{1, 181, 1123, 5003, 20011} {
			round := w.between * rng.NormFloat64() // a batch is early or late as a whole
			for i := range n {
				v := w.message(2*i+dir, 2*i+1-dir, w.sharers(i+1), float64(x)) * (1 + round)
				quiet := *w
				quiet.between = 0
				line("burst-pair", x, i, dir, quiet.noisy(rng, v, shift, w.reps))
			}
		}
		for i := range n {
			b := max(w.block(2*i).B, w.block(2*i+1).B, w.medium.ConcurrentEqual(w.sharers(n)).B)
			line("stream", 16384, i, dir, w.noisy(rng, 16384*b/(1+w.within*(1-math.Ln2)), 0, w.reps)) // sums: mean, not median
		}
	}
}
