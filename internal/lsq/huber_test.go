package lsq

import (
	"errors"
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
	want, robust, err := Huber(line(m), clean, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, dirty := pingpong(true)
	got, late, err := Huber(line(m), dirty, nil)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Linear(line(m), dirty, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("huber %v, without outliers %v, least squares %v", got.Coef, want.Coef, plain.Coef)
	se := stdErr(t, line(m), clean, robust, want.RSS)
	for j := range want.Coef {
		if d := math.Abs(got.Coef[j]-want.Coef[j]) / se[j]; d > 1 {
			t.Errorf("coefficient %d moved by %.2f standard errors", j, d)
		}
	}
	for i := range 4 {
		if w := late[i*1501]; w > 1e-3 {
			t.Errorf("outlier %d has weight %g", i, w)
		}
	}
}

// TestHuberSmallSizes fits a short range of sizes, where four timeouts in 6,600 turn the least-squares slope negative
// and must not turn the robust one.
func TestHuberSmallSizes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var m, y []float64
	for i := range 6600 {
		size := float64(1 + i%1448)
		m = append(m, size)
		y = append(y, 1e-4+size*1e-8+3e-6*rng.NormFloat64())
	}
	for i, late := range []float64{24e-3, 57e-3, 110e-3, 202e-3} {
		y[i] += late
	}
	plain, err := Linear(line(m), y, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, robust, err := Huber(line(m), y, nil)
	if err != nil {
		t.Fatal(err)
	}
	if plain.Coef[1] >= 0 {
		t.Errorf("the test is toothless: least squares gives %g", plain.Coef[1])
	}
	near(t, "slope", got.Coef[1]/1e-8, 1, 0.02)
	near(t, "intercept", got.Coef[0]/1e-4, 1, 0.01)
	scale := robust[0] * (y[0] - got.Coef[0] - got.Coef[1]*m[0]) / huberK // that of an outlier
	near(t, "scale", scale/3e-6, 1, 0.05)
}

func TestHuberExactAndErrors(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7}
	y := []float64{3, 5, 7, 9, 11, 1000, 15}
	sol, _, err := Huber(line(x), y, nil)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope through an outlier", sol.Coef[1], 2, 1e-9)
	y[5] = 13
	if sol, _, err = Huber(line(x), y, nil); err != nil {
		t.Fatal(err)
	}
	near(t, "exact slope", sol.Coef[1], 2, 1e-13)
	if sol, _, err = Huber(line(x), make([]float64, 7), nil); err != nil || sol.Coef[1] != 0 {
		t.Errorf("zeros: %+v, %v", sol, err)
	}
	weighted, _, err := Huber(line(x), []float64{3, 5, 7, 9, 11, 1000, 15}, []float64{1, 1, 1, 1, 1, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "prediction of a row without weight", weighted.Coef[0]+6*weighted.Coef[1], 13, 1e-12)
	if _, _, err := Huber(line(x[:1]), y[:1], nil); !errors.Is(err, ErrShort) {
		t.Errorf("one row: %v", err)
	}
	if _, _, err := Huber(line([]float64{1, 1, 1}), y[:3], nil); !errors.Is(err, ErrCondition) {
		t.Errorf("one x: %v", err)
	}
	if _, _, err := Huber(line(x), []float64{1, 2, 3, math.NaN(), 5, 6, 7}, nil); !errors.Is(err, ErrNotFinite) {
		t.Errorf("NaN: %v", err)
	}
}
