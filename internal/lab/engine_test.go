package lab

import (
	"math"
	"testing"

	"calib/internal/netspec"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const us = 1000 // ns

// testSpec has round figures: a full packet (1,000 B) takes 300 µs in a host and 200 µs in the medium, one of 1 byte 100.2
// and 50.15 µs.
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
	e := newEngine(spec, func(p packet, why dropCause) {
		out = append(out, got{ID: int(p.buf), Cause: []string{"buffer", "loss"}[why]})
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
		{"2 to 1 on a switch meet in the port, then in the receiver", testSpec(switched), []sent{full(0, 0, 1), full(0, 2, 1)},
			[]got{{ID: 0, At: 810 * us}, {ID: 1, At: 1110 * us}}},
		{"a slow receiver", testSpec(slow), []sent{full(0, 0, 1)}, []got{{ID: 0, At: (300 + 200 + 10 + 1000) * us}}},
		{"a slow sender", testSpec(slow), []sent{full(0, 1, 0)}, []got{{ID: 0, At: (1000 + 200 + 10 + 300) * us}}},
		{"who reaches the medium first goes first, whoever was sent first", testSpec(slow),
			[]sent{full(0, 1, 0), full(600*us, 2, 3)},
			[]got{{ID: 1, At: 1410 * us}, {ID: 0, At: 1610 * us}}},
		{"an acknowledgement is free and waits for nothing", testSpec(), []sent{full(0, 0, 1), {1 * us, 0, 1, 0, free}},
			[]got{{ID: 1, At: 11 * us}, {ID: 0, At: 810 * us}}},
		{"a charged acknowledgement pays a in each block",
			testSpec(func(s *netspec.Spec) { s.ChargeAcks = true }), []sent{{0, 0, 1, 0, free}},
			[]got{{ID: 0, At: (100 + 50 + 10 + 100) * us}}},
		{"FIN waits its turn and takes no time", testSpec(),
			[]sent{full(0, 0, 1), {1 * us, 0, 1, 0, ordered}, full(1*us, 0, 1)},
			[]got{{ID: 0, At: 810 * us}, {ID: 1, At: 810 * us}, {ID: 2, At: 1110 * us}}},
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

// Eight senders of the paper's cluster, one byte each: the last message takes a + n·a_c + a (Stoica et al. 1994, rule 3).
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

// A burst of 5 into a port with room for 2: the first is in service, the second waits, and one more finds room each time
// one has left.
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
	e := newEngine(testSpec(), func(packet, dropCause) { t.Error("dropped") })
	e.advance(1000 * us)
	e.arrive(0, packet{dst: 1, payload: 1000})
	e.advance(1000 * us)
	if _, at, ok := e.deliver(1000 * us); !ok || at != 810*us {
		t.Errorf("due at %d (%v), want %d", at, ok, 810*us)
	}
}

// Whatever is sent: every packet ends once; packets of a pair that wait stay in order; none is faster than the sum of its
// services; the medium does not do more than time allows; and next is never later than a charged delivery.
func TestEngineProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec := testSpec()
		if rapid.Bool().Draw(t, "switched") {
			switched(spec)
		}
		spec.Buffer = rapid.IntRange(0, 4).Draw(t, "buffer")
		spec.Loss = rapid.SampledFrom([]float64{0, 0.2}).Draw(t, "loss")
		var in []sent
		var now int64
		for range rapid.IntRange(1, 60).Draw(t, "packets") {
			now += int64(rapid.IntRange(0, 400*us).Draw(t, "gap"))
			s := sent{at: now, src: rapid.IntRange(0, 3).Draw(t, "src"), bytes: rapid.IntRange(1, 1000).Draw(t, "bytes")}
			s.dst = (s.src + rapid.IntRange(1, 3).Draw(t, "step")) % 4
			in = append(in, s)
		}
		check(t, spec, in, play(spec, in))
	})
}

func check(t *rapid.T, spec *netspec.Spec, in []sent, out []got) {
	seen := map[int]bool{}
	last := map[[2]int]got{}
	var latest int64
	for _, g := range out {
		if seen[g.ID] {
			t.Fatalf("packet %d ended twice", g.ID)
		}
		seen[g.ID] = true
		if g.Cause != "" {
			continue
		}
		s := in[g.ID]
		least := nanos(spec.Service(spec.Host, s.bytes)) + nanos(spec.Service(spec.Medium, s.bytes)) + nanos(spec.L) +
			nanos(spec.Service(spec.Host, s.bytes))
		if g.At < s.at+least {
			t.Fatalf("packet %d took %d ns, its services alone take %d", g.ID, g.At-s.at, least)
		}
		if g.Late != 0 {
			t.Fatalf("next was %d ns too late for packet %d", g.Late, g.ID)
		}
		if g.At < latest {
			t.Fatalf("packet %d delivered at %d, after one at %d", g.ID, g.At, latest)
		}
		latest = g.At
		pair := [2]int{s.src, s.dst}
		if before, ok := last[pair]; ok && before.ID > g.ID {
			t.Fatalf("packet %d overtook %d", before.ID, g.ID)
		}
		last[pair] = g
	}
	if len(seen) != len(in) {
		t.Fatalf("%d packets ended of %d", len(seen), len(in))
	}
}

func TestEngineAllocates(t *testing.T) {
	e := newEngine(testSpec(), func(packet, dropCause) {})
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
