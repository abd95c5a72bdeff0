package netspec

import (
	"math"
	"testing"
)

const us = 1e-6

func near(t *testing.T, what string, got map[string]float64, want map[string]float64) {
	t.Helper()
	for name, v := range want {
		if g, ok := got[name]; !ok || math.Abs(g-v) > 1e-9*math.Abs(v)+1e-15 {
			t.Errorf("%s: %s is %g, want %g", what, name, g, v)
		}
	}
}

func TestTrueShared(t *testing.T) {
	s, err := Preset("sparc1994", 6)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "sparc1994", s.TrueParameters(), map[string]float64{"a": 859.52 * us, "a_c": 345.6 * us, "b": 1.42 * us,
		"b_c":            0.92 * us,
		"a_prime_limits": (2*859.52 + 345.6) * us, "b_prime_limits": 1.42 * us})
	s.Host.B = 0.9 * us
	if _, has := s.TrueParameters()["b"]; has {
		t.Error("b below b_c is not identifiable")
	}
}

// Table 1 of Tam and Wang (2000), of which the preset is made, 20 times slower.
func TestTrueTamWang2000(t *testing.T) {
	s, err := Preset("hku2000", 8)
	if err != nil {
		t.Fatal(err)
	}
	slowed := map[string]float64{}
	for name, v := range map[string]float64{"g_s.c0": 3.027, "g_s.c1": 0.0796, "g_s.floor": 6.73, "g_r.c0": 4.986,
		"g_r.c1":    0.0788,
		"g_r.floor": 6.73, "L_cluster.l0": 16.684, "L_cluster.l1": 1.556, "L_cluster.tau": 0.0826} {
		slowed[name] = v * 20 * us
	}
	slowed["L_cluster.N"] = 90 / us / 20
	near(t, "hku2000", s.TrueFunctions(), slowed)
	near(t, "hku2000", s.TrueParameters(), map[string]float64{"B_L": 1935, "B_L_tcp": 1935, "a_c": 2 * 1.556 * 20 * us})
}
