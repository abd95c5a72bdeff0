package cost

import (
	"errors"
	"testing"

	"calib/bench/pattern"
	"calib/fit/loggp"
	"calib/params"
)

// logpcRun is a run of LogGP, on a medium of so many seconds a message and a byte where medium is set.
func logpcRun(medium bool) *params.Params {
	value := func(v float64, model string) params.Parameter {
		return params.Parameter{Value: &v, Status: params.StatusOK, Model: model}
	}
	p := &params.Params{Parameters: map[string]params.Parameter{
		"L": value(300e-6, "loggp"), "o_s": value(20e-6, "loggp"), "o_r": value(30e-6, "loggp"),
		"a_c": value(100e-6, "hyperbolic-network"), "b_c": value(1e-6, "hyperbolic-network"),
	}, Functions: map[string]params.Function{
		"gap": {Form: "c0 + c1*m", Coeff: map[string]float64{"c0": 200e-6, "c1": 1e-6}, Unit: "s", Model: "loggp",
			Status: params.StatusOK},
	}}
	if medium {
		p.Network = &params.Network{Packets: params.Shared, Streams: params.Shared}
	}
	return p
}

func TestLoGPC(t *testing.T) {
	gap := func(m float64) float64 { return 200e-6 + 1e-6*m }
	way := func(m float64) float64 { return 350e-6 + 1e-6*(m-1) }
	model, err := LoGPC(logpcRun(false), loggp.Cube{})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "p2p", timeOf(t, model, find(t, "p2p", "direct"), 2, 1000), way(1000))
	near(t, "pairwise", timeOf(t, model, find(t, "alltoall", "pairwise"), 8, 1000), 7*way(1000))
	near(t, "shifted", timeOf(t, model, find(t, "alltoall", "shifted"), 8, 1000), 6*gap(1000)+way(1000))
	shared, err := LoGPC(logpcRun(true), loggp.Cube{})
	if err != nil {
		t.Fatal(err)
	}
	all := 8 * 1009.9e-6 // messages of 1000 B on the medium, eq. 3 of the hyperbolic model
	if got := timeOf(t, shared, find(t, "alltoall", "shifted"), 8, 1000); got < 7*all || got > 7*all*1.02 {
		t.Errorf("shifted on a medium takes %g s, which serves the messages in %g", got, 7*all)
	}
	mesh, err := LoGPC(logpcRun(false), loggp.Cube{Dimension: 2, Distance: 3.875 / 2})
	if err != nil {
		t.Fatal(err)
	}
	cube := loggp.Cube{Dimension: 2, Distance: 3.875 / 2}
	each := timeOf(t, mesh, find(t, "alltoall", "pairwise"), 32, 1000) / 31
	near(t, "pairwise on a mesh, eq. 7", each, way(1000)+cube.Contention(loggp.Traffic{Rate: 1 / each,
		Service: gap(1000)}))
}

func TestLoGPCRefuses(t *testing.T) {
	model, err := LoGPC(logpcRun(false), loggp.Cube{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pattern.All {
		switch _, err := model.Time(TrafficOf(p, 8, 100)); {
		case p.Name() == "p2p-direct" || p.Name() == "alltoall-pairwise" || p.Name() == "alltoall-shifted":
		case err == nil:
			t.Errorf("%s is predicted", p.Name())
		case p.Defined(8) && !errors.Is(err, ErrNotPredicted):
			t.Errorf("%s: %v", p.Name(), err)
		}
	}
	if _, err := LoGPC(&params.Params{}, loggp.Cube{}); !errors.Is(err, ErrParameters) ||
		!errors.Is(err, loggp.ErrInputs) {
		t.Errorf("without LogGP: %v", err)
	}
	for _, bad := range []loggp.Cube{{Dimension: 0.5, Distance: 1}, {Dimension: 2}, {Distance: 2},
		{Dimension: -1, Distance: 1}} {
		if _, err := LoGPC(logpcRun(false), bad); !errors.Is(err, ErrParameters) {
			t.Errorf("topology %+v: %v", bad, err)
		}
	}
}
