package models

import (
	"slices"
	"testing"

	"calib/fit/loggp"
	"calib/internal/dataset"
	"calib/params"
)

// C_n, C_r and the inflation of remaps whose times are known.
func TestReadsContention(t *testing.T) {
	w := remaps()
	f := fitWith(t, loggp.LoGPC, w.Dataset(), 50)
	const ns = 1e-9
	for suffix, k := range map[string]float64{"": 1.001, "_5000B": 6} {
		within(t, "C_n"+suffix, value(t, f, "C_n"+suffix), k*w.Network, ns)
		within(t, "C_r"+suffix, value(t, f, "C_r"+suffix), k*w.Resource, 2*ns)
		near(t, "inflation_sync"+suffix, value(t, f, "inflation_sync"+suffix), 1+(2*w.Network+w.Resource)/(2*w.Way), 1e-4)
		near(t, "inflation_async"+suffix, value(t, f, "inflation_async"+suffix), 1+(w.Network+w.Resource)/4/w.Gap, 1e-4)
	}
	if !notes(f.Findings, "remaps-unpredicted", "measure with calib run --hosts hosts.txt --only clock,prtt,remap") {
		t.Errorf("findings %v", f.Findings)
	}
}

// A remap of which a rank's line is missing, or that was spoilt, does not count.
func TestIncompleteRemaps(t *testing.T) {
	d := remaps().Dataset()
	d.Samples = slices.DeleteFunc(d.Samples, func(s dataset.Sample) bool {
		return s.Point["destinations"] == 2 && s.Point["sync"] == 1 && s.Ranks[0] == 3
	})
	for i := range d.Samples {
		if s := &d.Samples[i]; s.Round == 0 && s.Point["sync"] == 0 && s.Ranks[0] == 1 {
			s.Flags = []string{dataset.FlagRetrans}
		}
	}
	f := fitWith(t, loggp.LoGPC, d, 50)
	if _, ok := f.Parameters["C_n"]; ok {
		t.Error("C_n of remaps that are not whole")
	}
	if f.LeftOutWhy["incomplete batch"] == 0 || f.LeftOutWhy[dataset.FlagRetrans] == 0 {
		t.Errorf("left out %v", f.LeftOutWhy)
	}
}

// A remap to destinations that this build does not know does not count.
func TestUnknownDestinations(t *testing.T) {
	d := remaps().Dataset()
	for i := range d.Samples {
		if p := d.Samples[i].Point; p["destinations"] == 1 {
			p["destinations"] = 7
		}
	}
	if f := fitWith(t, loggp.LoGPC, d, 50); f.LeftOutWhy["unknown kind of destinations"] == 0 {
		t.Errorf("left out %v", f.LeftOutWhy)
	}
}

// Beside loggp.LogGP the remaps are held against the model.
func TestPredictsRemaps(t *testing.T) {
	port := port()
	d := port.Dataset()
	d.Samples = slices.DeleteFunc(d.Samples, func(s dataset.Sample) bool { return s.Exp != "prtt" })
	w := remaps()
	w.Add(d)
	f := fitWith(t, loggp.LoGPC, d, 50)
	for _, s := range f.Of(params.RemapTime) {
		for _, r := range s.Points {
			if s.Factors["bytes"] == 1 && s.Factors["destinations"] == 1 {
				near(t, s.Name, r.Fitted, map[float64]float64{0: port.Gap.Of(1),
					1: 2 * (port.Latency + port.Os.Of(1) + port.Or.Of(1))}[s.Factors["sync"]], 1e-3)
			}
			if r.Fitted <= 0 {
				t.Errorf("%s: %g s", s.Name, r.Fitted)
			}
		}
	}
	if !warns(f.Findings, "remaps-predicted", "a switch") {
		t.Errorf("findings %v", f.Findings)
	}
}
