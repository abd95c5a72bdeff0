package lsq

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pingpong generates half round trips a + b·m with 1% noise and a tail, and puts four retransmission timeouts on small
// messages.
func pingpong(outliers bool) (m, y []float64) {
	rng := rand.New(rand.NewPCG(7, 11))
	for range 300 {
		for k := range 22 {
			size := math.Ldexp(1, k)
			m = append(m, size)
			y = append(y, (1e-4+size*9.5e-9)*(1+0.01*rng.ExpFloat64())+2e-6*rng.NormFloat64())
		}
	}
	if outliers {
		for i, late := range []float64{24e-3, 57e-3, 110e-3, 202e-3} {
			y[i*1500+i] += late
		}
	}
	return m, y
}

func TestHuberPingPong(t *testing.T) {
	m, clean := pingpong(false)
	want, err := HuberLine(m, clean)
	if err != nil {
		t.Fatal(err)
	}
	_, dirty := pingpong(true)
	got, err := HuberLine(m, dirty)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := FitLine(m, dirty, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("huber %v, without outliers %v, least squares %v", got, want, plain)
	near(t, "intercept", got.C0/want.C0, 1, 2e-4)
	near(t, "slope", got.C1/want.C1, 1, 2e-4)
}

// TestHuberSmallSizes fits a short range of sizes, where four in 6,600 times turn the least-squares slope negative and
// must not turn the robust one.
func TestHuberSmallSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var m, y []float64
	for i := range 6600 {
		size := float64(1 + i%1448)
		m = append(m, size)
		y = append(y, 1e-4+size*1e-8+1e-6*rng.NormFloat64())
	}
	for i, early := range []float64{1e-6, 2e-6, 3e-6, 4e-6} {
		y[1447-i] = early
	}
	plain, err := FitLine(m, y, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := HuberLine(m, y)
	if err != nil {
		t.Fatal(err)
	}
	if plain.C1 >= 0 {
		t.Errorf("the test is toothless: least squares gives %g", plain.C1)
	}
	near(t, "slope", got.C1/1e-8, 1, 0.03)
	near(t, "intercept", got.C0/1e-4, 1, 0.01)
}

func TestHuberExactAndErrors(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7}
	y := []float64{3, 5, 7, 9, 11, 1000, 15}
	l, err := HuberLine(x, y)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope through an outlier", l.C1, 2, 1e-9)
	y[5] = 13
	if l, err = HuberLine(x, y); err != nil {
		t.Fatal(err)
	}
	near(t, "exact slope", l.C1, 2, 1e-13)
	for name, c := range map[string]struct{ x, y []float64 }{
		"none": {nil, nil}, "one row": {x[:1], y[:1]}, "one x": {[]float64{1, 1, 1}, y[:3]}, "zeros": {x, make([]float64, 7)},
		"NaN": {x, []float64{1, 2, 3, math.NaN(), 5, 6, 7}},
	} {
		if _, err := HuberLine(c.x, c.y); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
