package models

import (
	"fmt"
	"math"
	"math/rand/v2"

	"calib/fit/cluster"
	"calib/internal/dataset"
	"calib/params"
)

// clusterTruth is a switched cluster with known cost functions, from which tests write the samples of every experiment
// of the cluster model.
type clusterTruth struct {
	cluster.Cluster
	Copies       map[string]params.Cost
	Merged       func(m float64) float64 // interval of merged messages [s]; nil: a line
	Hosts        int
	Rounds, Reps int
	Noise        float64 // relative standard deviation of a batch, and of the timings within it
	Slack        float64 // s, standard deviation of a computation's time, beside noise
	Seed         uint64
	Pingpong     bool
	Gathers      bool // totals too
}

// tableOne is table 1 of Tam and Wang 2000, slowed, so that whole nanoseconds are precise.
func tableOne(slow float64) clusterTruth {
	cost := func(floor, c0, c1 float64) params.Cost {
		return params.Cost{Floor: floor * slow * 1e-6, C0: c0 * slow * 1e-6, C1: c1 * slow * 1e-6}
	}
	gs := cost(6.73, 3.027, 0.0796)
	return clusterTruth{
		Cluster: cluster.Cluster{
			Os: cost(0, 6.37, 0.0253), Gs: gs, Gr: cost(6.73, 4.986, 0.0788), Or: cost(0, 12.176, 0.0429),
			Ur: cost(0, 9.93, 0.001), BL: 1935, MTU: 1448,
			L: params.Transfer{L0: 16.684e-6 * slow, L1: 1.556e-6 * slow, Tau: 0.0826e-6 * slow, N: 60e6 / slow, Gs: gs},
		},
		Copies: map[string]params.Cost{
			"M_ctc": {C0: 1.94e-6, C1: 0.15e-6}, "M_ctm": {C0: 20.7e-6, C1: 0.149e-6}, "M_mtm": {C0: 17.56e-6, C1: 0.314e-6},
			"M_ctc_loop": {C0: 2e-6, C1: 3e-6}, "M_ctm_loop": {C0: 21e-6, C1: 3.1e-6}, "M_mtm_loop": {C0: 18e-6, C1: 3.2e-6},
		},
		Hosts: 8, Rounds: 6, Reps: 7, Seed: 2000, Pingpong: true, Gathers: true,
	}
}

// writer adds noisy samples of one round.
type writer struct {
	*clusterTruth
	d     *dataset.Dataset
	rng   *rand.Rand
	round int
}

func (w *clusterTruth) Dataset() *dataset.Dataset {
	d := datasetOf("synthetic", w.Seed, w.Hosts)
	for i := range d.Header.Hosts {
		d.Header.Hosts[i].Boot = fmt.Sprintf("b%d", i)
	}
	rng := rand.New(rand.NewPCG(w.Seed, 2))
	for round := range w.Rounds {
		r := &writer{w, d, rng, round}
		r.overhead()
		r.gap()
		r.arrivals()
		if w.Gathers {
			r.totals()
		}
		r.load()
		r.copy()
		if w.Pingpong {
			r.pingpongs()
		}
	}
	return d
}

// oneWay is the time of one packet of m bytes from program to program while p hosts communicate.
func (w *clusterTruth) oneWay(m, p float64) float64 {
	return w.Os.Of(m) + w.L.At(m, p) + w.Or.Of(m) + w.Ur.Of(m)
}

func (w *writer) jitter(v float64) float64 { return v * (1 + w.Noise*w.rng.NormFloat64()) }

func (w *writer) ns(v float64, n int) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(math.Round(w.jitter(v) * 1e9))
	}
	return out
}

func (w *writer) write(exp, phase string, p dataset.Point, ranks []int, dir int, tcp dataset.TCP,
	aux map[string]float64, ns []int64) {
	tcp.MSS = int64(w.MTU)
	if aux == nil {
		aux = map[string]float64{}
	}
	aux["dir"] = float64(dir)
	w.d.Samples = append(w.d.Samples, dataset.Sample{Exp: exp, Phase: phase, Point: p, Ranks: ranks, Round: w.round,
		Slot: w.round, TCP: &tcp, Aux: aux, NS: ns})
}

// neighbours calls do for each pair and direction, sender first.
func (w *writer) neighbours(do func(ranks []int, dir int)) {
	for i := 0; i+1 < w.Hosts; i += 2 {
		do([]int{i, i + 1}, 0)
		do([]int{i + 1, i}, 1)
	}
}

func (w *writer) overhead() {
	w.neighbours(func(ranks []int, dir int) {
		for _, m := range []int64{1, 40, 181, 701, 1123, 1401, 5003, 16384} {
			for i, phase := range []string{"send", "recv"} {
				ns := w.ns(w.jitter([]params.Cost{w.Os, w.Ur}[i].Of(float64(m))), w.Reps)
				for i := range ns {
					ns[i] += 31
				}
				w.write("overhead", phase, dataset.Point{"bytes": m}, ranks, dir, dataset.TCP{}, map[string]float64{"clock_ns": 31},
					ns)
			}
		}
		for _, m := range []int64{1, 700, 1400} {
			for _, rate := range []int64{2000, 8000, 20000} {
				n := float64(rate) / 100
				lost := w.jitter(n * w.Or.Of(float64(m)))
				for i, phase := range []string{"compute-idle", "compute"} {
					v := 0.04 + float64(i)*lost
					ns := make([]int64, w.Reps)
					for k := range ns {
						ns[k] = int64(math.Round((v + w.Slack*w.rng.NormFloat64()) * 1e9))
					}
					w.write("overhead", phase, dataset.Point{"bytes": m, "rate": rate}, ranks, dir, dataset.TCP{},
						map[string]float64{"cpus": 2, "messages": n}, ns)
				}
			}
		}
	})
}

func (w *writer) window(interval float64) map[string]float64 {
	return map[string]float64{"window_ns": w.jitter(interval) * 1e9 * 900, "window_messages": 900, "messages": 1300,
		"averaged": 10}
}

func (w *writer) gap() {
	w.neighbours(func(ranks []int, dir int) {
		for _, m := range []int64{1, 20, 40, 100, 250, 500, 1000, 1448} {
			x := float64(m)
			w.write("gap", "gap", dataset.Point{"bytes": m}, ranks, dir, dataset.TCP{DataSegsOut: 1301}, w.window(w.Gs.Of(x)),
				w.ns(w.Gs.Of(x), 9))
			merged := 2e-6 + x*30e-9
			if w.Merged != nil {
				merged = w.Merged(x)
			}
			w.write("gap", "gap", dataset.Point{"bytes": m, "merge": 1}, ranks, dir, dataset.TCP{DataSegsOut: 90},
				w.window(merged), w.ns(merged, 9))
		}
	})
}

func (w *writer) arrivals() {
	for p := 1; p < w.Hosts; p++ {
		for _, m := range []int64{1, 20, 40, 100, 250, 500, 1000, 1448} {
			v := math.Max(w.Gs.Of(float64(m))/float64(p), w.Gr.Of(float64(m)))
			w.write("gather", "arrivals", dataset.Point{"bytes": m, "senders": int64(p), "stream": 1}, first(p+1), 0,
				dataset.TCP{DataSegsOut: 1300}, w.window(v), w.ns(v, 9))
		}
	}
}

func (w *writer) totals() {
	for p := 1; p < w.Hosts; p++ {
		for window := 1; window <= p; window++ {
			if window < p && p != w.Hosts-1 {
				continue
			}
			for _, m := range []int64{1, 1024, 16384, 1 << 20} {
				v, err := w.GatherTime(p, float64(m), window)
				if err != nil {
					panic(err)
				}
				w.write("gather", "gather", dataset.Point{"bytes": m, "senders": int64(p), "window": int64(window)}, first(p+1), 0,
					dataset.TCP{}, nil, w.ns(w.jitter(v), w.Reps))
			}
		}
	}
}

func (w *writer) load() {
	for n := 1; n <= w.Hosts/2; n++ {
		for _, m := range []int64{1, 181, 701, 1123, 1401} {
			v := w.jitter(w.oneWay(float64(m), float64(2*n)))
			for i := range n {
				w.write("load", "load", dataset.Point{"bytes": m, "pairs": int64(n)}, []int{2 * i, 2*i + 1}, 0, dataset.TCP{},
					map[string]float64{"pairs": float64(n)}, w.ns(v, w.Reps))
			}
		}
	}
}

func (w *writer) copy() {
	for cold, kind := range []string{"M_ctc", "M_ctm", "M_mtm"} {
		for loop, suffix := range []string{"", "_loop"} {
			for _, m := range []int64{64, 256, 1024, 4096, 16384, 65536} {
				for h := range w.Hosts {
					v := w.Copies[kind+suffix].Of(float64(m))
					w.write("copy", "", dataset.Point{"bytes": m, "cold": int64(cold), "loop": int64(loop)}, []int{h}, 0,
						dataset.TCP{},
						map[string]float64{"cache_bytes": 32768, "last_cache_bytes": 8 << 20}, w.ns(w.jitter(v), w.Reps))
				}
			}
		}
	}
}

func (w *writer) pingpongs() {
	for i := range w.Hosts {
		for j := i + 1; j < w.Hosts; j++ {
			for _, m := range []int64{1, 9, 260, 1400} {
				w.write("pingpong", "", dataset.Point{"bytes": m}, []int{i, j}, 0, dataset.TCP{},
					nil, w.ns(w.jitter(w.oneWay(float64(m), 2)), w.Reps))
			}
		}
	}
}
