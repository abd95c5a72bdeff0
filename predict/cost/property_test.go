package cost

import (
	"testing"

	"pgregory.net/rapid"

	"calib/bench/pattern"
	"calib/params"
)

func positive(t *rapid.T, name string) float64 { return rapid.Float64Range(1e-7, 1e-2).Draw(t, name) }
func anyPerByte(t *rapid.T, name string) float64 {
	return rapid.Float64Range(1e-11, 1e-5).Draw(t, name)
}

// anyModel draws a model that evaluates schedules.
func anyModel(t *rapid.T) Model {
	switch rapid.SampledFrom([]string{"hockney", "loggp", "hyperbolic"}).Draw(t, "model") {
	case "hockney":
		return hockney(positive(t, "alpha"), anyPerByte(t, "beta"))
	case "loggp":
		return ofLogGP(positive(t, "L"), positive(t, "o_s"), positive(t, "o_r"), positive(t, "g"), anyPerByte(t, "G"))
	}
	return anyHyperbolic(t)
}

func anyHyperbolic(t *rapid.T) *hyperbolic {
	h := &hyperbolic{host: params.Block{A: positive(t, "a"), B: anyPerByte(t, "b")}, ports: rapid.Bool().Draw(t, "switch")}
	if !h.ports || rapid.Bool().Draw(t, "with network") {
		h.network = params.Block{A: positive(t, "a_c"), B: anyPerByte(t, "b_c")}
	}
	return h
}

// anyTree draws a broadcast over a tree, of m times some bytes a message. Every rank waits for one other only, so that
// nothing that comes later can make another thing earlier.
func anyTree(t *rapid.T) (hosts int, of func(size, m int) pattern.Schedule) {
	parents := rapid.SliceOfN(rapid.IntRange(0, 1<<20), 1, 20).Draw(t, "parents")
	bytes := rapid.SliceOfN(rapid.IntRange(1, 5000), len(parents), len(parents)).Draw(t, "bytes")
	return len(parents) + 1, func(size, m int) pattern.Schedule {
		s := make(pattern.Schedule, size)
		for i, p := range parents {
			from := p % (i + 1)
			s[from], s[i+1] = append(s[from], out(i+1, m*bytes[i])), append(s[i+1], in(from, m*bytes[i]))
		}
		return s
	}
}

// anyRounds draws messages and exchanges in an order that all ranks follow, so that they end.
func anyRounds(t *rapid.T) pattern.Schedule {
	s := make(pattern.Schedule, rapid.IntRange(2, 9).Draw(t, "hosts"))
	n := len(s)
	for range rapid.IntRange(1, 12).Draw(t, "rounds") {
		bytes, by := rapid.IntRange(1, 1<<20).Draw(t, "bytes"), rapid.IntRange(1, n-1).Draw(t, "by")
		if rapid.Bool().Draw(t, "all") {
			for i := range s {
				s[i] = append(s[i], both((i+by)%n, (i+n-by)%n, bytes))
			}
			continue
		}
		from := rapid.IntRange(0, n-1).Draw(t, "from")
		to := (from + by) % n
		s[from], s[to] = append(s[from], out(to, bytes)), append(s[to], in(from, bytes))
	}
	return s
}

// Longer messages take longer, and the time of one never exceeds that of all.
func TestGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := anyModel(t)
		hosts, of := anyTree(t)
		p := as("bcast", "tree", of)
		k := rapid.IntRange(1, 1000).Draw(t, "m")
		short, err := m.Time(TrafficOf(p, hosts, k))
		if err != nil {
			t.Fatal(err)
		}
		long, err := m.Time(TrafficOf(p, hosts, k+rapid.IntRange(1, 1000).Draw(t, "more")))
		if err != nil {
			t.Fatal(err)
		}
		if !(short > 0) || long < short*(1-1e-9) {
			t.Fatalf("%g s, and %g s for longer messages", short, long)
		}
	})
}

// All that can be followed ends: no sooner than its longest message alone, no later than all messages one after the
// other.
func TestBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, m := anyRounds(t), anyModel(t)
		v, err := m.Time(TrafficOf(one(s), len(s), 1))
		if err != nil {
			t.Fatal(err)
		}
		longest, sum := 0.0, 0.0
		for i, steps := range s {
			for _, st := range steps {
				for _, q := range st.Out {
					pair := one(pattern.Schedule{{out(1, q.Bytes)}, {in(0, q.Bytes)}})
					alone, err := m.Time(TrafficOf(pair, 2, 1))
					if err != nil {
						t.Fatal(i, err)
					}
					twice := one(pattern.Schedule{{out(1, q.Bytes), out(1, q.Bytes)}, {in(0, q.Bytes), in(0, q.Bytes)}})
					both, err := m.Time(TrafficOf(twice, 2, 1)) // with the gap behind it
					if err != nil {
						t.Fatal(i, err)
					}
					longest, sum = max(longest, alone), sum+2*both
				}
			}
		}
		if v < longest*(1-1e-9) {
			t.Fatalf("%g s, and %g s for one message of it", v, longest)
		}
		// the sum of hyperbolas is no bound of a hyperbola of sums
		if _, hyperbola := m.(*hyperbolic); !hyperbola && v > sum {
			t.Fatalf("%g s, and %g s for all of its messages in turn", v, sum)
		}
	})
}

// Messages that share the network are no faster than alone.
func TestBoundsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := anyHyperbolic(t)
		hosts, of := anyTree(t)
		none, full, err := h.Bounds(TrafficOf(as("bcast", "tree", of), hosts, 1))
		if err != nil || !(none > 0) || full < none*(1-1e-9) {
			t.Fatalf("[%g, %g], %v", none, full, err)
		}
	})
}

// Eq. 18 and 19 of Stoica, Sultan, Keyes 1994: with a = 2o + L, b = max(g, o) the hyperbola of n packets is within
// [3/4, 1] of n messages of LogGP, and so is the sender's time, a = b = o.
func TestLogPRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		L, o, g := positive(t, "L"), positive(t, "o"), positive(t, "g")
		n := rapid.IntRange(1, 60).Draw(t, "n")
		within := func(what string, hyp, logp float64) {
			if r := hyp / logp; r < 0.75-1e-9 || r > 1+1e-9 {
				t.Fatalf("%s: %g", what, r)
			}
		}
		v, err := ofLogGP(L, o, o, g, 1).Time(TrafficOf(train(n, 1), 2, 1))
		if err != nil {
			t.Fatal(err)
		}
		within("eq. 18", params.ServiceTime(float64(n-1), 2*o+L, max(g, o)), v)
		// A sender that never waits for its interface is busy until L + o before the last delivery.
		if v, err = ofLogGP(L, o, o, min(g, o), 1).Time(TrafficOf(train(n, 1), 2, 1)); err != nil {
			t.Fatal(err)
		}
		within("eq. 19", params.ServiceTime(float64(n-1), o, o), v-L-o)
	})
}
