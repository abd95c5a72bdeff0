package judge

import (
	"math"
	"math/rand/v2"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// candidate is a point that may be measured.
type candidate struct {
	Exp   string
	Point bench.Point
	Cost  units.Nanos // of one round of it
}

// network is a simulated network whose parameters are known: a shared medium for bursts and streams, and LogGP's costs
// for trains.
type network struct {
	a, ac, b, bc           float64 // s, s, s/B, s/B
	latency, os, or, g, gb float64 // s, G in s/B
	noise                  float64 // of a point in a round, relative standard deviation
	serial                 float64 // correlation of the noise of a point in rounds that follow each other
	within                 float64 // of a timing in a batch, mean of an exponential tail
	burstSizes, trainSizes []int64
	others                 int // points that no target depends on

	rng   *rand.Rand
	d     *dataset.Dataset
	drift map[string]drift // by point
}

// drift is by how many standard deviations a point was off in the round in which it was last measured.
type drift struct {
	off   float64
	round int
}

// shared is the paper's Ethernet with eight hosts.
func shared(seed uint64) *network {
	w := &network{a: 860e-6, ac: 345e-6, b: 1.42e-6, bc: 0.92e-6, latency: 150e-6, os: 8e-6, or: 12e-6, g: 70e-6, gb: 80e-9,
		noise: 0.03, within: 0.02, burstSizes: []int64{1, 181, 1123, 5003, 20011}, trainSizes: []int64{1, 40, 181, 701, 1401, 5792, 23168, 65160},
		rng: rand.New(rand.NewPCG(seed, 11)), d: &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Seed: seed}}, drift: map[string]drift{}}
	for _, name := range []string{"h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"} {
		w.d.Header.Hosts = append(w.d.Header.Hosts, dataset.Host{Name: name})
	}
	return w
}

// paired lists the points of bursts and streams, and others that cost as much.
func (w *network) paired() []candidate {
	var out []candidate
	for n := int64(1); n <= 4; n++ {
		for _, x := range w.burstSizes {
			t := 2*w.a + float64(n)*w.ac + float64(x)*w.b
			out = append(out, candidate{Exp: names.Paired, Point: bench.Point{names.FactorBytes: x, names.FactorPairs: n},
				Cost: units.Nanos(2 * math.Min(40*1.5*t, 0.12) * 1e9)})
		}
		out = append(out, candidate{Exp: names.Paired, Point: bench.Point{names.FactorStream: 1, names.FactorPairs: n},
			Cost: 700 * units.Millisecond})
	}
	for k := range w.others {
		out = append(out, candidate{Exp: names.Gather, Cost: 800 * units.Millisecond,
			Point: bench.Point{names.FactorBytes: int64(k), names.FactorSenders: 7, names.FactorWindow: 7}})
	}
	return out
}

// trains lists the points of prtt.
func (w *network) trains() []candidate {
	var out []candidate
	for _, x := range w.trainSizes {
		for form := range 4 {
			p := bench.Point{names.FactorBytes: x, names.FactorMessages: 16}
			c := candidate{Exp: names.PRTT, Point: p, Cost: units.Nanos(60e6 + 400*float64(x))}
			switch form {
			case 0:
				p[names.FactorMessages] = 1
			case 2:
				p[names.FactorSpaced] = 1
			case 3:
				p[names.FactorDelayed] = 1
			}
			if form < 2 || x <= 16384 {
				out = append(out, c)
			}
		}
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

func (w *network) line(exp, phase string, p bench.Point, dir, round int, ranks []int, ns []int64, aux map[string]float64) {
	if aux == nil {
		aux = map[string]float64{}
	}
	aux[names.AuxDirection] = float64(dir)
	w.d.Samples = append(w.d.Samples, dataset.Sample{Exp: exp, Phase: phase, Point: p, Ranks: ranks, Round: round, Slot: round,
		TCP: &dataset.TCP{MSS: 1448}, Aux: aux, NS: ns})
}

// measure writes the samples of one point in one round.
func (w *network) measure(c candidate, round int) {
	p := c.Point
	switch {
	case c.Exp == names.PRTT:
		w.train(p, round)
	case c.Exp == names.Pingpong:
		v := w.noisy(2*w.a+w.ac+float64(p[names.FactorBytes])*w.b, p, round)
		w.line(c.Exp, "", p, 0, round, []int{0, 1}, w.times(v, 3), nil)
	case c.Exp != names.Paired:
	case p[names.FactorStream] != 0:
		n := float64(p[names.FactorPairs])
		per := w.noisy(math.Max(w.b, n*w.bc), p, round)
		for dir := range 2 {
			w.stream(p, round, dir, per)
		}
	default:
		off := w.noisy(1, p, round)
		for dir := range 2 {
			w.burst(p, round, dir, off)
		}
	}
}

// noisy is a value of a point in a round.
func (w *network) noisy(v float64, p bench.Point, round int) float64 {
	key := p.Key()
	before, seen := w.drift[key]
	rho := 0.0
	if seen {
		rho = math.Pow(w.serial, float64(round-before.round))
	}
	off := rho*before.off + math.Sqrt(1-rho*rho)*w.rng.NormFloat64()
	w.drift[key] = drift{off, round}
	return v * (1 + w.noise*off)
}

// burst has the deliveries one by one, a_c apart.
func (w *network) burst(p bench.Point, round, dir int, off float64) {
	for i := range int(p[names.FactorPairs]) {
		v := 2*w.a + float64(i+1)*w.ac + float64(p[names.FactorBytes])*w.b
		w.line(names.Paired, names.PhaseBurst, p, dir, round, []int{2*i + dir, 2*i + 1 - dir}, w.times(v*off, 3), nil)
	}
}

func (w *network) stream(p bench.Point, round, dir int, per float64) {
	for i := range int(p[names.FactorPairs]) {
		w.line(names.Paired, names.PhaseStream, p, dir, round, []int{2*i + dir, 2*i + 1 - dir}, []int64{1e6}, map[string]float64{
			names.AuxChunk: 65536, names.AuxWindow: 250e6, names.AuxWindowChunks: 0.25 / per / 65536, names.AuxRamp: 1e8, names.AuxHalves: 1})
	}
}

// train is PRTT(n, d, s) without the waits.
func (w *network) train(p bench.Point, round int) {
	x, n := float64(p[names.FactorBytes]), float64(p[names.FactorMessages])
	phase, each := names.PhasePRTT, w.g+w.gb*x
	switch {
	case p[names.FactorSpaced] != 0:
		phase, each = names.PhaseSpaced, w.os
	case p[names.FactorDelayed] != 0:
		phase, each = names.PhaseDelayed, w.or
	}
	v := 2*(w.latency+w.os+w.or+w.gb*(x-1)) + (n-1)*each
	w.line(names.PRTT, phase, p, 0, round, []int{0, 1}, w.times(w.noisy(v, p, round), 3), nil)
}
