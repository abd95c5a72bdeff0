package simagent_test

import (
	"math"
	"testing"

	"calib/bench"
	"calib/fit"
	"calib/fit/models"
	"calib/internal/dataset"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/params"
	"calib/run/plan"
	"calib/transport/sim"
)

// clusterSpec is a switch whose sender, port and receiver all differ, with a fabric of known aggregate rate: tau is
// what the three add up to per byte, so that L has the form of the paper's table 1.
func clusterSpec() netspec.Spec {
	const us = 1e-6
	s := netspec.Spec{
		Name: "cluster", Hosts: 8, Mode: netspec.Switched, MSS: 1448, Seed: 3, L: 100 * us, Buffer: 500,
		Host:    netspec.Block{A: 150 * us, B: 0.25 * us},
		Medium:  netspec.Block{A: 120 * us, B: 0.20 * us},
		Receive: &netspec.Block{A: 20 * us, B: 0.03 * us},
	}
	tau := 0.0
	for _, b := range []netspec.Block{s.Host, s.Medium, *s.Receive} {
		tau += s.Service(b, 1001) - s.Service(b, 1)
	}
	s.Fabric = &netspec.Fabric{PerHost: 2 * us, Tau: tau / 1000, Rate: 15e6}
	return s
}

// clusterCost is what calls and arrivals take, in ns and ns/B.
var clusterCost = sim.Cost{Send: 3000, SendByte: 1, Recv: 1000, RecvByte: 0.2, Arrive: 2000, ArriveByte: 0.5, Now: 25}

// TestClusterRecovers: every cost function of the cluster model, LogGP and B_L within 1% (B_L: 1% or a packet) of what
// the simulator was told, through the coordinator, the experiments and the models.
func TestClusterRecovers(t *testing.T) {
	spec := clusterSpec()
	opt := sim.Options{Seed: 1, ClockOffset: units.Second, ClockDrift: 10, Cost: clusterCost}
	chosen := plan.Plan{
		Name: "cluster", Experiments: []string{"clock", "pingpong", "overhead", "gap", "gather", "flood", "load", "prtt",
			"copy"},
		Limits: bench.Limits{Effort: 0.4, MaxBytes: 64 * units.KiB}, Rounds: plan.Rounds{Min: 2, Max: 2}, Seed: 5,
	}
	d := measure(t, spec, opt, chosen)
	p, errs := fit.Run(models.All, d, fit.Settings{Replicates: 100})
	for _, err := range errs {
		t.Error(err)
	}
	block := func(b netspec.Block) map[string]float64 {
		slope := b.B - b.A/float64(spec.MSS)
		return map[string]float64{"c0": b.A, "c1": slope}
	}
	ns := func(fixed units.Nanos, perByte float64) map[string]float64 {
		return map[string]float64{"c0": fixed.Seconds(), "c1": perByte * 1e-9}
	}
	for name, want := range map[string]map[string]float64{
		"O_s": ns(clusterCost.Send, clusterCost.SendByte), "U_r": ns(clusterCost.Recv, clusterCost.RecvByte),
		"O_r": ns(clusterCost.Arrive, clusterCost.ArriveByte), "g_s": block(spec.Host), "g_r": block(spec.Medium),
		"L_cluster": {"l0": spec.L + spec.Host.A + spec.Medium.A + spec.Receive.A, "l1": spec.Fabric.PerHost,
			"tau": spec.Fabric.Tau, "N": spec.Fabric.Rate},
		"M_ctc": ns(20, 0.05), "M_ctm": ns(60, 0.15), "M_mtm": ns(100, 0.30),
	} {
		for coeff, v := range want {
			near(t, name+" "+coeff, p.Functions[name].Coeff[coeff], v, 0.01*math.Abs(v))
		}
	}
	const drift = 50e-9 // what clocks that gain 10 ppm add to a difference of round trips of a millisecond, each way
	oneByte := oneWayOf(&spec, 1, 2)
	for name, want := range map[string]float64{
		"B_L": float64(spec.Buffer), "L": oneByte + (clusterCost.Arrive.Seconds() + clusterCost.ArriveByte*1e-9),
		"g": spec.Service(spec.Host, 1), "G": spec.Host.B, "o_s": clusterCost.Send.Seconds() + clusterCost.SendByte*1e-9,
		"o_r": clusterCost.Recv.Seconds() + clusterCost.RecvByte*1e-9,
	} {
		q := p.Parameters[name]
		if q.Value == nil {
			t.Errorf("%s has no value: %s", name, q.Why)
			continue
		}
		near(t, name, *q.Value, want, 0.01*want+drift)
	}
	gathersArePredicted(t, p, d)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.6g, want %.6g (%+.2f%%)", what, got, want, 100*(got/want-1))
	}
}

// oneWayOf is the time of a packet from block to block, with p hosts active.
func oneWayOf(s *netspec.Spec, m, p int) float64 {
	tx := s.Service(s.Host, m)
	return tx + s.Service(s.Medium, m) + s.L + s.Service(*s.Receive, m) + s.Fabric.Delay(m, p, tx)
}

// gathersArePredicted: eq. 8 is within 5% of every gather without loss that lasts long enough to fill the port.
func gathersArePredicted(t *testing.T, p *params.Params, d *dataset.Dataset) {
	t.Helper()
	n := 0
	for _, f := range p.Fits {
		for _, s := range f.Of(params.GatherTime) {
			for _, r := range s.Points {
				if r.X < 4096 || s.Factors["window"] != s.Factors["senders"] {
					continue
				}
				n++
				if math.Abs(r.Relative()) > 0.05 {
					t.Errorf("%s at %g bytes: measured %g s, predicted %g s", s.Name, r.X, r.Measured, r.Fitted)
				}
			}
		}
	}
	if n == 0 {
		t.Errorf("no gather was predicted (of %d samples)", len(d.Select("gather", "gather")))
	}
}
