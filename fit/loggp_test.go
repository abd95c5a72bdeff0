package fit

import (
	"errors"
	"strings"
	"testing"

	"calib/internal/dataset"
)

func fitLogGP(t *testing.T, d *dataset.Dataset) *Fit {
	t.Helper()
	f, err := LogGP{}.Fit(d, Settings{Replicates: 100})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Exact data give the parameters back to rounding.
func TestLogGPExact(t *testing.T) {
	w := port()
	w.senders, w.streams = nil, false
	f := fitLogGP(t, w.dataset())
	for name, want := range map[string]float64{
		"L": 150e-6, "o_s": 8.002e-6, "o_r": 12.003e-6, "g": 70.08e-6, "G": 80e-9,
	} {
		near(t, name, value(t, f, name), want, 1e-6)
	}
	for name, want := range map[string]Cost{"gap": w.gap, "o_s": w.os, "o_r": w.or} {
		fn := f.Functions[name]
		if fn.Form != LineForm {
			t.Fatalf("%s: %+v", name, fn)
		}
		near(t, name+" c0", fn.Coeff["c0"], want.C0, 1e-6)
		near(t, name+" c1", fn.Coeff["c1"], want.C1, 1e-6)
	}
	if got := f.Functions["o_s"].Domain["m"]; got != [2]float64{1, 5604} {
		t.Errorf("domain of o_s %v", got)
	}
	if len(f.Warnings) > 0 || !says(f.Notes, "within 0.0% of L + o_s + o_r") || !says(f.Notes, "phase send, less the clock, are off o_s by PRTT by +0.0% at 1 B") {
		t.Errorf("notes %q, warnings %q", f.Notes, f.Warnings)
	}
}

// A gap that changes at one packet is two segments in the form of Segmented; g is of the first, G of the last.
func TestLogGPSegments(t *testing.T) {
	w := port()
	w.senders, w.streams = nil, false
	w.gap, w.longGap = Cost{C0: 200e-6, C1: 10e-9}, Cost{C0: 90e-6, C1: 120e-9}
	f := fitLogGP(t, w.dataset())
	near(t, "g", value(t, f, "g"), 200.01e-6, 1e-6)
	near(t, "G", value(t, f, "G"), 120e-9, 1e-6)
	fn := f.Functions["gap"]
	if fn.Form != SegmentsForm || fn.Coeff["from_1"] != 0 || fn.Domain["bytes_2"] != [2]float64{5604, 65536} {
		t.Fatalf("%+v", fn)
	}
	for m, want := range map[float64]float64{1: 200.01e-6, 1401: 214.01e-6, 22416: 90e-6 + 22416*120e-9} {
		got, err := fn.Eval(map[string]float64{"x": m}, nil)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "gap", got, want, 1e-6)
	}
}

// Five sizes are enough for two segments.
func TestLogGPFewSizes(t *testing.T) {
	w := port()
	w.senders, w.streams = nil, false
	w.gap, w.longGap = Cost{C0: 200e-6, C1: 10e-9}, Cost{C0: 90e-6, C1: 120e-9}
	d := &dataset.Dataset{}
	for _, s := range w.dataset().Samples {
		if m := s.Point["bytes"]; s.Exp == "prtt" && (m == 1 || m == 181 || m == 1401 || m == 5604 || m == 22416) {
			d.Samples = append(d.Samples, s)
		}
	}
	f := fitLogGP(t, d)
	near(t, "g", value(t, f, "g"), 200.01e-6, 1e-6)
	near(t, "G", value(t, f, "G"), 120e-9, 1e-6)
}

// What was not measured is not made up: without the spaced form there is no o_s, and L only has a bound.
func TestLogGPWithoutOverheads(t *testing.T) {
	w := port()
	w.senders, w.streams = nil, false
	d := w.dataset()
	only := func(keep ...string) *dataset.Dataset {
		out := &dataset.Dataset{Header: d.Header}
		for _, s := range d.Samples {
			if strings.Contains(strings.Join(keep, ","), s.Phase) && s.Exp == "prtt" {
				out.Samples = append(out.Samples, s)
			}
		}
		return out
	}
	f := fitLogGP(t, only("prtt", "delayed"))
	for _, name := range []string{"L", "o_s"} {
		if p := f.Parameters[name]; p.Status != StatusUnidentifiable || p.Why == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	near(t, "half of the round trip bounds L", f.Parameters["L"].Bound[1], 170.005e-6, 1e-6)
	near(t, "o_r", value(t, f, "o_r"), 12.003e-6, 1e-6)
	near(t, "g", value(t, f, "g"), 70.08e-6, 1e-6)
	if _, err := (LogGP{}).Fit(only("spaced"), Settings{}); !errors.Is(err, ErrNeeds) {
		t.Errorf("without PRTT: %v", err)
	}
}

// Eq. 18 holds where the gap between packets is the slope of long messages, and is warned of where it is not.
func TestLogGPAgainstHyperbola(t *testing.T) {
	w := port()
	w.senders, w.streams = nil, false
	w.latency = 1e-3 // as long as several packets: the ratio nears 3/4
	f := fitLogGP(t, w.dataset())
	if !says(f.Notes, "within [3/4, 1] (eq. 18)") {
		t.Errorf("notes %q, warnings %q", f.Notes, f.Warnings)
	}
	d := w.dataset()
	for i := range d.Samples { // messages in a row take three times as long as the bytes of one
		if s := &d.Samples[i]; s.Exp == "prtt" && s.Phase == "prtt" && s.Point["messages"] > 1 {
			for k := range s.NS {
				s.NS[k] *= 3
			}
		}
	}
	f = fitLogGP(t, d)
	if !says(f.Warnings, "outside [3/4, 1] (eq. 18)") {
		t.Errorf("notes %q, warnings %q", f.Notes, f.Warnings)
	}
}

// Bytes that pass several stages one after the other take longer than LogGP has it: the identity says so.
func TestLogGPIdentity(t *testing.T) {
	w := port()
	w.senders, w.streams = nil, false
	d := w.dataset()
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Exp == "prtt" && s.Phase != "send" && s.Phase != "receive" {
			for k := range s.NS {
				s.NS[k] += 2 * 200 * s.Point["bytes"] // 200 ns a byte and way beside the bottleneck
			}
		}
	}
	d.Samples = append(d.Samples, dataset.Sample{Exp: "pingpong", Point: dataset.Point{"bytes": 1}, Ranks: []int{0, 1},
		NS: []int64{200_000}})
	f := fitLogGP(t, d)
	if !says(f.Warnings, "several stages one after the other") || !says(f.Notes, "from pingpong's half round trip (median of 1 sizes)") {
		t.Errorf("notes %q, warnings %q", f.Notes, f.Warnings)
	}
}
