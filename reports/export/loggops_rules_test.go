package export

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"calib/fit"
)

// TestRulesKnownAnswer: the finishing times that LogGOPSim prints for its own example, a binomial reduction of 1,024 bytes over 8
// hosts with its default parameters (README.md of spcl/LogGOPSim).
func TestRulesKnownAnswer(t *testing.T) {
	q := logGOPS{l: 2500, o: 1500, g: 1000, gb: 6}
	want := []int64{34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500}
	if diff := cmp.Diff(want, q.tree(8, 1024, true)); diff != "" {
		t.Error(diff)
	}
}

// TestRulesByHand: one message, and a broadcast over 4 hosts, added up by hand.
func TestRulesByHand(t *testing.T) {
	q := logGOPS{l: 2500, o: 1500, g: 1000, gb: 6}
	atlahs := q
	atlahs.gapOnReceipt = true
	for _, c := range []struct {
		name  string
		rules logGOPS
		hosts int
		bytes int64
		want  []int64
	}{
		{"a byte", q, 2, 1, []int64{1500, 1500 + 2500 + 1500}},
		{"101 bytes", q, 2, 101, []int64{1500, 1500 + 2500 + 1500 + 600}},
		{"a byte in ATLAHS", atlahs, 2, 1, []int64{1500, 1500 + 2500 + 1000 + 1500}},
		{"101 bytes in ATLAHS", atlahs, 2, 101, []int64{1500, 1500 + 2500 + 600 + 1000 + 1500}},
		// 0 sends to 1 at 0 and to 2 at o, for g < o; 1 has it at 5500 and sends to 3.
		{"broadcast of a byte", q, 4, 1, []int64{3000, 5500 + 1500, 1500 + 5500, 5500 + 5500}},
		// g + 600 = 1600 > o: the second message starts then; the first takes 6100.
		{"broadcast of 101 bytes", q, 4, 101, []int64{3100, 6100 + 1500, 1600 + 6100, 6100 + 6100}},
	} {
		if diff := cmp.Diff(c.want, c.rules.tree(c.hosts, c.bytes, false)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// TestLogGPExactly: with parameters that are whole ps, the rules on what was read from the file give LogGP's times to the ps: T(s)
// = L + o_s + o_r + (s−1)·G for one message, and max(o, g + (s−1)·G) between those of one host, though o_s and o_r differ.
func TestLogGPExactly(t *testing.T) {
	p := fixture()
	const l, os, or, g, gb = 392348509, 4535401, 851713, 150219998, 253490 // ps
	for name, v := range map[string]float64{"L": l, "o_s": os, "o_r": or, "g": g, "G": gb} {
		set(p, name, v*1e-12)
	}
	q, err := readLogGOPSim(write(t, lookup(t, "loggopsim"), p, Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if q.unit != 1e-12 {
		t.Fatalf("unit %g", q.unit)
	}
	for _, s := range []int64{1, 2, 64, 1448, 1449, 65536, 4194304} {
		one := int64(l+os+or) + (s-1)*gb
		if got := q.tree(2, s, false)[1]; got != one {
			t.Errorf("%d bytes: %d ps, LogGP %d", s, got, one)
		}
		// Host 0 sends to 1, 2, 4; 1 to 3, 5; 2 to 6; 3 to 7. Receivers that send on are done o after their last send.
		spacing, o := g+(s-1)*gb, int64(os+or)/2
		want := []int64{2*spacing + o, one + spacing + o, spacing + one + o, 2*one + o, 2*spacing + one, 2*one + spacing, spacing + 2*one, 3 * one}
		if diff := cmp.Diff(want, q.tree(8, s, false)); diff != "" {
			t.Errorf("broadcast of %d bytes: %s", s, diff)
		}
	}
}

// TestUnit: G keeps its digits from fast networks to slow ones, and L stays an int.
func TestUnit(t *testing.T) {
	for _, c := range []struct {
		l, g float64
		unit float64
	}{
		{392e-6, 253e-9, 1e-12},  // the lab
		{10e-6, 0.08e-9, 1e-14},  // 100 Gbit/s at 10 µs
		{1.5e-6, 0.02e-9, 1e-15}, // 400 Gbit/s at 1.5 µs
		{50e-3, 8e-9, 1e-10},     // 1 Gbit/s over 10,000 km
	} {
		m := logGP{l: c.l, os: 1e-7, or: 1e-7, g: 1e-6, gb: c.g}
		q, err := chooseUnit(m)
		if err != nil || !within(q.unit, c.unit, 0) {
			t.Errorf("L = %g s, G = %g s/B: unit %g, %v; want %g", c.l, c.g, q.unit, err, c.unit)
			continue
		}
		if err := q.compare(m); err != nil {
			t.Errorf("L = %g s, G = %g s/B: %v", c.l, c.g, err)
		}
	}
	if _, err := chooseUnit(logGP{l: 1, gb: 1e-11}); !errors.Is(err, ErrLimit) {
		t.Errorf("L of 1 s with G of 10 ps: %v", err)
	}
}

// TestOverheadWithinNoise: overheads that cannot be told from zero, and came out below it, are 0; a message takes as long.
func TestOverheadWithinNoise(t *testing.T) {
	p := set(set(fixture(), "o_s", -9.908e-9), "o_r", 4.632e-9)
	file, warnings, err := lookup(t, "loggopsim").Export(p, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(warnings, "\n"); !strings.Contains(text, "below zero within the noise: o is 0") {
		t.Errorf("warnings %s", text)
	}
	q, err := readLogGOPSim(file)
	if err != nil || q.o != 0 || q.l != 392343234 { // 392348510 − 9908 + 4632 ps
		t.Errorf("%+v, %v", q, err)
	}
}

// TestPerByte: an o_s that grows with the size is O, up to G.
func TestPerByte(t *testing.T) {
	for _, c := range []struct{ slope, lo, want float64 }{{3e-10, 2e-10, 300}, {3e-10, -1e-10, 0}, {1e-6, 9e-7, 253490}} {
		p := fixture()
		p.Functions["o_s"] = fit.Function{Form: fit.LineForm, Unit: "s", Coeff: map[string]float64{"c0": 4.5e-6, "c1": c.slope},
			CI95: map[string][2]float64{"c1": {c.lo, 2 * c.slope}}}
		file, _, err := lookup(t, "loggopsim").Export(p, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if q, err := readLogGOPSim(file); err != nil || float64(q.perByte) != c.want {
			t.Errorf("slope %g from %g: O = %d, %v; want %g", c.slope, c.lo, q.perByte, err, c.want)
		}
	}
}

// TestRoundTrip: whatever the parameters, a file that is handed out is the fit to its rounding, which is within 0.2% for a byte and up.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := func(name string, lo, hi float64) float64 {
			return math.Exp(rapid.Float64Range(math.Log(lo), math.Log(hi)).Draw(t, name))
		}
		p := fixture()
		for name, v := range map[string]float64{"L": log("L", 1e-6, 0.1), "o_s": log("o_s", 1e-9, 1e-5), "o_r": log("o_r", 1e-9, 1e-5),
			"g": log("g", 1e-7, 1e-3), "G": log("G", 2e-11, 1e-5), "alpha": log("alpha", 1e-6, 0.1), "beta": log("beta", 2e-11, 1e-5)} {
			set(p, name, v)
		}
		for _, name := range []string{"astra-sim", "atlahs", "dimemas", "loggopsim", "mininet", "tc"} {
			_, _, err := lookup(t, name).Export(p, Options{})
			if err != nil && !errors.Is(err, ErrLimit) {
				t.Fatal(fmt.Errorf("L %g, G %g: %w", *p.Parameters["L"].Value, *p.Parameters["G"].Value, err))
			}
		}
	})
}
