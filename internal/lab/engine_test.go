package lab

import (
	"math"
	"testing"

	"calib/internal/needs"
	"calib/internal/netspec"

	"github.com/google/go-cmp/cmp"
)

const us = 1000 // ns

// testSpec has round figures: a full packet (1,000 B) takes 300 µs in a host and 200 µs in the medium, one of 1 byte
// 100.2 and 50.15 µs.
func testSpec(change ...func(*netspec.Spec)) *netspec.Spec {
	s := &netspec.Spec{
		Name: "test", Hosts: 4, Mode: netspec.Shared, MSS: 1000, Seed: 1, L: 10e-6,
		Host:   netspec.Block{A: 100e-6, B: 0.3e-6},
		Medium: netspec.Block{A: 50e-6, B: 0.2e-6},
	}
	for _, f := range change {
		f(s)
	}
	return s
}

func switched(s *netspec.Spec) { s.Mode = netspec.Switched }

type sent struct {
	at       int64
	src, dst int
	bytes    int
	pass     passage
}

// got is a packet at its end: delivered, or dropped with Cause.
type got struct {
	ID    int // index of the packet sent
	At    int64
	Late  int64 // how much later than due next said to look
	Cause string
}

// play sends packets through a network, in real order of time, and returns what became of them in order of time.
func play(spec *netspec.Spec, packets []sent) []got {
	var out []got
	e := newFlight(spec, func(p packet, why netspec.Drop) {
		out = append(out, got{ID: int(p.buf), Cause: []string{"", "buffer", "loss"}[why]})
	})
	drain := func(until int64) {
		for {
			t, ok := e.next()
			if !ok || t > until {
				return
			}
			e.advance(t)
			for p, at, ok := e.deliver(t); ok; p, at, ok = e.deliver(t) {
				g := got{ID: int(p.buf), At: at}
				if p.pass == charged {
					g.Late = t - at
				}
				out = append(out, g)
			}
		}
	}
	for i, s := range packets {
		drain(s.at)
		e.arrive(s.at, packet{buf: int32(i), src: int32(s.src), dst: int32(s.dst), payload: int32(s.bytes), pass: s.pass})
	}
	drain(math.MaxInt64)
	return out
}

func TestEngineTimes(t *testing.T) {
	full := func(at int64, src, dst int) sent { return sent{at: at, src: src, dst: dst, bytes: 1000} }
	slow := func(s *netspec.Spec) {
		s.Overrides = map[int]netspec.Block{1: {A: 400e-6, B: 1e-6}}
	}
	receive := func(s *netspec.Spec) { s.Receive = &netspec.Block{A: 10e-6, B: 0.03e-6} }
	cut := func(s *netspec.Spec) { s.CutThrough = true }
	wide := func(s *netspec.Spec) { s.Medium = netspec.Block{A: 200e-6, B: 0.7e-6} }
	fabric := func(s *netspec.Spec) {
		s.Fabric = &netspec.Fabric{PerHost: 5e-6, Tau: 0.1e-6, Rate: 4e6, Window: 500e-6}
	}
	far := func(s *netspec.Spec) {
		s.Links = []netspec.Link{{Between: [][]int{{0}, {1, 2}}, Block: netspec.Block{A: 1e-6, B: 0.02e-6}, L: 70e-6}}
	}
	for _, c := range []struct {
		name string
		spec *netspec.Spec
		in   []sent
		want []got
	}{
		{"one packet: tx, medium, L, rx", testSpec(), []sent{full(0, 0, 1)}, []got{{ID: 0, At: (300 + 200 + 10 + 300) * us}}},
		{"one byte", testSpec(), []sent{{0, 0, 1, 1, charged}}, []got{{ID: 0, At: 260_550}}},
		{"a message of 3 packets: first + 2 of the slowest", testSpec(),
			[]sent{full(0, 0, 1), full(0, 0, 1), full(0, 0, 1)},
			[]got{{ID: 0, At: 810 * us}, {ID: 1, At: 1110 * us}, {ID: 2, At: 1410 * us}}},
		{"2 pairs on a shared medium: a + n·a_c + L + a", testSpec(), []sent{full(0, 0, 1), full(0, 2, 3)},
			[]got{{ID: 0, At: 810 * us}, {ID: 1, At: 1010 * us}}},
		{"2 pairs on a switch do not meet", testSpec(switched), []sent{full(0, 0, 1), full(0, 2, 3)},
			[]got{{ID: 0, At: 810 * us}, {ID: 1, At: 810 * us}}},
		{"2 to 1 on a switch meet in the port, then in the receiver", testSpec(switched),
			[]sent{full(0, 0, 1), full(0, 2, 1)},
			[]got{{ID: 0, At: 810 * us}, {ID: 1, At: 1110 * us}}},
		{"a slow receiver", testSpec(slow), []sent{full(0, 0, 1)}, []got{{ID: 0, At: (300 + 200 + 10 + 1000) * us}}},
		{"a slow sender", testSpec(slow), []sent{full(0, 1, 0)}, []got{{ID: 0, At: (1000 + 200 + 10 + 300) * us}}},
		{"who reaches the medium first goes first, whoever was sent first", testSpec(slow),
			[]sent{full(0, 1, 0), full(600*us, 2, 3)},
			[]got{{ID: 1, At: 1410 * us}, {ID: 0, At: 1610 * us}}},
		{"an acknowledgement is free and waits for nothing", testSpec(), []sent{full(0, 0, 1), {1 * us, 0, 1, 0, free}},
			[]got{{ID: 1, At: 11 * us}, {ID: 0, At: 810 * us}}},
		{"FIN waits its turn and takes no time", testSpec(),
			[]sent{full(0, 0, 1), {1 * us, 0, 1, 0, ordered}, full(1*us, 0, 1)},
			[]got{{ID: 0, At: 810 * us}, {ID: 1, At: 810 * us}, {ID: 2, At: 1110 * us}}},
		{"a packet takes at least min", testSpec(func(s *netspec.Spec) { s.Host.Min, s.Medium.Min = 150e-6, 60e-6 }),
			[]sent{{0, 0, 1, 1, charged}}, []got{{ID: 0, At: (150 + 60 + 10 + 150) * us}}},
		{"a receiving block of its own", testSpec(receive), []sent{full(0, 0, 1), full(0, 0, 1)},
			[]got{{ID: 0, At: (300 + 200 + 10 + 30) * us}, {ID: 1, At: (600 + 200 + 10 + 30) * us}}},
		{"an override is also the receiving block", testSpec(receive, slow), []sent{full(0, 0, 1)},
			[]got{{ID: 0, At: (300 + 200 + 10 + 1000) * us}}},
		{"cutting through, the medium ends with the slower block before it", testSpec(cut),
			[]sent{full(0, 0, 1), full(0, 0, 1)},
			[]got{{ID: 0, At: (300 + 10 + 300) * us}, {ID: 1, At: (600 + 10 + 300) * us}}},
		{"cutting through, a slower medium takes its own time", testSpec(cut, wide), []sent{full(0, 0, 1), full(0, 0, 1)},
			[]got{{ID: 0, At: (700 + 10 + 300) * us}, {ID: 1, At: (1400 + 10 + 300) * us}}},
		{"cutting through, the order is that of the ends", testSpec(cut, slow), []sent{full(0, 1, 0), full(600*us, 2, 3)},
			[]got{{ID: 1, At: (900 + 10 + 300) * us}, {ID: 0, At: (900 + 200 + 10 + 300) * us}}},
		{"cutting through, an acknowledgement is free and FIN waits its turn", testSpec(cut, wide),
			[]sent{full(0, 0, 1), {1 * us, 0, 1, 0, free}, {2 * us, 0, 1, 0, ordered}},
			[]got{{ID: 1, At: 11 * us}, {ID: 0, At: 1010 * us}, {ID: 2, At: 1010 * us}}},
		{"a link's delay is no time of its server, and acknowledgements have it", testSpec(switched, far),
			[]sent{full(0, 0, 1), full(0, 2, 0), {1 * us, 1, 0, 0, free}, {1 * us, 1, 2, 0, free}, full(2*us, 0, 2)},
			[]got{{ID: 3, At: 11 * us}, {ID: 2, At: 81 * us}, {ID: 0, At: 900 * us}, {ID: 1, At: 900 * us},
				{ID: 4, At: 1200 * us}}},
		{"cutting through, a link delays the medium", testSpec(switched, cut, wide, far),
			[]sent{full(0, 0, 1), full(0, 0, 1)},
			[]got{{ID: 0, At: (700 + 90 + 10 + 300) * us}, {ID: 1, At: (1400 + 90 + 10 + 300) * us}}},
		{"the fabric delays by the hosts that are active", testSpec(switched, fabric),
			[]sent{full(0, 0, 1), full(1*us, 2, 3), full(2000*us, 0, 1)},
			// One active, two, and one again: 500 µs is the window. A packet of 1,000 B in 300 µs is 10/3 B/µs, which
			// the limit of 4 bears once: two of them are 5/3 of it, and cost 2/3 of 1,000·tau more.
			[]got{{ID: 0, At: (810 + 5) * us}, {ID: 1, At: (811+10)*us + 66_667}, {ID: 2, At: (2810 + 5) * us}}},
		{"the fabric does not reorder, nor delay what is free", testSpec(switched, fabric),
			[]sent{full(0, 2, 3), full(0, 0, 1), {0, 0, 1, 1, charged}, {3 * us, 0, 1, 0, free}},
			[]got{{ID: 3, At: 13 * us}, {ID: 0, At: (810 + 5) * us}, {ID: 1, At: (810+10)*us + 66_667},
				{ID: 2, At: (810+10)*us + 66_667 + 100_200}}},
		{"a server is idle between packets", testSpec(), []sent{full(0, 0, 1), full(5000*us, 0, 1)},
			[]got{{ID: 0, At: 810 * us}, {ID: 1, At: 5810 * us}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, play(c.spec, c.in)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Eight senders of the paper's cluster, one byte each: the last message takes a + n·a_c + a (Stoica et al. 1994, rule
// 3).
func TestEngineSparc(t *testing.T) {
	spec, err := netspec.Preset("sparc1994", 16)
	if err != nil {
		t.Fatal(err)
	}
	var in []sent
	for i := range 8 {
		in = append(in, sent{src: 2 * i, dst: 2*i + 1, bytes: 1})
	}
	out := play(spec, in)
	a, ac := spec.Service(spec.Host, 1), spec.Service(spec.Medium, 1)
	if want := 2*a + 8*ac; math.Abs(float64(out[7].At)*1e-9-want) > 10e-9 {
		t.Errorf("last of 8 after %d ns, want %.9f s", out[7].At, want)
	}
}

// A burst of 5 into a port with room for 2: the first is in service, the second waits, and one more finds room each
// time one has left.
func TestEngineBuffer(t *testing.T) {
	spec := testSpec(switched, func(s *netspec.Spec) {
		s.Buffer, s.Host, s.L = 2, netspec.Block{}, 0
	})
	in := []sent{{bytes: 1000, dst: 1}, {bytes: 1000, dst: 1}, {bytes: 1000, dst: 1}, // the third finds it full
		{at: 100 * us, bytes: 1000, dst: 2},                                      // another port
		{at: 200 * us, bytes: 1000, dst: 1}, {at: 201 * us, bytes: 1000, dst: 1}, // the first leaves at 200: one fits
	}
	want := []got{{ID: 2, Cause: "buffer"}, {ID: 0, At: 200 * us}, {ID: 5, Cause: "buffer"},
		{ID: 3, At: 300 * us}, {ID: 1, At: 400 * us}, {ID: 4, At: 600 * us}}
	if diff := cmp.Diff(want, play(spec, in)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEngineLoss(t *testing.T) {
	spec := testSpec(func(s *netspec.Spec) { s.Loss = 0.1 })
	const n = 10000
	var in []sent
	for i := range n {
		in = append(in, sent{at: int64(i) * 400 * us, dst: 1, bytes: 1000})
	}
	first := play(spec, in)
	lost := 0
	for _, g := range first {
		if g.Cause == "loss" {
			lost++
		}
	}
	if sigma := math.Sqrt(n * 0.1 * 0.9); math.Abs(float64(lost)-n*0.1) > 4*sigma {
		t.Errorf("lost %d of %d, want 10%%", lost, n)
	}
	if diff := cmp.Diff(first, play(spec, in)); diff != "" {
		t.Error("the same seed lost other packets")
	}
	if cmp.Equal(first, play(testSpec(func(s *netspec.Spec) { s.Loss, s.Seed = 0.1, 2 }), in)) {
		t.Error("another seed lost the same packets")
	}
}

// A packet told of late is served from its own time if its server was idle then, and never makes time run backwards.
func TestEngineToldLate(t *testing.T) {
	e := newFlight(testSpec(), func(packet, netspec.Drop) { t.Error("dropped") })
	e.advance(1000 * us)
	e.arrive(0, packet{dst: 1, payload: 1000})
	e.advance(1000 * us)
	if _, at, ok := e.deliver(1000 * us); !ok || at != 810*us {
		t.Errorf("due at %d (%v), want %d", at, ok, 810*us)
	}
}

func TestEngineAllocates(t *testing.T) {
	needs.Allocations(t)
	e := newFlight(testSpec(), func(packet, netspec.Drop) {})
	now := int64(0)
	step := func() {
		now += 1000 * us
		e.arrive(now, packet{dst: 1, payload: 1000})
		e.advance(now)
		e.deliver(now)
	}
	for range 1000 {
		step()
	}
	if n := testing.AllocsPerRun(1000, step); n != 0 {
		t.Errorf("%v allocations a packet, want 0", n)
	}
}
