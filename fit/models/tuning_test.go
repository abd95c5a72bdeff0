package models

import (
	"errors"
	"testing"

	"calib/fit"
	"calib/fit/tuning"
	"calib/internal/dataset"
	"calib/params"
)

func fitSettings(t *testing.T, m fit.Model, w portTruth) *params.Fit {
	t.Helper()
	w.Senders, w.Streams = nil, false
	return fitWith(t, m, w.Dataset(), 100)
}

func TestFragmentExact(t *testing.T) {
	w := port()
	f := fitSettings(t, tuning.Fragment, w)
	// 40 µs a fragment and 100 ns a byte of it: √(M·40 µs/100 ns) is 2.5 KiB of 16 KiB and 5 KiB of 64 KiB
	for name, want := range map[string]float64{"best_fragment_16KiB": 2048, "best_fragment_64KiB": 4096} {
		if got := value(t, f, name); got != want {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	near(t, "gain", value(t, f, "fragment_gain_64KiB"), 1-w.Fragmented(65536, 4096)/w.Fragmented(65536, 65536), 1e-6)
	if n := len(f.Named("T(64 KiB, f)").Points); n != 9 {
		t.Errorf("%d points of 64 KiB, want 9", n)
	}
	w.FragmentCost = 1
	f = fitSettings(t, tuning.Fragment, w)
	if value(t, f, "best_fragment_16KiB") != 16384 || value(t, f, "fragment_gain_16KiB") != 0 ||
		!notes(f.Findings, "one-piece-fastest", "16 KiB is fastest in one piece") {
		t.Errorf("costly fragments: %+v", f.Parameters)
	}
}

// The choice between settings that noise cannot tell apart has an interval.
func TestFragmentInterval(t *testing.T) {
	w := port()
	w.Between, w.Within = 0.03, 0.05
	p := fitSettings(t, tuning.Fragment, w).Parameters["best_fragment_64KiB"]
	if p.CI95 == nil || !(p.CI95[0] <= 4096 && 4096 <= p.CI95[1] && p.CI95[1] > p.CI95[0]) {
		t.Errorf("%+v %v", p, p.CI95)
	}
	if p.Status != params.StatusProvisional || p.Value == nil {
		t.Errorf("a choice between %v is %s", p.CI95, p.Status)
	}
}

func TestFragmentWithoutWhole(t *testing.T) {
	w := port()
	w.Senders, w.Streams = nil, false
	d := w.Dataset()
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Point["fragment"] == 65536 {
			s.Flags = []string{dataset.FlagRetrans}
		}
	}
	f, err := tuning.Fragment.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil || f.Parameters["fragment_gain_64KiB"].Status != params.StatusUnidentifiable {
		t.Errorf("%v, %+v", err, f.Parameters["fragment_gain_64KiB"])
	}
}

func TestBuffer(t *testing.T) {
	f := fitSettings(t, tuning.Buffer, port())
	// T grows by 4%·M/s, and by up to 30% below 16 KiB
	for name, want := range map[string]float64{
		"smallest_buffer_1KiB": 16384, "smallest_buffer_64KiB": 65536,
		"smallest_buffer_interleaved_1KiB": 16384, "smallest_buffer_interleaved_64KiB": 65536,
	} {
		if got := value(t, f, name); got != want {
			t.Errorf("%s = %g, want %g", name, got, want)
		}
	}
	for _, want := range []struct {
		code params.Code
		text string
	}{
		{"deadlock", "both sides send 64 KiB before they receive: deadlock with buffers of 4 KiB (granted 8/8 KiB), in 5 " +
			"of 5 batches"},
		{"deadlock", "deadlock with buffers of 16 KiB (granted 32/32 KiB)"},
		{"buffers-granted", "4 KiB: 8/8 KiB"},
		{"buffers-granted", "none asked for: 85/128 KiB"},
	} {
		if !notes(f.Findings, want.code, want.text) {
			t.Errorf("findings %v lack %q", f.Findings, want.text)
		}
	}
	if f.LeftOutWhy[dataset.FlagDeadlock] != 10 {
		t.Errorf("left out %v", f.LeftOutWhy)
	}
}

// Where no buffer asked for is as good as the kernel's own choice, there is a bound and no number.
func TestBufferKernelOnly(t *testing.T) {
	w := port()
	w.Senders, w.Streams = nil, false
	d := w.Dataset()
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Exp == "buffer" && s.Point["buffer"] == 0 {
			for k := range s.NS {
				s.NS[k] /= 2
			}
		}
	}
	f := fitWith(t, tuning.Buffer, d, 50)
	if p := f.Parameters["smallest_buffer_64KiB"]; p.Status != params.StatusBound || p.Value != nil ||
		p.Bound[0] != 262144 {
		t.Errorf("%+v", p)
	}
}

func TestNoDelay(t *testing.T) {
	f := fitSettings(t, tuning.NoDelay, port())
	if got := value(t, f, "nagle_costly"); got != 3 {
		t.Errorf("nagle_costly = %g, want 3: %v", got, f.Findings)
	}
	near(t, "cost", value(t, f, "nagle_cost_1449B_2w"), 40e-3/(300e-6+80e-9*1449), 1e-6)
	if _, ok := f.Parameters["nagle_cost_1449B_1w"]; ok {
		t.Error("a cost where there is none")
	}
	if !notes(f.Findings, "delayed-ack", "delayed acknowledgement (40 ms, every message): 1448 B in 2 writes (100% of "+
		"them, median 40.4 ms), 1449 B in 2 writes") {
		t.Errorf("findings %v", f.Findings)
	}
	w := port()
	w.Nagle = false
	f = fitSettings(t, tuning.NoDelay, w)
	if value(t, f, "nagle_costly") != 0 || notes(f.Findings, "delayed-ack", "delayed acknowledgement") {
		t.Errorf("findings %v", f.Findings)
	}
}

func TestNoDelayNeedsBoth(t *testing.T) {
	d := &dataset.Dataset{Samples: []dataset.Sample{{Exp: "nodelay", Point: dataset.Point{"bytes": 100, "nagle": 1},
		Ranks: []int{0, 1}, NS: []int64{5}}}}
	if _, err := tuning.NoDelay.Fit(fit.Prepare(d, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
		t.Errorf("%v, want ErrNeeds", err)
	}
}
