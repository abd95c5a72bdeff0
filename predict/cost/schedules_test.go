package cost

import (
	"math"
	"testing"

	"calib/bench/pattern"
)

// out and in are steps of one message, both of an exchange of one each way.
func out(peer, bytes int) pattern.Step {
	return pattern.Step{Out: []pattern.Part{{Peer: peer, Bytes: bytes}}}
}
func in(peer, bytes int) pattern.Step {
	return pattern.Step{In: []pattern.Part{{Peer: peer, Bytes: bytes}}}
}
func both(to, from, bytes int) pattern.Step {
	return pattern.Step{Out: out(to, bytes).Out, In: in(from, bytes).In}
}

// as is a pattern that does what a schedule says.
func as(operation, algorithm string, of func(size, m int) pattern.Schedule) pattern.Pattern {
	run := func(c pattern.Comm, m int, s *pattern.Scratch) {
		for _, st := range of(c.Size(), m)[c.Rank()] {
			var out, in []pattern.Message
			for _, p := range st.Out {
				out = append(out, pattern.Message{Peer: p.Peer, Data: s.Out(p.Bytes)})
			}
			for _, p := range st.In {
				in = append(in, pattern.Message{Peer: p.Peer, Data: s.In(p.Bytes)})
			}
			c.Exchange(out, in)
		}
	}
	return pattern.Pattern{Operation: operation, Algorithm: algorithm, Run: run}
}

// one is a pattern of one schedule.
func one(s pattern.Schedule) pattern.Pattern {
	return as("test", "one", func(int, int) pattern.Schedule { return s })
}

// binomial: in step k ranks below 2^k send to 2^k more.
func binomial(size, m int) pattern.Schedule {
	s := make(pattern.Schedule, size)
	for by := 1; by < size; by *= 2 {
		for i := 0; i < by && i+by < size; i++ {
			s[i], s[i+by] = append(s[i], out(i+by, m)), append(s[i+by], in(i, m))
		}
	}
	return s
}

// rounds has every rank do one exchange a round.
func rounds(n int, of func(rank, round, size, m int) pattern.Step) func(size, m int) pattern.Schedule {
	return func(size, m int) pattern.Schedule {
		s := make(pattern.Schedule, size)
		for i := range s {
			for k := range n {
				s[i] = append(s[i], of(i, k, size, m))
			}
		}
		return s
	}
}

func ringStep(i, _, size, m int) pattern.Step {
	return both((i+1)%size, (i+size-1)%size, m/size)
}
func doublingStep(i, k, _, m int) pattern.Step { return both(i^1<<k, i^1<<k, m) }
func pairStep(i, k, size, m int) pattern.Step {
	return both((i+k+1)%size, (i+size-k-1)%size, m)
}

// atOnceTo has every rank exchange with the k next ranks, all in one exchange.
func atOnceTo(k int) func(size, m int) pattern.Schedule {
	return rounds(1, func(i, _, size, m int) pattern.Step {
		var s pattern.Step
		for by := range k {
			b := pairStep(i, by, size, m)
			s.Out, s.In = append(s.Out, b.Out...), append(s.In, b.In...)
		}
		return s
	})
}

// incast: every rank sends to rank 0, which takes them by rank.
func incast(size, m int) pattern.Schedule {
	s := make(pattern.Schedule, size)
	for i := 1; i < size; i++ {
		s[0], s[i] = append(s[0], in(i, m)), append(s[i], out(0, m))
	}
	return s
}

func find(t *testing.T, operation, algorithm string) pattern.Pattern {
	t.Helper()
	p, err := pattern.Find(operation, algorithm)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func timeOf(t *testing.T, m Model, p pattern.Pattern, hosts, bytes int) float64 {
	t.Helper()
	v, err := m.Time(TrafficOf(p, hosts, bytes))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}
