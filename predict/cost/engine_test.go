package cost

import (
	"testing"

	"calib/bench/pattern"
	"calib/params"
)

// Costs of the textbooks: Thakur, Rabenseifner, Gropp 2005, sections 4.1 to 4.5.
func TestHockneyTextbook(t *testing.T) {
	const alpha, beta, m = 50e-6, 8e-9, 96000
	h := hockney(alpha, beta)
	each := alpha + beta*m
	for _, tc := range []struct {
		name  string
		p     pattern.Pattern
		hosts int
		want  float64
	}{
		{"one message", find(t, "p2p", "direct"), 2, each},
		{"serial broadcast", find(t, "bcast", "serial"), 11, 10 * each},
		{"binomial broadcast, 8", as("bcast", "b", binomial), 8, 3 * each},
		{"binomial broadcast, 11", as("bcast", "b", binomial), 11, 4 * each},
		{"ring allreduce, 6", as("allreduce", "ring", rounds(10, ringStep)), 6, 10 * (alpha + beta*m/6)},
		{"recursive doubling, 16", as("allreduce", "rd", rounds(4, doublingStep)), 16, 4 * each},
		{"pairwise alltoall, 7", as("alltoall", "pairwise", rounds(6, pairStep)), 7, 6 * each},
		{"alltoall at once, 7", as("alltoall", "shifted", atOnceTo(6)), 7, 6 * each},
		{"7 to one", as("incast", "direct", incast), 8, alpha + 7*beta*m},
	} {
		near(t, tc.name, timeOf(t, h, tc.p, tc.hosts, m), tc.want)
	}
}

// told is a model that is told these parameters.
func told(of func(*params.Params) (Model, error), model string, values map[string]float64) Model {
	p := &params.Params{Parameters: map[string]params.Parameter{}}
	for name, v := range values {
		p.Parameters[name] = params.Parameter{Value: &v, Model: model, Status: params.StatusOK}
	}
	m, err := of(p)
	if err != nil {
		panic(err)
	}
	return m
}

func hockney(alpha, beta float64) Model {
	return told(Hockney, "hockney", map[string]float64{"alpha": alpha, "beta": beta})
}

func ofLogGP(l, os, or, g, perByte float64) Model {
	return told(LogGP, "loggp", map[string]float64{"L": l, "o_s": os, "o_r": or, "g": g, "G": perByte})
}

// train is n messages of rank 0 to rank 1.
func train(n, m int) pattern.Pattern {
	s := make(pattern.Schedule, 2)
	for range n {
		s[0], s[1] = append(s[0], out(1, m)), append(s[1], in(0, m))
	}
	return one(s)
}

// n messages of 1 byte take (n−1)·max(g, o) + 2o + L: Stoica, Sultan, Keyes 1994, section 6. Long ones: Alexandrov et
// al. 1995.
func TestLogGP(t *testing.T) {
	const L, o, g, G = 10e-6, 2e-6, 5e-6, 1e-9
	for _, n := range []int{1, 2, 17} {
		near(t, "g > o", timeOf(t, ofLogGP(L, o, o, g, G), train(n, 1), 2, 1), float64(n-1)*g+2*o+L)
		near(t, "g < o", timeOf(t, ofLogGP(L, g, g, o, G), train(n, 1), 2, 1), float64(n-1)*g+2*g+L)
	}
	m := ofLogGP(L, o, 3e-6, g, G)
	const long = 4000 * G
	for _, tc := range []struct {
		name  string
		p     pattern.Pattern
		hosts int
		want  float64
	}{
		{"a long message", train(1, 4001), 2, o + long + L + 3e-6},
		{"two long messages", train(2, 4001), 2, (g + long) + o + long + L + 3e-6},
		{"serial broadcast", find(t, "bcast", "serial"), 5, 3*(g+long) + o + long + L + 3e-6},
		{"four to one", as("incast", "direct", incast), 5, o + long + L + 3*(g+long) + 3e-6},
		{"ring", as("ring", "", rounds(3, func(i, _, n, m int) pattern.Step { return both((i+1)%n, (i+n-1)%n, m) })), 4,
			3 * (o + long + L + 3e-6)},
	} {
		near(t, tc.name, timeOf(t, m, tc.p, tc.hosts, 4001), tc.want)
	}
}

// A processor sends and receives one message at a time: the message that comes while rank 0 sends its second waits.
func TestOneProcessor(t *testing.T) {
	s := pattern.Schedule{
		{{Out: []pattern.Part{{Peer: 1, Bytes: 1}, {Peer: 2, Bytes: 1}}, In: []pattern.Part{{Peer: 1, Bytes: 1}}}},
		{both(0, 0, 1)},
		{in(0, 1)},
	}
	// 0 sends during [0, 8] and [8, 16]; the message of 1 is there at 9; 0 has it at 17, and 2 the other at 18.
	near(t, "exchange", timeOf(t, ofLogGP(1, 8, 1, 1, 1), one(s), 3, 1), 18)
	// With a busy receiver instead: there at 9, waited for till 16, done at 24.
	near(t, "exchange, slow receiver", timeOf(t, ofLogGP(1, 8, 8, 1, 1), one(s), 3, 1), 25)
}

// An exchange may be empty. A pattern is defined for some teams only.
func TestSchedules(t *testing.T) {
	h := &hyperbolic{}
	h.host.A, h.host.B = 1, 1
	empty := pattern.Schedule{{{}, out(1, 1), {}}, {in(0, 1), {}, {}}}
	for _, m := range []Model{hockney(1, 1), ofLogGP(1, 1, 1, 1, 1), h} {
		if v, err := m.Time(TrafficOf(one(empty), len(empty), 1)); err != nil || !(v > 0) {
			t.Errorf("%T: %g, %v", m, v, err)
		}
	}
	crossed := one(pattern.Schedule{{out(1, 1), in(1, 1)}, {out(0, 1), in(0, 1)}})
	near(t, "both send first, with buffers", timeOf(t, hockney(1, 1), crossed, 2, 1), 2)
	if _, err := hockney(1, 1).Time(TrafficOf(find(t, "p2p", "direct"), 3, 1)); err == nil {
		t.Error("p2p of three hosts has a time")
	}
}
