package models

import (
	"math"
	"testing"

	"calib/fit/buffer"
	"calib/internal/dataset"
	"calib/params"
)

// held is what a port that was kept full held of datagrams of a size: by round, the quartiles and the number of losses.
type held struct {
	bytes, low, median, high, losses float64
}

// fullPort is three rounds of batches, and in each two bursts of senders that shared a CPU: they say little.
func fullPort(sizes ...held) *dataset.Dataset {
	w := port()
	d := &dataset.Dataset{Header: w.Dataset().Header}
	for round := range 3 {
		add := func(phase string, bytes, packets int64, aux map[string]float64) {
			d.Samples = append(d.Samples, dataset.Sample{Exp: "flood", Phase: phase, Round: round, Slot: round,
				Ranks: []int{0, 1, 2, 3},
				Point: dataset.Point{"bytes": bytes, "packets": packets, "senders": 3}, NS: []int64{40_000, 41_000, 42_000},
				Aux: aux})
		}
		for _, s := range sizes {
			add("flood", int64(s.bytes), 256, map[string]float64{"sent": 256, "received": 140 + 30*float64(round)})
			add("flood", int64(s.bytes), 1024, map[string]float64{"sent": 1024, "received": 250 + 90*float64(round)})
			add("full", int64(s.bytes), 1024, map[string]float64{"sent": 1023, "received": 610, "held": s.median,
				"held_low":  s.low,
				"held_high": s.high, "beside_losses": s.losses, "service_ns": 41_700, "idle_excess_ns": 1_000})
		}
	}
	return d
}

func fitHeld(t *testing.T, sizes ...held) *params.Fit {
	t.Helper()
	return fitWith(t, buffer.Buffer, fullPort(sizes...), 100)
}

// A kernel tbf of 96,000 B holds 92 frames of 1,042 B and 177 of 542 B; a pfifo of 64 holds 64 of either.
func TestWhatAFullPortCounts(t *testing.T) {
	f := fitHeld(t, held{500, 177, 177, 178, 300}, held{1000, 92, 92, 92, 300})
	within(t, "B_L", value(t, f, "B_L"), 92, 0.6)
	near(t, "B_L_bytes", value(t, f, "B_L_bytes"), 96_000, 0.01)
	for name, truth := range map[string]float64{"B_L": 92, "B_L_bytes": 96_000} {
		if p := f.Parameters[name]; p.CI95 == nil || p.CI95[0] > truth || p.CI95[1] < truth || len(p.Budget) < 3 {
			t.Errorf("%s: interval %v, budget %v, truth %g", name, p.CI95, p.Budget, truth)
		}
	}
	if !notes(f.Findings, "buffer-counts", "with 42 bytes of headers each") {
		t.Errorf("findings %v", f.Findings)
	}

	f = fitHeld(t, held{500, 64, 64, 64, 300}, held{1000, 64, 64, 64, 300})
	within(t, "B_L", value(t, f, "B_L"), 64, 0.6)
	if p := f.Parameters["B_L_bytes"]; p.Value != nil || p.Why != "the buffer counts packets, not bytes" {
		t.Errorf("B_L_bytes %+v", p)
	}
}

// Without evidence against one of the hypotheses, what is counted is unknown: one size, sizes too close, a port that
// was full now and then, few losses.
func TestWhatIsCountedIsUnknown(t *testing.T) {
	large := held{1000, 92, 92, 92, 300}
	for name, small := range map[string]held{
		"one size":         {1000, 92, 92, 92, 300},
		"between the two":  {500, 120, 122, 124, 300},
		"not kept full":    {64, 100, 347, 800, 300},
		"few losses":       {64, 367, 367, 367, 4},
		"close and unsure": {950, 90, 94, 98, 300},
	} {
		f := fitHeld(t, small, large)
		within(t, name+": B_L", value(t, f, "B_L"), 92, 0.6)
		p := f.Parameters["B_L_bytes"]
		if p.Value != nil || p.Why == "the buffer counts packets, not bytes" {
			t.Errorf("%s: B_L_bytes %+v", name, p)
		}
		if left := f.LeftOutWhy["port not kept full"]; (small.losses < 10 || small.high > 2*small.median) != (left > 0) {
			t.Errorf("%s: left out %v", name, f.LeftOutWhy)
		}
	}
}

// Where the two sizes of what was kept full agree, bursts that were not are no evidence.
func TestHeldBeforeKnees(t *testing.T) {
	f := fitHeld(t, held{1000, 92, 92, 92, 300})
	if v := value(t, f, "B_L"); math.Abs(v-92.5) > 0.01 {
		t.Errorf("B_L %g by bursts of an uneven rate, want what the full port held", v)
	}
}
