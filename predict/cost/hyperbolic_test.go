package cost

import (
	"math"
	"testing"

	"calib/bench/pattern"
	"calib/params"
)

// sparc is the cluster of Stoica, Sultan, Keyes 1994, section 4.
func sparc() *hyperbolic {
	return &hyperbolic{host: params.Block{A: 859.52e-6, B: 1.42e-6}, network: params.Block{A: 345.6e-6, B: 0.92e-6}}
}

func limits(t *testing.T, h *hyperbolic, p pattern.Pattern, hosts, m int) (a, b float64) {
	t.Helper()
	l, err := TrafficOf(p, hosts, m).list()
	if err != nil {
		t.Fatal(err)
	}
	return h.short(l), h.long(l) / float64(m)
}

// Sections 3.1 to 3.3 of the paper: figures 10, 12, 13 and 14.
func TestHyperbolicGolden(t *testing.T) {
	for _, host := range []params.Block{{A: 859.52e-6, B: 1.42e-6}, {A: 859.52e-6, B: 0.3e-6}, {A: 859.52e-6, B: 2.5e-6},
		{A: 2e-3, B: 9e-6}} {
		h := sparc()
		h.host = host
		aW, aC, bW, bC := h.host.A, h.network.A, h.host.B, h.network.B
		a, b := limits(t, h, find(t, "bcast", "binary"), 11, 1000)
		near(t, "binary tree of 11, short", a, 8*aW+3*aC)
		near(t, "binary tree of 11, long", b, 2*max(bC, bW)+max(2*bC, bW)+2*max(3*bC, bW))
		for _, n := range []int{1, 2, 10} {
			a, b = limits(t, h, find(t, "bcast", "serial"), n+1, 1000)
			near(t, "serial broadcast, short", a, float64(n+1)*aW+aC)
			near(t, "serial broadcast, long", b, float64(n)*max(bC, bW))
		}
		for _, n := range []int{5, 16} {
			for _, k := range []int{1, 4} {
				got := h.neighbours(n, k)
				near(t, "neighbours, short", got.A, 2*float64(k)*aW+float64(k*n)*aC)
				near(t, "neighbours, long", got.B, max(float64(k*n)*bC, bW))
				near(t, "neighbours", timeOf(t, h, as("neighbour", "", atOnceTo(k)), n, 1000), got.T(1000))
			}
		}
	}
	// The paper leaves out that the six leaves' messages meet: the last waits for five.
	h := sparc()
	h.network.A = h.host.A * 1e-3
	a, _ := limits(t, h, find(t, "globalop", "p4"), 11, 8)
	if want := 19*h.host.A + 4*h.network.A; math.Abs(a-want) > 5.001*h.network.A {
		t.Errorf("global operation of 11: %g, want %g", a, want)
	}
	h.network.A = 0
	a, _ = limits(t, h, find(t, "globalop", "p4"), 11, 8)
	near(t, "global operation of 11 without contention", a, 19*h.host.A)
}

// Eq. 3 between the limits, with the bytes of the messages that there are.
func TestHyperbolicTime(t *testing.T) {
	h := sparc()
	aW, aC, bW, bC := h.host.A, h.network.A, h.host.B, h.network.B
	for _, m := range []int{1, 1000, 1 << 20} {
		near(t, "one message, eq. 16", timeOf(t, h, find(t, "p2p", "direct"), 2, m),
			params.ServiceTime(float64(m), 2*aW+aC, bW))
		near(t, "serial", timeOf(t, h, find(t, "bcast", "serial"), 6, m), params.ServiceTime(float64(m), 6*aW+aC, 5*bW))
	}
	// Ring of quarters of M: three rounds of four transfers at once. Short messages wait for each other in the first
	// round only.
	near(t, "parts of M", timeOf(t, h, as("ring", "", rounds(3, ringStep)), 4, 4000),
		params.ServiceTime(1000, 3*(2*aW+aC)+3*aC, 3*4*bC))
	// Two lengths: 1→0 of 3,000 B and 2→0 of 1,000 B, one after the other.
	two := one(pattern.Schedule{{in(1, 3000), in(2, 1000)}, {out(0, 3000)}, {out(0, 1000)}})
	near(t, "two lengths", timeOf(t, h, two, 3, 1), params.ServiceTime(1, 3*aW+aC, 4000*bW))
	// At once: both at the rate of half a receiver till the short one is done, and then the other alone.
	once := one(pattern.Schedule{{{In: []pattern.Part{{Peer: 1, Bytes: 3000}, {Peer: 2, Bytes: 1000}}}}, {out(0, 3000)},
		{out(0, 1000)}})
	near(t, "two lengths at once", timeOf(t, h, once, 3, 1), params.ServiceTime(1, 3*aW+aC, 1000*2*bW+2000*bW))
}

// On a switch messages share the port to their receiver only.
func TestHyperbolicSwitch(t *testing.T) {
	h := &hyperbolic{host: params.Block{A: 1e-3, B: 1e-8}, network: params.Block{A: 4e-3}, ports: true}
	a, b := limits(t, h, as("ring", "", rounds(1, pairStep)), 8, 1000)
	near(t, "ring, short", a, 2e-3+4e-3)
	near(t, "ring, long", b, 1e-8)
	a, b = limits(t, h, as("incast", "direct", incast), 8, 1000)
	near(t, "seven to one, short", a, 2e-3+7*4e-3)
	near(t, "seven to one, long", b, 7e-8)
	near(t, "alltoall", timeOf(t, h, as("alltoall", "shifted", atOnceTo(7)), 8, 1000),
		params.ServiceTime(1000, 14e-3+7*4e-3, 7e-8))
	for n := range 3 {
		if got := h.path(n + 1); got != (params.Block{A: 6e-3, B: 1e-8}) {
			t.Errorf("path of one of %d: %v", n+1, got)
		}
	}
}

// Two planes of two strips: edges of 8 B between the strips, then 1 KiB to the next plane (section 5.2, figures 18 and
// 20).
func TestBounds(t *testing.T) {
	const edge, grid = 8, 1024
	s := make(pattern.Schedule, 4)
	for i := range s {
		s[i] = append(s[i], both(i^1, i^1, edge))
	}
	for i := range 2 {
		s[i], s[i+2] = append(s[i], out(i+2, grid)), append(s[i+2], in(i, grid))
	}
	h := sparc()
	none, full, err := h.Bounds(TrafficOf(one(s), 4, 1))
	if err != nil {
		t.Fatal(err)
	}
	of := func(n, x int) float64 {
		return params.Serial(false, h.host, h.network.ConcurrentEqual(n), h.host).T(float64(x))
	}
	near(t, "no overlap", none, of(1, edge)+of(1, grid))
	near(t, "total overlap", full, of(4, edge)+of(2, grid))
	if v := timeOf(t, h, one(s), 4, 1); v < none*0.9 || v > full {
		t.Errorf("a time of %g outside of [%g, %g]", v, none, full)
	}
	if _, _, err := h.Bounds(TrafficOf(find(t, "p2p", "direct"), 3, 1)); err == nil {
		t.Error("p2p of three hosts has bounds")
	}
}
