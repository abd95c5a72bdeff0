package export

import (
	"container/heap"
	"math"
)

// logGOPS are the parameters of a LogGOPSim in its own unit of time.
type logGOPS struct {
	l, o, g, perByte int64   // L, o, g, O
	gb               float64 // G; LogGOPSim reads an integer, ATLAHS a double
	unit             float64 // s
	// gapOnReceipt: the message is charged g at the receiver too, and O at both ends, as ATLAHS does.
	gapOnReceipt bool
}

// bytesCost is (s−1)·G, cut off to an integer.
func (q logGOPS) bytesCost(s int64) int64 { return int64(float64(s-1) * q.gb) }

// tree simulates one message of s bytes on every edge of a binomial tree over p hosts, down from host 0 (a broadcast) or up
// to it (a reduction), and returns each host's finishing time. Rules are those of LogGOPSim for eager messages, whose
// receives are all posted: sending takes o + (s−1)·O of the processor and keeps the interface for g + (s−1)·G; the
// message is there o + L later; receiving waits for processor and interface, takes o + max((s−1)·O, (s−1)·G) of the
// one, and g + (s−1)·G of the other. Events of one time happen in the order they came up.
// Source: LogGOPSim.cpp (spcl/LogGOPSim, spcl/atlahs sim/LogGOPSim); schedules of schedgen's binomialtreereduce and -bcast.
func (q logGOPS) tree(p int, s int64, up bool) []int64 {
	t := &treeRun{logGOPS: q, bytes: s, up: up, cpu: make([]int64, p), in: make([]int64, p), out: make([]int64, p), pending: make([]int, p)}
	for v := range p {
		kids := childrenOf(v, p)
		t.pending[v] = len(kids)
		if up && v > 0 && len(kids) == 0 {
			t.push(event{host: v, peer: parentOf(v)})
		}
	}
	if !up {
		t.forward(0)
	}
	for len(t.queue) > 0 {
		t.step(heap.Pop(&t.queue).(event))
	}
	return t.cpu
}

// parentOf is host v without its highest bit.
func parentOf(v int) int {
	d := 1
	for 2*d <= v {
		d *= 2
	}
	return v - d
}

// treeRun is a simulation under way.
type treeRun struct {
	logGOPS
	bytes        int64
	up           bool
	cpu, in, out []int64 // when the processor and the two sides of the interface are free
	pending      []int   // messages a host waits for before it sends up
	queue        events
	order        int
}

// event is a send that wants to start at host, or a message that has come to it.
type event struct {
	time, order int64
	host, peer  int
	arrived     bool
}

func (t *treeRun) push(e event) {
	t.order++
	e.order = int64(t.order)
	heap.Push(&t.queue, e)
}

// forward starts the sends of a host to its children.
func (t *treeRun) forward(v int) {
	for _, c := range childrenOf(v, len(t.cpu)) {
		t.push(event{time: max(t.cpu[v], t.out[v]), host: v, peer: c})
	}
}

func (t *treeRun) step(e event) {
	side := t.out
	if e.arrived {
		side = t.in
	}
	if free := max(t.cpu[e.host], side[e.host]); free > e.time {
		e.time = free
		heap.Push(&t.queue, e)
		return
	}
	cost, own := t.bytesCost(t.bytes), (t.bytes-1)*t.perByte
	if !e.arrived {
		t.cpu[e.host] = e.time + t.o + own
		side[e.host] = e.time + t.g + cost
		at := e.time + t.o + t.l
		if t.gapOnReceipt {
			at += own + cost
		}
		t.push(event{time: at, host: e.peer, peer: e.host, arrived: true})
		return
	}
	if t.gapOnReceipt {
		side[e.host] = e.time + t.g
		t.cpu[e.host] = e.time + t.g + t.o + own
	} else {
		t.cpu[e.host] = e.time + t.o + max(own, cost)
		side[e.host] = e.time + t.g + cost
	}
	t.received(e.host)
}

// received starts what waited for a message at a host.
func (t *treeRun) received(v int) {
	if !t.up {
		t.forward(v)
		return
	}
	if t.pending[v]--; t.pending[v] == 0 && v > 0 {
		t.push(event{time: max(t.cpu[v], t.out[v]), host: v, peer: parentOf(v)})
	}
}

// events is a heap by time, then by order.
type events []event

func (h events) Len() int { return len(h) }
func (h events) Less(i, j int) bool {
	return h[i].time < h[j].time || h[i].time == h[j].time && h[i].order < h[j].order
}
func (h events) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *events) Push(x any)   { *h = append(*h, x.(event)) }
func (h *events) Pop() any {
	e := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return e
}

// rounding is how far times of a path of n messages of s bytes may be from the model's: half a unit for each parameter, half a
// unit a byte where G is an integer, and the cut of each (s−1)·G.
func (q logGOPS) rounding(n int, s int64) float64 {
	byByte := 0.0
	if q.gb == math.Trunc(q.gb) {
		byByte = 0.5 * float64(s-1)
	}
	return float64(n) * (2.5 + byByte + 0.5*float64(min(q.perByte, 1)*(s-1))) * q.unit
}

// compare evaluates one message and a broadcast by these rules and holds them against LogGP.
func (q logGOPS) compare(m logGP) error {
	for _, s := range []int64{1, 64, 1448, 65536, 1 << 20} {
		one := q.tree(2, s, false)[1]
		if got, want := float64(one)*q.unit, m.at(float64(s)); !within(got, want, q.rounding(1, s)) {
			return mismatch("the time of a message of "+number(float64(s))+" bytes", got, want, "s")
		}
		const hosts, path = 8, 6 // at most three messages one after the other and three spacings
		want := m.broadcast(hosts, float64(s))
		for v, t := range q.tree(hosts, s, false) {
			if got := float64(t) * q.unit; !within(got, want[v], q.rounding(path, s)) {
				return mismatch("the end of a broadcast of "+number(float64(s))+" bytes at host "+number(float64(v)), got, want[v], "s")
			}
		}
	}
	return nil
}
