package models

import (
	"errors"
	"math"
	"testing"

	"calib/fit"
	"calib/fit/overlap"
	"calib/params"
	"calib/predict"
)

// Predictions of a run whose truth is known hold it in their intervals, and the best work is where the gain is largest.
func TestOverlap(t *testing.T) {
	w := overlappingPair()
	w.Between, w.Within, w.Rounds = 0.01, 0.02, 10
	p, errs := fit.Run([]fit.Model{overlap.Model}, w.Dataset(), fit.Settings{Replicates: 200})
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	o, err := predict.NewOverlap(p)
	if err != nil {
		t.Fatal(err)
	}
	holds := func(what string, v predict.Interval, want float64) {
		t.Helper()
		if v.CI95 == nil || v.CI95[0] > want || v.CI95[1] < want {
			t.Errorf("%s: %+v %v, want %g", what, v, v.CI95, want)
		}
	}
	const q = 3
	transfer := w.Transfer(4000)
	for _, work := range []float64{2e-3, 20e-3, 200e-3} {
		v, err := o.Predict(predict.Overlapping{Hosts: 16, Messages: q, Bytes: 4000, Work: work})
		if err != nil {
			t.Fatal(err)
		}
		// The overhead and the transfer are of each message.
		hidden := (1-w.F)*work + math.Max(w.F*work+q*w.Overhead, q*w.Penalty*transfer)
		holds("communication", v.Communication, q*transfer)
		holds("gain", v.Gain, (work+q*transfer)/hidden)
		holds("speed-up in turn", v.InTurn, 16*work/(work+q*transfer))
		holds("speed-up", v.Speedup, 16*work/hidden)
		holds("best work", *v.BestWork, q*(w.Penalty*transfer-w.Overhead)/w.F)
		beside, err := o.Predict(predict.Overlapping{Hosts: 16, Messages: q, Bytes: 4000, Work: v.BestWork.Value})
		if err != nil {
			t.Fatal(err)
		}
		near(t, "gain at the best work", beside.Gain.Value, v.BestGain.Value, 1e-9)
	}
	if n := o.Notes([]int{4000, 9000}); len(n) != 1 {
		t.Errorf("notes %q, want one of 9,000 bytes", n)
	}
	if _, err := predict.NewOverlap(&params.Params{}); !errors.Is(err, overlap.ErrParameters) {
		t.Errorf("%v, want ErrParameters", err)
	}
}
