package plan_test

import (
	"testing"

	"calib/bench/experiments"
	"calib/internal/dataset/names"
	"calib/internal/units"
	"calib/run/plan"
)

// The default plan overflows a port on networks of 10 Mbit/s and more, in five minutes: bursts that take too long are
// left out, and not all bursts.
func TestDefaultPlanFloods(t *testing.T) {
	for _, perByte := range []float64{8, 80, 250, 920} {
		for _, hosts := range []int{4, 6, 8} {
			p, err := plan.Builtin(plan.Standard)
			if err != nil {
				t.Fatal(err)
			}
			p.Limits.Path.Latency, p.Limits.Path.PerByte = 400*units.Microsecond, perByte
			s, err := plan.New(p, hosts, experiments.All)
			if err != nil {
				t.Fatal(err)
			}
			most := int64(0)
			for r := range s.Rounds {
				for _, slot := range s.Round(r, nil) {
					for _, x := range slot.Points {
						if slot.Exp == names.Flood {
							most = max(most, x[names.FactorPackets])
						}
					}
				}
			}
			t.Logf("%g ns/B, %d hosts: bursts up to %d, left out %v", perByte, hosts, most, s.Left)
			if most < 256 {
				t.Errorf("%g ns/B, %d hosts: bursts of up to %d packets; left out are %v", perByte, hosts, most, s.Left)
			}
		}
	}
}
