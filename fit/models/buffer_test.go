package models

import (
	"errors"
	"math"
	"testing"

	"calib/fit"
	"calib/fit/buffer"
	"calib/internal/dataset"
	"calib/params"
)

// Bursts through a port simulated packet by packet give its buffer back, whatever its size, and whatever D/A.
func TestBufferExact(t *testing.T) {
	for _, size := range []float64{20, 64, 100, 333, 1000} {
		for _, gr := range []params.Cost{{C0: 70e-6, C1: 80e-9}, {C0: 45e-6, C1: 70e-9}, {C0: 140e-6, C1: 160e-9}} {
			w := port()
			w.Buffer, w.Gr, w.Rounds, w.Reps, w.Longest = size, gr, 2, 1, 16384
			f := fitWith(t, buffer.Buffer, w.Dataset(), 100)
			within(t, "B_L", value(t, f, "B_L"), size, 0.5)
			if p := f.Parameters["B_L_bytes"]; p.Status != params.StatusUnidentifiable ||
				p.Why != "the buffer counts packets, not bytes" {
				t.Errorf("B_L_bytes: %+v", p)
			}
			within(t, "B_L_tcp", value(t, f, "B_L_tcp"), size, 0.5)
			if !notes(f.Findings, "buffer-methods", "the two methods agree") || len(warnings(f.Findings)) > 0 {
				t.Errorf("findings %v", f.Findings)
			}
		}
	}
}

// A buffer of bytes holds more of the small datagrams; the headers it counts come out too.
func TestBufferBytes(t *testing.T) {
	for _, header := range []float64{0, 28, 42, 66} {
		w := port()
		w.Header, w.Buffer, w.Longest = header, 100e3, 16384
		f := fitWith(t, buffer.Buffer, w.Dataset(), 100)
		near(t, "B_L_bytes", value(t, f, "B_L_bytes"), 100e3, 0.01)
		within(t, "B_L", value(t, f, "B_L"), math.Floor(100e3/(1000+header)), 0.5+1e-9)
		if !notes(f.Findings, "buffer-counts", "the buffer counts bytes") {
			t.Errorf("header %g: findings %v", header, f.Findings)
		}
	}
}

func TestBufferNeitherPacketsNorBytes(t *testing.T) {
	w := port()
	d := w.Dataset()
	w.Buffer = 96
	for i, other := range w.Dataset().Samples { // the small datagrams meet a port of half as much again
		if d.Samples[i].Exp == "flood" && d.Samples[i].Point["bytes"] == 64 {
			d.Samples[i] = other
		}
	}
	f, err := buffer.Buffer.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	within(t, "B_L", value(t, f, "B_L"), 64, 0.6)
	if !warns(f.Findings, "buffer-ambiguous", "neither a number of packets nor of bytes") {
		t.Errorf("findings %v", f.Findings)
	}
}

// A port that never overflows has a lower bound, from the queue it was seen to hold.
func TestBufferNeverFull(t *testing.T) {
	w := port()
	w.Buffer, w.Longest, w.Overflow = 1e6, 1024, false
	f := fitWith(t, buffer.Buffer, w.Dataset(), 100)
	p := f.Parameters["B_L"]
	if p.Status != params.StatusBound || p.Value != nil || p.Why == "" || !math.IsInf(p.Bound[1], 1) {
		t.Fatalf("%+v", p)
	}
	// 7 senders of 1000 bytes: D/A = 150/(7·150)
	within(t, "largest queue", p.Bound[0], (1024-7)*(1-1/7.), 1024*0.02)
	if q := f.Parameters["B_L_tcp"]; q.Status != params.StatusBound || !math.IsInf(q.Bound[1], 1) || q.Bound[0] < 0.9e6 {
		t.Errorf("%+v", q)
	}
	w.Senders = []int{7}
	if p := fitWith(t, buffer.Buffer, w.Dataset(), 100).Parameters["B_L"]; p.Status != params.StatusBound ||
		p.Bound[0] != 0 {
		t.Errorf("without a single sender: %+v", p)
	}
}

// One burst that overflowed is a bound on both sides.
func TestBufferOneBurst(t *testing.T) {
	w := port()
	w.Buffer, w.Longest = 150, 256
	p := fitWith(t, buffer.Buffer, w.Dataset(), 100).Parameters["B_L"]
	if p.Status != params.StatusBound || !(p.Bound[0] <= 150 && 150 <= p.Bound[1]) || p.Bound[0] < 90 || p.Bound[1] > 256 {
		t.Errorf("%+v %v", p, p.Bound)
	}
}

func TestBufferSpoilt(t *testing.T) {
	w := port()
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
	f, err := buffer.Buffer.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil {
		t.Fatal(err)
	}
	within(t, "B_L", value(t, f, "B_L"), 64, 0.5)
	for _, why := range []string{"receiver dropped", "not all sent", dataset.FlagTimeout} {
		if f.LeftOutWhy[why] == 0 {
			t.Errorf("left out %v, nothing for %q", f.LeftOutWhy, why)
		}
	}
	if !notes(f.Findings, "bursts-skipped", "1 bursts were left out by the experiment") {
		t.Errorf("findings %v", f.Findings)
	}
}

func TestBufferDisagreement(t *testing.T) {
	w := port()
	d := w.Dataset()
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Phase == "probe" {
			for k := range s.NS {
				s.NS[k] *= 2
			}
		}
	}
	f, err := buffer.Buffer.Fit(fit.Prepare(d, fit.Settings{Replicates: 50}))
	if err != nil || !warns(f.Findings, "buffer-methods", "the two methods do not agree") {
		t.Errorf("%v, findings %v", err, f.Findings)
	}
	only := &dataset.Dataset{Header: d.Header}
	for _, s := range d.Samples {
		if s.Phase == "probe" || s.Phase == "probe-idle" {
			only.Samples = append(only.Samples, s)
		}
	}
	if _, err := buffer.Buffer.Fit(fit.Prepare(only, fit.Settings{})); !errors.Is(err, fit.ErrNeeds) {
		t.Errorf("probes without a rate: %v, want ErrNeeds", err)
	}
}
