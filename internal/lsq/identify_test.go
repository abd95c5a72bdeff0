package lsq

import (
	"errors"
	"math"
	"testing"
)

func TestIdentify(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6}
	sol, err := Linear(line(x), []float64{3.1, 5, 7.05, 8.95, 11, 13.1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	id, err := sol.Identify(0.95)
	if err != nil || id[1].Standing != Determined || id[1].Value != sol.Coef[1] {
		t.Errorf("slope %+v, %v", id, err)
	}
	noise, err := Linear(line(x), []float64{1, -1, 2, -2, 1, -1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id, err = noise.Identify(0.95); err != nil || id[1].Standing != Indistinct || id[1].Bound[0] > 0 || id[1].Bound[1] < 0 {
		t.Errorf("slope of noise %+v, %v", id, err)
	}
	two, err := Linear(line(x[:2]), []float64{1, 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if id, err = two.Identify(0.95); err != nil || id[0].Standing != Unidentified || !math.IsInf(id[0].Bound[1], 1) {
		t.Errorf("two points %+v, %v", id, err)
	}
	if _, err := two.Identify(0); !errors.Is(err, ErrShape) {
		t.Errorf("level 0: %v", err)
	}
}
