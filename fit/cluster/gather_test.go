package cluster

import (
	"math"
	"testing"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
)

// TestArrivalInterval holds that a pause of 1 ms in a stream of 50 ms does not move its interval, and that bursts do
// not either.
func TestArrivalInterval(t *testing.T) {
	even, bursts := make([]int64, 100), make([]int64, 100)
	for i := range even {
		even[i] = 100e3 + int64(i%3)*1e3
		bursts[i] = 80e3
		if i%5 == 0 {
			bursts[i] = 180e3
		}
	}
	paused := append([]int64(nil), even...)
	paused[37] += 1e6
	for name, c := range map[string]struct {
		ns   []int64
		want float64
	}{"even": {even, 101e-6}, "paused": {paused, 101e-6}, "bursts": {bursts, 100e-6}} {
		sum := int64(0)
		for _, ns := range c.ns {
			sum += ns
		}
		l := &dataset.Sample{NS: c.ns, Aux: map[string]float64{names.AuxWindow: float64(sum), names.AuxWindowMessages: 100}}
		if got := arrivalInterval(l); len(got) != 1 || math.Abs(got[0]/c.want-1) > 0.003 {
			t.Errorf("%s: %v, want %g", name, got, c.want)
		}
	}
}
