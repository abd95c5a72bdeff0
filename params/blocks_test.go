package params

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, rel float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rel*math.Abs(want)) {
		t.Errorf("%s = %g, want %g within %g%%", what, got, want, 100*rel)
	}
}

// Figures from Stoica, Sultan, Keyes 1994: section 2.1 to 2.3 (rules, figures 2, 5, 7) and section 4 (parameters).
func TestRules(t *testing.T) {
	a, b := Block{2, 3}, Block{3, 2}
	c := Block{859.52e-6, 1.42e-6}
	for _, tc := range []struct {
		name      string
		got, want Block
	}{
		{"rule 1, independent, eq. 5", Serial(false, a, b), Block{5, 3}},
		{"rule 1, dependent, eq. 6", Serial(true, a, b), Block{5, 5}},
		{"rule 2, independent, eq. 9", Parallel(false, a, b), Block{2, 1.2}},
		{"rule 2, dependent, figure 5: T(x; 2, 3) and T(x; 3, 2) give T(x; 2, 2)", Parallel(true, a, b), Block{2, 2}},
		{"rule 3, equal sizes", c.ConcurrentEqual(4), Block{4 * c.A, 4 * c.B}},
		{"no blocks in series", Serial(false), Block{}},
		{"no blocks in parallel", Parallel(false), Block{}},
		{"eq. 16, n = 3", Serial(false, c, Block{345.6e-6, 0.92e-6}.ConcurrentEqual(3), c),
			Block{2*859.52e-6 + 3*345.6e-6, 3 * 0.92e-6}},
		{"eq. 16, n = 1: b of the host", Serial(false, c, Block{345.6e-6, 0.92e-6}, Block{A: 1e-4}, c),
			Block{2*859.52e-6 + 345.6e-6 + 1e-4, 1.42e-6}},
	} {
		if math.Abs(tc.got.A-tc.want.A) > 1e-15 || math.Abs(tc.got.B-tc.want.B) > 1e-15 {
			t.Errorf("%s: %v, want %v", tc.name, tc.got, tc.want)
		}
	}
}

// Figure 7 of the paper: 1 and 3 send to 4, 2 sends to 5, over one network; the message of 1 of size x1.
func TestConcurrentExample(t *testing.T) {
	x := []float64{100, 200, 300} // x1, x2, x3
	h, c := Block{8, 2}, Block{3, 1}
	net, err := c.Concurrent(0, x...)
	if err != nil {
		t.Fatal(err)
	}
	dst, err := h.Concurrent(0, x[0], x[2])
	if err != nil {
		t.Fatal(err)
	}
	got := Serial(false, h, net, dst)
	// a = a1 + 3·a_c + 2·a4, b = max(b1, b_c(x1+x2+x3)/x1, b4(x1+x3)/x1)
	if want := (Block{8 + 9 + 16, 8}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	for _, i := range []int{-1, 3} {
		if _, err := c.Concurrent(i, x...); !errors.Is(err, ErrBlock) {
			t.Errorf("message %d: %v", i, err)
		}
	}
	if _, err := c.Concurrent(0, 0); !errors.Is(err, ErrBlock) {
		t.Errorf("size 0: %v", err)
	}
}

// Figure 2 of the paper: a = 1, m = 0.5, p = 2, so that b = a/p + m = 1.
func TestServiceTime(t *testing.T) {
	c := Block{1, 1}
	for x, hyperbola := range map[float64]float64{0: 1, 1: 1.5, 2: 1.0/3 + 2, 3: 1.0/4 + 3, 20: 1.0/21 + 20} {
		near(t, "eq. 3", c.T(x), hyperbola, 1e-15)
	}
	if got := (Block{0, 2}).T(0); got != 0 {
		t.Errorf("T(0; 0, 2) = %g, want 0", got)
	}
	for _, bad := range []Block{{-1, 0}, {0, math.NaN()}, {math.Inf(1), 0}} {
		if err := bad.Check(); !errors.Is(err, ErrBlock) {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// The hyperbola starts at a, never falls, and lies within 0 to a above its asymptote b·x (section 2 of the paper).
func TestHyperbolaShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Block{rapid.Float64Range(1e-7, 1).Draw(t, "a"), rapid.Float64Range(1e-11, 1e-3).Draw(t, "b")}
		x := rapid.Float64Range(0, 1e8).Draw(t, "x")
		y := x + rapid.Float64Range(0, 1e6).Draw(t, "dx")
		if c.T(0) != c.A {
			t.Fatalf("T(0) = %g", c.T(0))
		}
		if c.T(y) < c.T(x)*(1-1e-12) {
			t.Fatalf("T falls from %g to %g", c.T(x), c.T(y))
		}
		if over := c.T(x) - c.B*x; over < -1e-9*c.T(x) || over > c.A*(1+1e-9)+1e-9*c.T(x) {
			t.Fatalf("T − b·x = %g, a = %g", over, c.A)
		}
	})
}
