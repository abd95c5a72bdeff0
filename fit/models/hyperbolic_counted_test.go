package models

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"calib/fit"
	"calib/fit/hyperbolic"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/params"
)

// counting makes the streams of exact data those whose bytes were counted in a window of 250 ms, adds one of a pair
// over two connections, and lets edit change each line.
func counting(w truth, edit func(l *dataset.Sample)) *dataset.Dataset {
	d := w.Dataset()
	var more []dataset.Sample
	for i := range d.Samples {
		l := &d.Samples[i]
		if l.Phase != names.PhaseStream {
			continue
		}
		sum := 0.0
		for _, v := range l.NS {
			sum += float64(v)
		}
		per := sum / float64(len(l.NS)) / 16384 // ns/B
		window := func(l dataset.Sample, per float64, point dataset.Point) dataset.Sample {
			l.Point, l.TCP = point, &dataset.TCP{DataSegsOut: 1000, MSS: 1448}
			l.Aux = map[string]float64{names.AuxDirection: l.Aux[names.AuxDirection], names.AuxChunk: 4344,
				names.AuxWindow:       250e6,
				names.AuxWindowChunks: 250e6 / per / 4344, names.AuxRamp: 107e6, names.AuxHalves: 1,
				names.AuxCPUSend: 240e6, names.AuxCPURecv: 50e6}
			return l
		}
		n := l.Point[names.FactorPairs]
		if n == 1 {
			two := window(*l, per/1.5, dataset.Point{names.FactorPairs: 1, names.FactorStream: 1, names.FactorConnections: 2})
			edit(&two)
			more = append(more, two)
		}
		*l = window(*l, per, dataset.Point{names.FactorPairs: n, names.FactorStream: 1})
		edit(l)
	}
	d.Samples = append(d.Samples, more...)
	return d
}

func fitCounted(t *testing.T, edit func(l *dataset.Sample)) *params.Fit {
	t.Helper()
	d := counting(sparc(), edit)
	f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 60}))
	if err != nil {
		t.Fatal(err)
	}
	checkFit(t, hyperbolic.Network, f)
	if f.Used+f.LeftOut != timingsOf(d, "paired") {
		t.Errorf("used %d + left out %d, want %d", f.Used, f.LeftOut, timingsOf(d, "paired"))
	}
	return f
}

// rate makes a line's stream faster by a factor.
func rate(l *dataset.Sample, by float64) { l.Aux[names.AuxWindowChunks] *= by }

func single(l *dataset.Sample) bool { return l.Point[names.FactorConnections] == 0 }

// Counted streams give b and b_c, what they cost both ends, and who limits them.
func TestCountedStreams(t *testing.T) {
	f := fitCounted(t, func(*dataset.Sample) {})
	near(t, "b", value(t, f, "b"), 1.42e-6, 1e-5)
	near(t, "b_c", value(t, f, "b_c"), 0.92e-6, 1e-5)
	near(t, "b over two connections", value(t, f, "b_connections_2"), 1.42e-6/1.5, 1e-5)
	near(t, "cpu_send", value(t, f, "cpu_send"), 0.96*1.42e-6, 1e-5)
	near(t, "cpu_recv", value(t, f, "cpu_recv"), 0.2*1.42e-6, 1e-5)
	for code, word := range map[params.Code]string{"stream-limit": "the sender's thread fills a CPU",
		"connection-limited": "2 connections carry 50% more"} {
		if !notes(f.Findings, code, word) {
			t.Errorf("no finding %s with %q: %v", code, word, f.Findings)
		}
	}
	if _, there := f.Parameters["b_forward"]; there || notes(f.Findings, "directions-differ", "") {
		t.Error("the directions do not differ")
	}
}

// The note names the number of connections that was the fastest, whatever the others are.
func TestFastestConnections(t *testing.T) {
	for _, c := range []struct {
		gains map[int64]float64 // by connections, beside 1.5 over two
		word  string
	}{
		{map[int64]float64{4: 1.8, 8: 2}, "8 connections carry 100% more than one: b is the time per byte of one " +
			"connection and its CPU; the link's is at most b_connections_8"},
		{map[int64]float64{4: 1.8, 8: 1.7}, "4 connections carry 80% more"},
		{map[int64]float64{8: 1.2}, "2 connections carry 50% more"},
	} {
		d := counting(sparc(), func(*dataset.Sample) {})
		for _, l := range d.Samples {
			if l.Point[names.FactorConnections] != 2 {
				continue
			}
			for k, gain := range c.gains {
				more := l
				more.Point, more.Aux = maps.Clone(l.Point), maps.Clone(l.Aux)
				more.Point[names.FactorConnections] = k
				rate(&more, gain/1.5)
				d.Samples = append(d.Samples, more)
			}
		}
		f, err := hyperbolic.Network.Fit(fit.Prepare(d, fit.Settings{Replicates: 60}))
		if err != nil {
			t.Fatal(err)
		}
		checkFit(t, hyperbolic.Network, f)
		near(t, "b", value(t, f, "b"), 1.42e-6, 1e-5)
		for k, gain := range c.gains {
			near(t, "b over connections", value(t, f, fmt.Sprintf("b_connections_%d", k)), 1.42e-6/gain, 1e-5)
		}
		if !notes(f.Findings, "connection-limited", c.word) {
			t.Errorf("%v: no finding with %q: %v", c.gains, c.word, f.Findings)
		}
		if s := f.Of(params.ConnectionTime); len(s) != 1 || len(s[0].Points) != 2+len(c.gains) {
			t.Errorf("%v: series %v", c.gains, s)
		}
	}
}

// Segments lost now and then leave a stream in, many leave it out.
func TestCountedLoss(t *testing.T) {
	f := fitCounted(t, func(l *dataset.Sample) {
		l.TCP.Retrans = 1
		if l.Round == 2 && single(l) {
			l.TCP.Retrans, l.Flags = 100, []string{dataset.FlagRetrans}
			rate(l, 0.5)
		}
	})
	near(t, "b", value(t, f, "b"), 1.42e-6, 1e-5)
	if f.LeftOutWhy[dataset.FlagRetrans] == 0 {
		t.Errorf("left out %v", f.LeftOutWhy)
	}
}

// A stream that was limited or unsteady is not used while a point has others; where all are, b says how uncertain that
// is.
func TestCountedUnsteady(t *testing.T) {
	for _, flag := range []string{dataset.FlagUnsteady, dataset.FlagWindow, dataset.FlagProbeRTT} {
		f := fitCounted(t, func(l *dataset.Sample) {
			if l.Round > 1 {
				l.Flags = []string{flag}
				rate(l, 0.5)
			}
		})
		near(t, flag+": b", value(t, f, "b"), 1.42e-6, 1e-5)
		if f.LeftOutWhy["unsteady or limited stream"] == 0 || warns(f.Findings, "unsteady-streams", "") {
			t.Errorf("%s: left out %v, findings %v", flag, f.LeftOutWhy, f.Findings)
		}
	}
	f := fitCounted(t, func(l *dataset.Sample) {
		l.Flags, l.Aux[names.AuxHalves] = []string{dataset.FlagUnsteady}, 1.2
		rate(l, 1+0.001*float64(l.Round))
	})
	if !warns(f.Findings, "unsteady-streams", "20%") || len(f.Parameters["b"].Budget) != 2 {
		t.Errorf("b %+v, findings %v", f.Parameters["b"], f.Findings)
	}
	if ci := f.Parameters["b"].CI95; ci[1]-ci[0] < 2*0.15*1.42e-6 {
		t.Errorf("interval of b %v is too narrow for halves that differ by 20%%", *ci)
	}
}

// Both directions are given where they differ.
func TestCountedDirections(t *testing.T) {
	f := fitCounted(t, func(l *dataset.Sample) {
		if l.Aux[names.AuxDirection] == 1 {
			rate(l, 0.8)
		}
		rate(l, 1+0.001*float64(l.Round))
	})
	near(t, "b_forward", value(t, f, "b_forward"), 1.42e-6, 0.01)
	near(t, "b_back", value(t, f, "b_back"), 1.42e-6/0.8, 0.01)
	if !notes(f.Findings, "directions-differ", "+25%") {
		t.Errorf("findings %v", f.Findings)
	}
}

// One round shows neither that the directions differ nor that more connections are faster.
func TestCountedOneRound(t *testing.T) {
	d := counting(sparc(), func(l *dataset.Sample) {
		if l.Aux[names.AuxDirection] == 1 {
			rate(l, 0.8)
		}
	})
	d.Samples = slices.DeleteFunc(d.Samples, func(l dataset.Sample) bool { return l.Round > 0 })
	f := fitWith(t, hyperbolic.Network, d, 200)
	for _, code := range []params.Code{"directions-differ", "connection-limited"} {
		if notes(f.Findings, code, "") || warns(f.Findings, code, "") {
			t.Errorf("finding %s: %v", code, f.Findings)
		}
	}
}
