package coord_test

import (
	"math"
	"testing"

	"calib/internal/coord"
	"calib/internal/netspec"
	"calib/internal/simagent"
	"calib/transport/sim"
)

// TestProbe: what a probe says of simulated networks, and whether pairs disturb each other, is what their presets say.
func TestProbe(t *testing.T) {
	for _, c := range []struct {
		preset   string
		latency  float64 // µs, of a byte one way
		perByte  float64 // ns
		together bool
	}{
		{"sparc1994", 1000, 830, false},
		{"switch", 0, 0, true},
	} {
		spec, err := netspec.Preset(c.preset, 8)
		if err != nil {
			t.Fatal(err)
		}
		var agents []coord.Agent
		for _, a := range simagent.New(*spec, sim.Options{Seed: 1}) {
			agents = append(agents, a)
		}
		p, err := coord.Probe(t.Context(), agents, "test", 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p.Together != c.together || p.AtOnce != 4 || p.Pairs < 1 || p.Loss != 0 || p.Segment <= 0 || !p.Path().Known() {
			t.Errorf("%s: %+v", c.preset, p)
		}
		if c.perByte > 0 && (math.Abs(p.PerByte/c.perByte-1) > 0.15 || math.Abs(p.Latency.Seconds()*1e6/c.latency-1) > 0.3) {
			t.Errorf("%s: %+v, want %g µs and %g ns/B", c.preset, p, c.latency, c.perByte)
		}
	}
}
