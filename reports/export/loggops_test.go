package export

import (
	"container/heap"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/params"
)

// simulator is LogGOPSim or ATLAHS with its parameters.
type simulator struct {
	logGOPS
	// gapOnReceipt: the message is charged g at the receiver too, and O at both ends, as ATLAHS does.
	gapOnReceipt bool
}

// bytesCost is (s−1)·G, cut off to an integer.
func (q simulator) bytesCost(s int64) int64 { return int64(float64(s-1) * q.gb) }

// tree simulates one message of s bytes on every edge of a binomial tree over p hosts, down from host 0 (a broadcast)
// or up to it (a reduction), and returns each host's finishing time. Rules are those of LogGOPSim for eager messages,
// whose receives are all posted: sending takes o + (s−1)·O of the processor and keeps the interface for g + (s−1)·G;
// the message is there o + L later; receiving waits for processor and interface, takes o + max((s−1)·O, (s−1)·G) of the
// one, and g + (s−1)·G of the other. Events of one time happen in the order they came up. Source: LogGOPSim.cpp
// (spcl/LogGOPSim, spcl/atlahs sim/LogGOPSim); schedules of schedgen's binomialtreereduce and -bcast.
func (q simulator) tree(p int, s int64, up bool) []int64 {
	t := &treeRun{simulator: q, bytes: s, up: up, cpu: make([]int64, p), in: make([]int64, p), out: make([]int64, p),
		pending: make([]int, p)}
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
	simulator
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

// rounding is how far times of a path of n messages of s bytes may be from the model's: half a unit for each parameter,
// half a unit a byte where G is an integer, and the cut of each (s−1)·G.
func (q simulator) rounding(n int, s int64) float64 {
	byByte := 0.0
	if q.gb == math.Trunc(q.gb) {
		byByte = 0.5 * float64(s-1)
	}
	return float64(n) * (2.5 + byByte + 0.5*float64(min(q.perByte, 1)*(s-1))) * q.unit
}

// compare evaluates one message and a broadcast by these rules and holds them against LogGP.
func (q simulator) compare(m logGP) error {
	for _, s := range []int64{1, 64, 1448, 65536, 1 << 20} {
		one := q.tree(2, s, false)[1]
		if got, want := float64(one)*q.unit, m.at(float64(s)); !within(got, want, q.rounding(1, s)) {
			return mismatch("the time of a message of "+number(float64(s))+" bytes", got, want, "s")
		}
		const hosts, path = 8, 6 // at most three messages one after the other and three spacings
		want := m.broadcast(hosts, float64(s))
		for v, t := range q.tree(hosts, s, false) {
			if got := float64(t) * q.unit; !within(got, want[v], q.rounding(path, s)) {
				return mismatch("the end of a broadcast of "+number(float64(s))+" bytes at host "+number(float64(v)), got, want[v],
					"s")
			}
		}
	}
	return nil
}

// broadcast returns when each of p hosts has a message of s bytes from host 0 by a binomial tree, in which host v sends
// to v + 2^r for every 2^r > v, the nearest first, and is done when it has received and sent.
func (m logGP) broadcast(p int, s float64) []float64 {
	has, done := make([]float64, p), make([]float64, p)
	spacing := math.Max(m.o()+(s-1)*m.perByte, m.g+(s-1)*m.gb)
	for v := range p { // a parent has a lower number
		for i, c := range childrenOf(v, p) {
			has[c] = has[v] + float64(i)*spacing + m.at(s)
			done[v] = has[v] + float64(i)*spacing + m.o() + (s-1)*m.perByte
		}
		done[v] = math.Max(done[v], has[v])
	}
	return done
}

// childrenOf lists the children of host v in a binomial tree over p hosts with root 0, nearest first.
func childrenOf(v, p int) []int {
	var out []int
	for d := 1; v+d < p; d *= 2 {
		if d > v {
			out = append(out, v+d)
		}
	}
	return out
}

// TestRulesKnownAnswer: the finishing times that LogGOPSim prints for its own example, a binomial reduction of 1,024
// bytes over 8 hosts with its default parameters (README.md of spcl/LogGOPSim).
func TestRulesKnownAnswer(t *testing.T) {
	q := simulator{logGOPS: logGOPS{l: 2500, o: 1500, g: 1000, gb: 6}}
	want := []int64{34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500}
	if diff := cmp.Diff(want, q.tree(8, 1024, true)); diff != "" {
		t.Error(diff)
	}
}

// TestRulesByHand: one message, and a broadcast over 4 hosts, added up by hand.
func TestRulesByHand(t *testing.T) {
	q := simulator{logGOPS: logGOPS{l: 2500, o: 1500, g: 1000, gb: 6}}
	atlahs := q
	atlahs.gapOnReceipt = true
	for _, c := range []struct {
		name  string
		rules simulator
		hosts int
		bytes int64
		want  []int64
	}{
		{"a byte", q, 2, 1, []int64{1500, 1500 + 2500 + 1500}},
		{"101 bytes", q, 2, 101, []int64{1500, 1500 + 2500 + 1500 + 600}},
		{"a byte in ATLAHS", atlahs, 2, 1, []int64{1500, 1500 + 2500 + 1000 + 1500}},
		{"101 bytes in ATLAHS", atlahs, 2, 101, []int64{1500, 1500 + 2500 + 600 + 1000 + 1500}},
		// 0 sends to 1 at 0 and to 2 at o, for g < o; 1 has it at 5500 and sends to 3.
		{"broadcast of a byte", q, 4, 1, []int64{3000, 5500 + 1500, 1500 + 5500, 5500 + 5500}},
		// g + 600 = 1600 > o: the second message starts then; the first takes 6100.
		{"broadcast of 101 bytes", q, 4, 101, []int64{3100, 6100 + 1500, 1600 + 6100, 6100 + 6100}},
	} {
		if diff := cmp.Diff(c.want, c.rules.tree(c.hosts, c.bytes, false)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestLogGPExactly: with parameters that are whole ps, the rules on what was read from the file give LogGP's times to
// the ps: T(s) = L + o_s + o_r + (s−1)·G for one message, and max(o, g + (s−1)·G) between those of one host, though o_s
// and o_r differ.
func TestLogGPExactly(t *testing.T) {
	p := fixture()
	const l, os, or, g, gb = 392348509, 4535401, 851713, 150219998, 253490 // ps
	for name, v := range map[string]float64{"L": l, "o_s": os, "o_r": or, "g": g, "G": gb} {
		set(p, name, v*1e-12)
	}
	q, err := readLogGOPSim(write(t, lookup(t, "loggopsim"), p, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if q.unit != 1e-12 {
		t.Fatalf("unit %g", q.unit)
	}
	for _, s := range []int64{1, 2, 64, 1448, 1449, 65536, 4194304} {
		one := int64(l+os+or) + (s-1)*gb
		if got := q.tree(2, s, false)[1]; got != one {
			t.Errorf("%d bytes: %d ps, LogGP %d", s, got, one)
		}
		// Host 0 sends to 1, 2, 4; 1 to 3, 5; 2 to 6; 3 to 7. Receivers that send on are done o after their last send.
		spacing, o := g+(s-1)*gb, int64(os+or)/2
		want := []int64{2*spacing + o, one + spacing + o, spacing + one + o, 2*one + o, 2*spacing + one, 2*one + spacing,
			spacing + 2*one, 3 * one}
		if diff := cmp.Diff(want, q.tree(8, s, false)); diff != "" {
			t.Errorf("broadcast of %d bytes: %s", s, diff)
		}
	}
}

// TestUnit: G keeps its digits from fast networks to slow ones, and L stays an int.
func TestUnit(t *testing.T) {
	for _, c := range []struct {
		l, g float64
		unit float64
	}{
		{392e-6, 253e-9, 1e-12},  // the lab
		{10e-6, 0.08e-9, 1e-14},  // 100 Gbit/s at 10 µs
		{1.5e-6, 0.02e-9, 1e-15}, // 400 Gbit/s at 1.5 µs
		{50e-3, 8e-9, 1e-10},     // 1 Gbit/s over 10,000 km
	} {
		m := logGP{l: c.l, os: 1e-7, or: 1e-7, g: 1e-6, gb: c.g}
		q, err := chooseUnit(m)
		if err != nil || !within(q.unit, c.unit, 0) {
			t.Errorf("L = %g s, G = %g s/B: unit %g, %v; want %g", c.l, c.g, q.unit, err, c.unit)
			continue
		}
		if err := (simulator{logGOPS: q}).compare(m); err != nil {
			t.Errorf("L = %g s, G = %g s/B: %v", c.l, c.g, err)
		}
	}
	if _, err := chooseUnit(logGP{l: 1, gb: 1e-11}); !errors.Is(err, ErrLimit) {
		t.Errorf("L of 1 s with G of 10 ps: %v", err)
	}
}

// TestOverheadWithinNoise: overheads that cannot be told from zero, and came out below it, are 0; a message takes as
// long.
func TestOverheadWithinNoise(t *testing.T) {
	p := set(set(fixture(), "o_s", -9.908e-9), "o_r", 4.632e-9)
	file, warnings, err := lookup(t, "loggopsim").Export(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(warnings, "\n"); !strings.Contains(text, "below zero within the noise: o is 0") {
		t.Errorf("warnings %s", text)
	}
	q, err := readLogGOPSim(file)
	if err != nil || q.o != 0 || q.l != 392343234 { // 392348510 − 9908 + 4632 ps
		t.Errorf("%+v, %v", q, err)
	}
}

// TestPerByte: an o_s that grows with the size is O, up to G.
func TestPerByte(t *testing.T) {
	for _, c := range []struct{ slope, lo, want float64 }{{3e-10, 2e-10, 300}, {3e-10, -1e-10, 0}, {1e-6, 9e-7, 253490}} {
		p := fixture()
		p.Functions["o_s"] = params.Function{Form: params.Line, Unit: "s",
			Coeff: map[string]float64{"c0": 4.5e-6, "c1": c.slope},
			CI95:  map[string][2]float64{"c1": {c.lo, 2 * c.slope}}}
		file, _, err := lookup(t, "loggopsim").Export(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if q, err := readLogGOPSim(file); err != nil || float64(q.perByte) != c.want {
			t.Errorf("slope %g from %g: O = %d, %v; want %g", c.slope, c.lo, q.perByte, err, c.want)
		}
	}
}
