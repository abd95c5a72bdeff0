package export

import (
	"testing"

	"calib/params"
)

// platformFixture is a run of eight hosts that lacks the send buffer; one of the hosts has a name that means something
// to XML.
func platformFixture() *params.Params {
	const odd = "h3;rm -rf /tmp\n*/ \"x\" # }"
	p := &params.Params{Schema: params.Schema,
		Run: params.Run{ID: "20261121-044155-flpiifqw", Plan: "standard",
			Hosts: []string{"h0", "h1", "h2", odd, "h4", "h5", "h6", "h7"}},
		Parameters: map[string]params.Parameter{
			"packet": parameter(1448, "B", "cluster", "load"),
			"b_c": {Unit: "s/B", Status: params.StatusUnidentifiable, Bound: &params.Bound{0, 2.5e-7}, Why: "b_c ≤ b",
				Model: "hyperbolic-network", Experiment: "paired"},
		},
		Functions: map[string]params.Function{"g_s": {}, "g_r": {}},
	}
	setLine(p, "g_s", 1.5e-4, 1.46e-7)
	setLine(p, "g_r", 4e-6, 2e-10)
	p.Functions["T"] = params.Function{Form: params.Pieces, Unit: "s", Model: "segmented", Label: "T(x)",
		Coeff: map[string]float64{"from_1": 0, "c0_1": 400e-6, "c1_1": 2.7e-7, "from_2": 7089, "c0_2": 450e-6,
			"c1_2": 2.56e-7},
		Domain: map[string][2]float64{"bytes": {1, 4194304}, "bytes_1": {1, 4600}, "bytes_2": {9578, 4194304}}}
	for i := range 7 {
		p.Pairs = append(p.Pairs, params.Pair{From: p.Run.Hosts[i], To: p.Run.Hosts[i+1]})
	}
	p.Pairs[2].Slow = "8% slower than the others"
	return p
}

// switched is a run of a switch with everything that a platform can say.
func switched() *params.Params {
	p := platformFixture()
	p.Run.Hosts = []string{"node-0", "node-1", "node-2", "node-3"}
	p.Parameters["send_buffer"] = parameter(400e3, "B", "segmented", "pingpong")
	setLine(p, "g_s", 150e-6, 0.14e-6)
	setLine(p, "g_r", 120e-6, 0.11e-6)
	return p
}

// beginning is p where windows are as they begin: the simulation of windows as they begin predicted a pattern better.
func beginning(p *params.Params) *params.Params {
	p.Validation = []params.Validation{
		{Model: params.SimWarm, Pattern: "bcast-binary", Hosts: 4, Bytes: 65536, Predicted: 0.5, Measured: 1, Error: 0.5},
		{Model: params.SimCold, Pattern: "bcast-binary", Hosts: 4, Bytes: 65536, Predicted: 1.01, Measured: 1, Error: -0.01},
	}
	return p
}

// medium is the same on a shared medium with the parameters of sparc1994.
func medium() *params.Params {
	p := switched()
	for name, v := range map[string]float64{"a": 859.52e-6, "a_c": 345.6e-6, "b": 1.42e-6, "b_c": 0.92e-6} {
		p.Parameters[name] = parameter(v, map[bool]string{true: "s", false: "s/B"}[name[0] == 'a'], "hyperbolic-network",
			"paired")
	}
	p.Functions["T"] = params.Function{Form: params.Pieces, Unit: "s", Model: "segmented", Label: "T(x)",
		Coeff: map[string]float64{"from_1": 0, "c0_1": 2.0649e-3, "c1_1": 2.3345e-6, "from_2": 1245.5, "c0_2": 3.6088e-3,
			"c1_2": 1.4226e-6},
		Domain: map[string][2]float64{"bytes": {1, 4194304}}}
	setLine(p, "g_s", 859e-6, 0.826e-6)
	setLine(p, "g_r", 859e-6, 0.826e-6)
	return p
}

func setLine(p *params.Params, name string, c0, c1 float64) {
	f := p.Functions[name]
	f.Form, f.Coeff = params.Line, map[string]float64{"c0": c0, "c1": c1}
	p.Functions[name] = f
}

// exportPlatform returns the platform file of a run with so many hosts.
func exportPlatform(p *params.Params, hosts int) (file []byte, warnings []string, err error) {
	in := newInput(p, Options{Hosts: hosts, Version: "v1.2.3"})
	file = writeSimGrid(in)
	return file, append(in.warnings, in.doubts()...), in.err
}

func platformFile(t testing.TB, p *params.Params, hosts int) []byte {
	t.Helper()
	file, _, err := exportPlatform(p, hosts)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// readSimGrid is the platform of a run as its reader has it.
func readSimGrid(t testing.TB, p *params.Params, hosts int) *simulated {
	t.Helper()
	platform, err := readPlatform(platformFile(t, p, hosts))
	if err != nil {
		t.Fatal(err)
	}
	return platform
}
