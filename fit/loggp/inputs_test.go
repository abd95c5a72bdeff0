package loggp

import (
	"errors"
	"math"
	"testing"

	"calib/params"
)

// run is a run with LogGP and, of the hyperbolic model, a_c of that status, on a network of that kind.
func run(kind params.Kind, status string) *params.Params {
	of := func(v float64, model string) params.Parameter {
		return params.Parameter{Value: &v, Status: params.StatusOK, Model: model}
	}
	p := &params.Params{Network: &params.Network{Packets: kind, Streams: kind}, Parameters: map[string]params.Parameter{
		"L": of(300e-6, "loggp"), "o_s": of(20e-6, "loggp"), "o_r": of(-1e-6, "loggp"),
		"a_c": of(100e-6, "hyperbolic-network"), "b_c": of(1e-6, "hyperbolic-network"),
	}, Functions: map[string]params.Function{
		"gap": {Form: "c0 + c1*m", Coeff: map[string]float64{"c0": 200e-6, "c1": 1e-6}, Unit: "s", Model: "loggp",
			Status: params.StatusOK},
	}, Environment: params.Environment{Common: map[string]string{"nic.segment": "1448"}}}
	if status != params.StatusOK {
		q := p.Parameters["a_c"]
		q.Withhold(status, "a reason")
		p.Parameters["a_c"] = q
	}
	return p
}

func TestMachineOf(t *testing.T) {
	for _, c := range []struct {
		kind   params.Kind
		status string
		a      float64 // of the medium; negative is none
	}{
		{params.Switch, params.StatusOK, -1}, {params.Unknown, params.StatusOK, -1}, {params.Shared, params.StatusOK, 100e-6},
		{params.Shared, params.StatusBound, 0},
	} {
		in, err := MachineOf(run(c.kind, c.status), Cube{})
		switch {
		case err != nil:
			t.Error(err)
		case (in.Network != nil) != (c.a >= 0) || in.Network != nil && in.Service(0) != c.a:
			t.Errorf("%s, a_c %s: %v, %g s of a packet", c.kind, c.status, in.Network, in.Service(0))
		case in.Packet != 1448 || in.Busy != 20e-6 || math.Abs(in.OneWay(1)-319e-6) > 1e-12:
			t.Errorf("machine %+v", in)
		}
	}
	if _, err := MachineOf(run(params.Shared, params.StatusUnidentifiable), Cube{}); !errors.Is(err, ErrInputs) {
		t.Errorf("a medium of unknown a_c: %v", err)
	}
	p := run(params.Switch, params.StatusOK)
	delete(p.Parameters, "L")
	if _, err := MachineOf(p, Cube{}); !errors.Is(err, ErrInputs) {
		t.Errorf("without L and half round trips: %v", err)
	}
	p.Fits = []*params.Fit{{Model: "loggp", Series: []params.Series{{Quantity: params.HalfRoundTrip,
		Points: []params.Residual{
			{X: 1001, Measured: 2e-3}, {X: 1, Measured: 1e-3},
		}}}}}
	in, err := MachineOf(p, Cube{})
	if err != nil {
		t.Fatal(err)
	}
	for m, want := range map[float64]float64{1: 1e-3, 501: 1.5e-3, 1001: 2e-3, 2001: 3e-3} {
		if got := in.OneWay(m); got < want*(1-1e-9) || got > want*(1+1e-9) {
			t.Errorf("%g bytes take %g s, want %g", m, got, want)
		}
	}
	delete(p.Functions, "gap")
	if _, err := MachineOf(p, Cube{}); !errors.Is(err, ErrInputs) {
		t.Errorf("without gap: %v", err)
	}
}
