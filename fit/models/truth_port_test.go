package models

import (
	"math"
	"math/rand/v2"

	"calib/internal/dataset"
	"calib/params"
)

// portTruth is a network with a port of a known buffer, and known costs of messages, from which tests write the samples
// of flood, prtt, fragment, buffer and nodelay. Times of prtt are whole nanoseconds, so that exact data are exact.
type portTruth struct {
	Rounds, Reps int
	Between      float64 // relative standard deviation between rounds, of each point
	Within       float64 // mean of the exponential tail within a batch, relative
	Seed         uint64

	Buffer   float64     // of the port, in packets or bytes
	Header   float64     // of a datagram, where the buffer counts bytes; < 0 where it counts packets
	Gs, Gr   params.Cost // of a datagram
	Longest  int         // most datagrams in a burst
	Senders  []int       // numbers of flooding senders
	Streams  bool        // probes behind TCP streams
	Overflow bool        // of these streams

	Latency        float64 // s, L of LogGP
	Os, Or, Gap    params.Cost
	LongGap        params.Cost // above a packet; zero where gap is one line
	FragmentCost   float64
	Nagle, Choking bool
}

// port is a switch port that holds 64 packets, with costs of Fast Ethernet.
func port() portTruth {
	return portTruth{
		Rounds: 5, Reps: 3, Seed: 2000,
		Buffer: 64, Header: -1, Gs: params.Cost{C0: 60e-6, C1: 90e-9}, Gr: params.Cost{C0: 70e-6, C1: 80e-9}, Longest: 4096,
		Senders: []int{1, 3, 7}, Streams: true, Overflow: true,
		Latency: 150e-6, Os: params.Cost{C0: 8e-6, C1: 2e-9}, Or: params.Cost{C0: 12e-6, C1: 3e-9},
		Gap:          params.Cost{C0: 70e-6, C1: 80e-9},
		FragmentCost: 40e-6, Nagle: true, Choking: true,
	}
}

type portWriter struct {
	portTruth
	rng *rand.Rand
	d   *dataset.Dataset
	at  int // round
}

func (w *portTruth) Dataset() *dataset.Dataset {
	d := datasetOf("settings", w.Seed, 8)
	r := &portWriter{portTruth: *w, rng: rand.New(rand.NewPCG(w.Seed, 2)), d: d}
	for r.at = range w.Rounds {
		for _, m := range []float64{64, 1000} {
			for _, p := range w.Senders {
				for k := 16; k <= w.Longest; k *= 2 {
					r.flood(m, p, k)
				}
			}
		}
		if w.Streams {
			r.probe(4)
			r.probe(8)
		}
		r.prtt()
		r.fragment()
		r.buffers()
		r.nodelay()
	}
	return d
}

func (r *portWriter) line(exp, phase string, ranks []int, point dataset.Point, ns []int64) *dataset.Sample {
	r.d.Samples = append(r.d.Samples, dataset.Sample{Exp: exp, Phase: phase, Point: point, Ranks: ranks, Round: r.at,
		Slot: r.at, NS: ns, Aux: map[string]float64{}, TCP: &dataset.TCP{MSS: 1448}})
	return &r.d.Samples[len(r.d.Samples)-1]
}

// factor is what a round does to a point.
func (r *portWriter) factor() float64 { return 1 + r.Between*r.rng.NormFloat64() }

func (r *portWriter) times(v float64, n int) []int64 {
	v *= r.factor()
	out := make([]int64, n)
	for i := range out {
		t := v
		if r.Within > 0 {
			t *= 1 + r.Within*(r.rng.ExpFloat64()-math.Ln2)
		}
		out[i] = int64(math.Round(t * 1e9))
	}
	return out
}

// flood sends k datagrams of m bytes from p senders through the port, packet by packet.
func (r *portWriter) flood(m float64, p, k int) {
	size, room := 1.0, r.Buffer
	if r.Header >= 0 {
		size = m + r.Header
	}
	fs, fr := r.factor(), r.factor()
	for range r.Reps {
		next, left := make([]float64, p), make([]int, p)
		for j := range p {
			next[j], left[j] = r.Within*r.Gs.Of(m)*r.rng.Float64(), k/p
			if j < k%p {
				left[j]++
			}
		}
		var leaves []float64 // when each accepted datagram has left
		head, received, free := 0, 0, 0.0
		for range k {
			j := earliest(next, left)
			t := next[j]
			for head < len(leaves) && leaves[head] <= t+1e-12 {
				head++
			}
			if float64(len(leaves)-head+1)*size <= room {
				free = math.Max(free, t) + r.Gr.Of(m)*fr
				leaves = append(leaves, free)
				received++
			}
			next[j] += r.Gs.Of(m) * fs
			left[j]--
		}
		gaps := []int64{}
		for i := 1; i < len(leaves); i += max(1, len(leaves)/20) {
			gaps = append(gaps, int64(math.Round((leaves[i]-leaves[i-1])*1e9)))
		}
		s := r.line("flood", "flood", first(p+1), dataset.Point{"bytes": int64(m), "packets": int64(k), "senders": int64(p)},
			gaps)
		s.Aux["sent"], s.Aux["received"], s.Aux["averaged"] = float64(k), float64(received), 1
	}
}

func earliest(next []float64, left []int) int {
	best := -1
	for j := range next {
		if left[j] > 0 && (best < 0 || next[j] < next[best]) {
			best = j
		}
	}
	return best
}

// probe writes delays behind a queue that saws between 70% of the buffer and all of it.
func (r *portWriter) probe(p int) {
	point := dataset.Point{"probe": 1, "senders": int64(p)}
	g := r.Gr.Of(1448) * r.factor()
	held := r.Buffer - 1
	if r.Header >= 0 {
		held = r.Buffer/(1448+r.Header) - 1
	}
	idle, load := make([]int64, 200), make([]int64, 400)
	for i := range idle {
		idle[i] = int64(math.Round((300e-6 + 20e-6*r.Within*r.rng.ExpFloat64()) * 1e9))
	}
	for i := range load {
		wait := held * (0.7 + 0.3*math.Min(1, 1.05*float64(i%40)/39)) * g
		load[i] = int64(math.Round((300e-6 + wait + 20e-6*r.Within*r.rng.ExpFloat64()) * 1e9))
	}
	s := r.line("flood", "probe-idle", []int{p, 0}, point, idle)
	s.Aux["sent"], s.Aux["received"] = 200, 200
	s = r.line("flood", "probe", []int{p, 0}, point, load)
	s.Aux["sent"], s.Aux["received"] = 400, 400
	s = r.line("flood", "probe-drain", first(p+1), point, []int64{int64(math.Round(g / 0.996 * 1e9))})
	s.Aux["segment_bytes"], s.Aux["window_ns"], s.Aux["window_messages"] = 1448, g*1e14, 1e5-400
	if r.Overflow {
		s.Aux["sent"], s.TCP.Retrans, s.Flags = 0, 12, []string{dataset.FlagRetrans}
	}
}

func (r *portWriter) gapAt(m float64) float64 {
	if m > 1448 && r.LongGap.C1 > 0 {
		return r.LongGap.Of(m)
	}
	return r.Gap.Of(m)
}

func (r *portWriter) prtt() {
	const n = 16.0
	for _, m := range []float64{1, 40, 181, 701, 1401, 5792, 23168, 65160} {
		once := 2 * (r.Latency + r.Os.Of(m) + r.Or.Of(m) + r.gapAt(m) - r.gapAt(1))
		add := func(phase, mark string, messages, v float64) {
			point := dataset.Point{"bytes": int64(m), "messages": int64(messages)}
			if mark != "" {
				point[mark] = 1
			}
			r.line("prtt", phase, []int{0, 1}, point, r.times(v, 9))
		}
		add("prtt", "", 1, once)
		add("prtt", "", n, once+(n-1)*r.gapAt(m))
		if m > 16384 {
			continue
		}
		add("spaced", "spaced", n, once+(n-1)*r.Os.Of(m))
		add("delayed", "delayed", n, once+(n-1)*r.Or.Of(m))
	}
}

// Fragmented is T(M, f): a cost per fragment, and the last fragment's way behind the others.
func (w *portTruth) Fragmented(size, f float64) float64 {
	return 300e-6 + 80e-9*size + w.FragmentCost*size/f + 100e-9*f
}

func (r *portWriter) fragment() {
	for _, size := range []float64{16384, 65536} {
		for f := 256.0; f <= size; f *= 2 {
			r.line("fragment", "", []int{0, 1}, dataset.Point{"bytes": int64(size), "fragment": int64(f)},
				r.times(r.Fragmented(size, f), 9))
		}
	}
}

func (r *portWriter) buffers() {
	for _, size := range []float64{1024, 65536} {
		for _, s := range []float64{0, 4096, 16384, 65536, 262144} {
			asked := s
			if s == 0 {
				s = 1e9 // as good as any
			}
			v := (300e-6 + 80e-9*size) * (1 + 0.04*size/s)
			if asked > 0 && r.Choking {
				v *= 1 + 0.3*math.Max(0, 1-s/16384)
			}
			point := dataset.Point{"bytes": int64(size), "buffer": int64(asked)}
			for phase, n := range map[string]float64{"oneway": 1, "interleaved": 2} {
				r.granted(r.line("buffer", phase, []int{0, 1}, point, r.times(n*v, 9)), asked)
			}
			if l := r.granted(r.line("buffer", "both", []int{0, 1}, point, r.times(2*v, 9)), asked); size > 2.25*s {
				l.Flags, l.NS = []string{dataset.FlagDeadlock}, []int64{4e8}
			}
		}
	}
}

func (r *portWriter) granted(l *dataset.Sample, asked float64) *dataset.Sample {
	l.TCP.SndBuf, l.TCP.RcvBuf = int64(2*asked), int64(2*asked)
	if asked == 0 {
		l.TCP.SndBuf, l.TCP.RcvBuf = 87040, 131072
	}
	return l
}

func (r *portWriter) nodelay() {
	for _, size := range []float64{1, 1448, 1449, 8788} {
		for _, writes := range []int64{1, 2} {
			for nagle := range int64(2) {
				v := 300e-6 + 80e-9*size
				if r.Nagle && nagle == 1 && writes == 2 && size > 1 {
					v += 40e-3
				}
				l := r.line("nodelay", "", []int{0, 1}, dataset.Point{"segments": int64(size / 1448), "offset": int64(size) % 1448,
					"writes": writes, "nagle": nagle}, r.times(v, 9))
				l.Aux["bytes"], l.Aux["mss"] = size, 1448
			}
		}
	}
}
