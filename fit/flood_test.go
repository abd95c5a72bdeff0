package fit

import (
	"errors"
	"math"
	"testing"

	"calib/internal/dataset"
)

func fitFlood(t *testing.T, w settings) *Fit {
	t.Helper()
	f, err := Flood{}.Fit(w.dataset(), Settings{Replicates: 100})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// within fails unless got is within d of want.
func within(t *testing.T, what string, got, want, d float64) {
	t.Helper()
	if !(math.Abs(got-want) <= d) {
		t.Errorf("%s = %g, want %g ± %g", what, got, want, d)
	}
}

// Bursts through a port simulated packet by packet give its buffer back, whatever its size, and whatever D/A.
func TestFloodExact(t *testing.T) {
	for _, buffer := range []float64{20, 64, 100, 333, 1000} {
		for _, gr := range []Cost{{C0: 70e-6, C1: 80e-9}, {C0: 45e-6, C1: 70e-9}, {C0: 140e-6, C1: 160e-9}} {
			w := port()
			w.buffer, w.gr, w.rounds, w.reps, w.longest = buffer, gr, 2, 1, 16384
			f := fitFlood(t, w)
			within(t, "B_L", value(t, f, "B_L"), buffer, 0.5)
			if p := f.Parameters["B_L_bytes"]; p.Status != StatusUnidentifiable || p.Why != "the buffer counts packets, not bytes" {
				t.Errorf("B_L_bytes: %+v", p)
			}
			within(t, "B_L_tcp", value(t, f, "B_L_tcp"), buffer, 0.5)
			if !says(f.Notes, "the two methods agree") || len(f.Warnings) > 0 {
				t.Errorf("notes %q, warnings %q", f.Notes, f.Warnings)
			}
		}
	}
}

// A buffer of bytes holds more of the small datagrams; the headers it counts come out too.
func TestFloodBytes(t *testing.T) {
	for _, header := range []float64{0, 28, 42, 66} {
		w := port()
		w.header, w.buffer, w.longest = header, 100e3, 16384
		f := fitFlood(t, w)
		near(t, "B_L_bytes", value(t, f, "B_L_bytes"), 100e3, 0.01)
		within(t, "B_L", value(t, f, "B_L"), math.Floor(100e3/(1000+header)), 0.5)
		if !says(f.Notes, "the buffer counts bytes") {
			t.Errorf("header %g: notes %q", header, f.Notes)
		}
	}
}

func TestFloodNeitherPacketsNorBytes(t *testing.T) {
	w := port()
	d := w.dataset()
	w.buffer = 96
	for i, other := range w.dataset().Samples { // the small datagrams meet a port of half as much again
		if d.Samples[i].Exp == "flood" && d.Samples[i].Point["bytes"] == 64 {
			d.Samples[i] = other
		}
	}
	f, err := Flood{}.Fit(d, Settings{Replicates: 50})
	if err != nil {
		t.Fatal(err)
	}
	within(t, "B_L", value(t, f, "B_L"), 64, 0.6)
	if !says(f.Warnings, "neither a number of packets nor of bytes") {
		t.Errorf("warnings %q", f.Warnings)
	}
}

// A port that never overflows has a lower bound, from the queue it was seen to hold.
func TestFloodNeverFull(t *testing.T) {
	w := port()
	w.buffer, w.longest, w.overflow = 1e6, 1024, false
	f := fitFlood(t, w)
	p := f.Parameters["B_L"]
	if p.Status != StatusBound || p.Value != nil || p.Why == "" || !math.IsInf(p.Bound[1], 1) {
		t.Fatalf("%+v", p)
	}
	// 7 senders of 1000 bytes: D/A = 150/(7·150)
	within(t, "largest queue", p.Bound[0], (1024-7)*(1-1/7.), 1024*0.02)
	if q := f.Parameters["B_L_tcp"]; q.Status != StatusBound || !math.IsInf(q.Bound[1], 1) || q.Bound[0] < 0.9e6 {
		t.Errorf("%+v", q)
	}
	w.senders = []int{7}
	if p := fitFlood(t, w).Parameters["B_L"]; p.Status != StatusBound || p.Bound[0] != 0 {
		t.Errorf("without a single sender: %+v", p)
	}
}

// One burst that overflowed is a bound on both sides.
func TestFloodOneBurst(t *testing.T) {
	w := port()
	w.buffer, w.longest = 150, 256
	p := fitFlood(t, w).Parameters["B_L"]
	if p.Status != StatusBound || !(p.Bound[0] <= 150 && 150 <= p.Bound[1]) || p.Bound[0] < 90 || p.Bound[1] > 256 {
		t.Errorf("%+v %v", p, p.Bound)
	}
}

func TestFloodSpoilt(t *testing.T) {
	w := port()
	d := w.dataset()
	n := 0
	for i := range d.Samples {
		s := &d.Samples[i]
		if s.Exp != "flood" || s.Phase != "flood" {
			continue
		}
		n++
		switch n % 7 {
		case 0:
			s.Aux["dropped"], s.Aux["received"] = 5, 3
		case 1:
			s.Aux["sent"]--
		case 2:
			s.Flags, s.NS = []string{dataset.FlagTimeout}, []int64{0}
		}
	}
	d.Samples = append(d.Samples, dataset.Sample{Exp: "flood", Phase: "skipped", Ranks: []int{0, 1},
		Point: dataset.Point{"bytes": 1000, "packets": 65536, "senders": 1}, NS: []int64{9e10}})
	f, err := Flood{}.Fit(d, Settings{Replicates: 50})
	if err != nil {
		t.Fatal(err)
	}
	within(t, "B_L", value(t, f, "B_L"), 64, 0.5)
	for _, why := range []string{whyReceiver, whySender, dataset.FlagTimeout} {
		if f.LeftOutWhy[why] == 0 {
			t.Errorf("left out %v, nothing for %q", f.LeftOutWhy, why)
		}
	}
	if !says(f.Notes, "1 bursts were left out by the experiment") {
		t.Errorf("notes %q", f.Notes)
	}
}

func TestFloodDisagreement(t *testing.T) {
	w := port()
	d := w.dataset()
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Phase == "probe" {
			for k := range s.NS {
				s.NS[k] *= 2
			}
		}
	}
	f, err := Flood{}.Fit(d, Settings{Replicates: 50})
	if err != nil || !says(f.Warnings, "the two methods do not agree") {
		t.Errorf("%v, warnings %q", err, f.Warnings)
	}
	only := &dataset.Dataset{Header: d.Header}
	for _, s := range d.Samples {
		if s.Phase == "probe" || s.Phase == "probe-idle" {
			only.Samples = append(only.Samples, s)
		}
	}
	if _, err := (Flood{}).Fit(only, Settings{}); !errors.Is(err, ErrNeeds) {
		t.Errorf("probes without a rate: %v, want ErrNeeds", err)
	}
}
