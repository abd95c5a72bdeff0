package fit

import (
	"math"
	"testing"

	"calib/internal/lsq"
)

// A line through points of a curve with steps does not have the slope of the curve: its interval holds what the steps
// do, though repetitions hardly differ.
func TestOfMisfit(t *testing.T) {
	const slope, packet, step = 1e-6, 1448, 300e-6
	curve := func(x float64) float64 { return 1e-3 + slope*x + step*(math.Ceil(x/packet)-x/packet-0.5) }
	x := []float64{14_000, 22_600, 36_001, 47_000, 62_345}
	line := func(y []float64) ([]float64, error) {
		l, err := lsq.FitLine(x, y, nil)
		return []float64{l.C1}, err
	}
	measure := func(of func(x float64) float64) (y []float64, l lsq.Line) {
		for _, v := range x {
			y = append(y, of(v))
		}
		l, err := lsq.FitLine(x, y, nil)
		if err != nil {
			t.Fatal(err)
		}
		return y, l
	}
	y, l := measure(curve)
	at := func(i int) float64 { return l.At(x[i]) }
	narrow := [2]float64{l.C1 * (1 - 1e-5), l.C1 * (1 + 1e-5)}
	terms := OfMisfit(y, at, 2, line, narrow)[0]
	if ci := Add(l.C1, narrow, terms); len(terms) != 1 || ci[0] > slope || ci[1] < slope || ci[1]-ci[0] > slope/10 {
		t.Errorf("slope %g, interval %v: want one that holds %g, and not much more", l.C1, ci, slope)
	}
	if narrow[0] <= slope && slope <= narrow[1] {
		t.Errorf("slope %g: the curve is a line", l.C1)
	}
	if got := OfMisfit(y, at, 2, line, [2]float64{l.C1, l.C1})[0]; got != nil {
		t.Errorf("of a single round: %v", got)
	}
	if got := OfMisfit(y[:2], at, 2, line, narrow)[0]; got != nil {
		t.Errorf("of a line through two points: %v", got)
	}
	y, l = measure(func(x float64) float64 { return 1e-3 + slope*x })
	if got := OfMisfit(y, at, 2, line, narrow)[0]; got != nil {
		t.Errorf("of points on a line: %v", got)
	}
}
