package run

import (
	"math"
	"math/rand/v2"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// network is a simulated shared medium whose parameters are known.
type network struct {
	a, ac, b, bc float64 // s, s, s/B, s/B
	noise        float64 // of a point in a round, relative standard deviation
	within       float64 // of a timing in a batch, mean of an exponential tail
	burstSizes   []int64

	rng *rand.Rand
	d   *dataset.Dataset
}

// shared is the paper's Ethernet with eight hosts.
func shared(seed uint64) *network {
	w := &network{a: 860e-6, ac: 345e-6, b: 1.42e-6, bc: 0.92e-6, noise: 0.03, within: 0.02,
		burstSizes: []int64{1, 181, 1123, 5003, 20011},
		rng:        rand.New(rand.NewPCG(seed, 11)), d: &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema,
			Seed: seed}}}
	for _, name := range []string{"h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"} {
		w.d.Header.Hosts = append(w.d.Header.Hosts, dataset.Host{Name: name})
	}
	return w
}

// paired lists the points of bursts and streams.
func (w *network) paired() []bench.Point {
	var out []bench.Point
	for n := int64(1); n <= 4; n++ {
		for _, x := range w.burstSizes {
			out = append(out, bench.Point{names.FactorBytes: x, names.FactorPairs: n})
		}
		out = append(out, bench.Point{names.FactorStream: 1, names.FactorPairs: n})
	}
	return out
}

// times are some timings of a value of a round [ns].
func (w *network) times(v float64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(math.Round(v * (1 + w.within*(w.rng.ExpFloat64()-math.Ln2)) * 1e9))
	}
	return out
}

func (w *network) line(exp, phase string, p bench.Point, dir, round int, ranks []int, ns []int64,
	aux map[string]float64) {
	if aux == nil {
		aux = map[string]float64{}
	}
	aux[names.AuxDirection] = float64(dir)
	w.d.Samples = append(w.d.Samples, dataset.Sample{Exp: exp, Phase: phase, Point: p, Ranks: ranks, Round: round,
		Slot: round,
		TCP:  &dataset.TCP{MSS: 1448}, Aux: aux, NS: ns})
}

// measure writes the samples of one point in one round.
func (w *network) measure(p bench.Point, round int) {
	n, off := float64(p[names.FactorPairs]), w.noisy(1)
	for dir := range 2 {
		if p[names.FactorStream] != 0 {
			w.stream(p, round, dir, math.Max(w.b, n*w.bc)*off)
		} else {
			w.burst(p, round, dir, off)
		}
	}
}

// noisy is a value of a point in a round.
func (w *network) noisy(v float64) float64 { return v * (1 + w.noise*w.rng.NormFloat64()) }

// burst has the deliveries one by one, a_c apart.
func (w *network) burst(p bench.Point, round, dir int, off float64) {
	for i := range int(p[names.FactorPairs]) {
		v := 2*w.a + float64(i+1)*w.ac + float64(p[names.FactorBytes])*w.b
		w.line(names.Paired, names.PhaseBurst, p, dir, round, []int{2*i + dir, 2*i + 1 - dir}, w.times(v*off, 3), nil)
	}
}

func (w *network) stream(p bench.Point, round, dir int, per float64) {
	for i := range int(p[names.FactorPairs]) {
		w.line(names.Paired, names.PhaseStream, p, dir, round, []int{2*i + dir, 2*i + 1 - dir}, []int64{1e6},
			map[string]float64{
				names.AuxChunk: 65536, names.AuxWindow: 250e6, names.AuxWindowChunks: 0.25 / per / 65536, names.AuxRamp: 1e8,
				names.AuxHalves: 1})
	}
}
