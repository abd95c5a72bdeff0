package buffer

import (
	"errors"
	"math"
	"testing"

	"calib/fit"
	"calib/fit/fittest"
	"calib/internal/dataset"
	"calib/internal/params"
)

func fitted(t *testing.T, w fittest.PortTruth) *params.Fit {
	t.Helper()
	f, err := Buffer.Fit(fit.Prepare(w.Dataset(), fit.Settings{Replicates: 100}))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Bursts through a port simulated packet by packet give its buffer back, whatever its size, and whatever D/A.
func TestBufferExact(t *testing.T) {
	for _, buffer := range []float64{20, 64, 100, 333, 1000} {
		for _, gr := range []params.Cost{{C0: 70e-6, C1: 80e-9}, {C0: 45e-6, C1: 70e-9}, {C0: 140e-6, C1: 160e-9}} {
			w := fittest.Port()
			w.Buffer, w.Gr, w.Rounds, w.Reps, w.Longest = buffer, gr, 2, 1, 16384
			f := fitted(t, w)
			fittest.Within(t, "B_L", fittest.Value(t, f, "B_L"), buffer, 0.5)
			if p := f.Parameters["B_L_bytes"]; p.Status != params.StatusUnidentifiable || p.Why != "the buffer counts packets, not bytes" {
				t.Errorf("B_L_bytes: %+v", p)
			}
			fittest.Within(t, "B_L_tcp", fittest.Value(t, f, "B_L_tcp"), buffer, 0.5)
			if !fittest.Notes(f.Findings, params.BufferMethods, "the two methods agree") || len(fittest.Warnings(f.Findings)) > 0 {
				t.Errorf("findings %v", f.Findings)
			}
		}
	}
}

// A buffer of bytes holds more of the small datagrams; the headers it counts come out too.
func TestBufferBytes(t *testing.T) {
	for _, header := range []float64{0, 28, 42, 66} {
		w := fittest.Port()
		w.Header, w.Buffer, w.Longest = header, 100e3, 16384
		f := fitted(t, w)
		fittest.Near(t, "B_L_bytes", fittest.Value(t, f, "B_L_bytes"), 100e3, 0.01)
		fittest.Within(t, "B_L", fittest.Value(t, f, "B_L"), math.Floor(100e3/(1000+header)), 0.5)
		if !fittest.Notes(f.Findings, params.BufferCounts, "the buffer counts bytes") {
			t.Errorf("header %g: findings %v", header, f.Findings)
		}
	}
}

func TestBufferNeitherPacketsNorBytes(t *testing.T) {
	w := fittest.Port()
	d := w.Dataset()
	w.Buffer = 96
	for i, other := range w.Dataset().Samples { // the small datagrams meet a port of half as much again
		if d.Samples[i].Exp == "flood" && d.Samples[i].Point["bytes"] == 64 {
			d.Samples[i] = other
		}
	}
	f, err := Buffer.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	fittest.Within(t, "B_L", fittest.Value(t, f, "B_L"), 64, 0.6)
	if !fittest.Warns(f.Findings, params.BufferAmbiguous, "neither a number of packets nor of bytes") {
		t.Errorf("findings %v", f.Findings)
	}
}

// A port that never overflows has a lower bound, from the queue it was seen to hold.
func TestBufferNeverFull(t *testing.T) {
	w := fittest.Port()
	w.Buffer, w.Longest, w.Overflow = 1e6, 1024, false
	f := fitted(t, w)
	p := f.Parameters["B_L"]
	if p.Status != params.StatusBound || p.Value != nil || p.Why == "" || !math.IsInf(p.Bound[1], 1) {
		t.Fatalf("%+v", p)
	}
	// 7 senders of 1000 bytes: D/A = 150/(7·150)
	fittest.Within(t, "largest queue", p.Bound[0], (1024-7)*(1-1/7.), 1024*0.02)
	if q := f.Parameters["B_L_tcp"]; q.Status != params.StatusBound || !math.IsInf(q.Bound[1], 1) || q.Bound[0] < 0.9e6 {
		t.Errorf("%+v", q)
	}
	w.Senders = []int{7}
	if p := fitted(t, w).Parameters["B_L"]; p.Status != params.StatusBound || p.Bound[0] != 0 {
		t.Errorf("without a single sender: %+v", p)
	}
}

// One burst that overflowed is a bound on both sides.
func TestBufferOneBurst(t *testing.T) {
	w := fittest.Port()
	w.Buffer, w.Longest = 150, 256
	p := fitted(t, w).Parameters["B_L"]
	if p.Status != params.StatusBound || !(p.Bound[0] <= 150 && 150 <= p.Bound[1]) || p.Bound[0] < 90 || p.Bound[1] > 256 {
		t.Errorf("%+v %v", p, p.Bound)
	}
}

func TestBufferSpoilt(t *testing.T) {
	w := fittest.Port()
	d := w.Dataset()
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
	f, err := Buffer.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	fittest.Within(t, "B_L", fittest.Value(t, f, "B_L"), 64, 0.5)
	for _, why := range []string{whyReceiver, whySender, dataset.FlagTimeout} {
		if f.LeftOutWhy[why] == 0 {
			t.Errorf("left out %v, nothing for %q", f.LeftOutWhy, why)
		}
	}
	if !fittest.Notes(f.Findings, "bursts-skipped", "1 bursts were left out by the experiment") {
		t.Errorf("findings %v", f.Findings)
	}
}

func TestBufferDisagreement(t *testing.T) {
	w := fittest.Port()
	d := w.Dataset()
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Phase == "probe" {
			for k := range s.NS {
				s.NS[k] *= 2
			}
		}
	}
	f, err := Buffer.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil || !fittest.Warns(f.Findings, params.BufferMethods, "the two methods do not agree") {
		t.Errorf("%v, findings %v", err, f.Findings)
	}
	only := &dataset.Dataset{Header: d.Header}
	for _, s := range d.Samples {
		if s.Phase == "probe" || s.Phase == "probe-idle" {
			only.Samples = append(only.Samples, s)
		}
	}
	if _, err := Buffer.Fit(fit.Prepare(only, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
		t.Errorf("probes without a rate: %v, want ErrNeeds", err)
	}
}
