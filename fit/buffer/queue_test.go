package buffer

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"calib/internal/dataset"
)

// queue simulates window-controlled streams and a prober through a port of a finite buffer, one packet at a time:
// windows grow by a packet a round trip and shrink to 70% once for every loss of a round trip (RFC 9438, section 4).
type queue struct {
	buffer, streams int
	service, rtt    float64 // s: of a segment at the port; without queueing
	spacing         float64 // s, of the probes
	jitter          float64 // s, mean delay of a probe by its host
	rng             *rand.Rand

	events           eventHeap
	number           int
	held             []waiting
	window, slowEnd  []float64
	flying           []int
	recovered        []float64
	delays           []float64
	served, lost     int
	tries            int
	measured, finish float64
}

type waiting struct {
	stream int // −1 is a probe
	since  float64
}

type event struct {
	at     float64
	number int
	kind   byte // arrive, depart, k: acknowledged, l: loss noticed, p: next probe
	stream int
}

type eventHeap []event

func (h eventHeap) Len() int { return len(h) }
func (h eventHeap) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].number < h[j].number
}
func (h eventHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *eventHeap) Push(x any)   { *h = append(*h, x.(event)) }
func (h *eventHeap) Pop() any     { x := (*h)[len(*h)-1]; *h = (*h)[:len(*h)-1]; return x }

func (q *queue) push(at float64, kind byte, stream int) {
	q.number++
	heap.Push(&q.events, event{at, q.number, kind, stream})
}

func (q *queue) fill(now float64, s int) {
	for ; q.flying[s] < int(q.window[s]); q.flying[s]++ {
		q.push(now+q.rtt/2*(1+0.02*q.rng.Float64()), 'a', s)
	}
}

func (q *queue) start(now float64) {
	if len(q.held) == 0 {
		return
	}
	t := q.service
	if q.held[0].stream < 0 {
		t *= 64. / 1448
	}
	q.push(now+t, 'd', 0)
}

func (q *queue) run() {
	q.window, q.slowEnd = slices.Repeat([]float64{4}, q.streams), slices.Repeat([]float64{1e9}, q.streams)
	q.flying, q.recovered = make([]int, q.streams), slices.Repeat([]float64{-1}, q.streams)
	for s := range q.streams {
		q.fill(q.rng.Float64()*q.rtt, s)
	}
	q.push(q.measured, 'p', -1)
	for len(q.events) > 0 {
		e := heap.Pop(&q.events).(event)
		if e.at > q.finish {
			return
		}
		q.step(e)
	}
}

func (q *queue) step(e event) {
	s := e.stream
	switch e.kind {
	case 'p':
		q.push(e.at+q.spacing*(0.5+q.rng.Float64()), 'p', -1)
		q.tries++
		q.arrive(e.at, -1)
	case 'a':
		q.arrive(e.at, s)
	case 'd':
		w := q.held[0]
		q.held = q.held[1:]
		if w.stream < 0 {
			q.delays = append(q.delays, e.at-w.since+q.jitter*q.rng.ExpFloat64())
		} else {
			q.push(e.at+q.rtt/2*(1+0.02*q.rng.Float64()), 'k', w.stream)
			if e.at > q.measured {
				q.served++
			}
		}
		q.start(e.at)
	case 'k':
		q.flying[s]--
		if q.window[s] < q.slowEnd[s] {
			q.window[s]++
		} else {
			q.window[s] += 1 / q.window[s]
		}
		q.fill(e.at, s)
	case 'l':
		q.flying[s]--
		if e.at > q.recovered[s] {
			q.window[s] = max(2, 0.7*q.window[s])
			q.slowEnd[s], q.recovered[s] = q.window[s], e.at+q.rtt+float64(q.buffer)*q.service
		}
		q.fill(e.at, s)
	}
}

func (q *queue) arrive(now float64, stream int) {
	switch {
	case len(q.held) < q.buffer:
		q.held = append(q.held, waiting{stream, now})
		if len(q.held) == 1 {
			q.start(now)
		}
	case stream >= 0:
		q.lost++
		q.push(now+q.rtt/2+float64(q.buffer)*q.service, 'l', stream)
	}
}

// batch is what the experiment would have recorded.
func (q *queue) batch() *probeBatch {
	ns := func(v ...float64) []int64 {
		out := make([]int64, len(v))
		for i := range v {
			out[i] = int64(v[i] * 1e9)
		}
		return out
	}
	idle := make([]float64, 200)
	for i := range idle {
		idle[i] = q.service*64/1448 + q.jitter*q.rng.ExpFloat64()
	}
	aux := map[string]float64{"sent": float64(q.tries), "received": float64(len(q.delays))}
	window := map[string]float64{"window_ns": (q.finish - q.measured) * 1e9, "window_messages": float64(q.served)}
	return &probeBatch{
		idle: []*dataset.Sample{{NS: ns(idle...)}},
		load: []*dataset.Sample{{NS: ns(q.delays...), Aux: aux}},
		drain: []*dataset.Sample{{NS: ns((q.finish - q.measured) / float64(q.served)), Aux: window,
			TCP: &dataset.TCP{Retrans: int64(q.lost)}}},
	}
}

// The quantile that stands for a full port finds its buffer within 5% or one packet, for few streams and many, small
// buffers and large, and hosts whose jitter is a third of a packet's time.
func TestProbeQuantile(t *testing.T) {
	const service, settle, probes = 300e-6, 2000, 400
	for _, streams := range []int{1, 2, 3, 6} {
		for _, c := range []struct {
			buffer  int
			spacing float64 // packets
		}{{16, 50}, {64, 50}, {200, 50}, {64, 8}, {200, 8}} {
			buffer := c.buffer
			var found []float64
			for seed := range uint64(3) {
				q := &queue{buffer: buffer, streams: streams, service: service, rtt: 10 * service, spacing: c.spacing * service,
					jitter: 0.3 * service, measured: settle * service, finish: (settle + probes*50) * service,
					rng: rand.New(rand.NewPCG(seed, uint64(buffer)))}
				q.run()
				b := q.batch()
				v, ok := b.buffer()
				if !ok || !b.overflowed() {
					t.Fatalf("%d streams, buffer %d: no estimate, or no loss", streams, buffer)
				}
				found = append(found, v)
			}
			slices.Sort(found)
			t.Logf("%d streams, buffer of %d packets, a probe every %g: %.1f", streams, buffer, c.spacing, found)
			if apart := math.Abs(found[1] - float64(buffer)); !(apart <= max(1, 0.05*float64(buffer))) {
				t.Errorf("buffer %g, want %d", found[1], buffer)
			}
		}
	}
}
