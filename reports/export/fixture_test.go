package export

import (
	"fmt"
	"strings"
	"testing"

	"calib/params"
)

// parameter is a determined parameter with an interval of ±1%.
func parameter(v float64, unit, model, experiment string) params.Parameter {
	return params.Parameter{Value: &v, Unit: unit, CI95: &[2]float64{0.99 * v, 1.01 * v}, Status: params.StatusOK,
		Model:      model,
		Experiment: experiment, Source: "test", Label: "made for a test"}
}

// fixture is a run of eight hosts with everything that a target may ask for; one of its hosts has a name that means
// something to every format.
func fixture() *params.Params {
	const odd = "h3;rm -rf /tmp\n*/ \"x\" # }"
	p := &params.Params{Schema: params.Schema,
		Run: params.Run{ID: "20261121-044155-flpiifqw", Plan: "standard",
			Hosts: []string{"h0", "h1", "h2", odd, "h4", "h5", "h6", "h7"}},
		Parameters: map[string]params.Parameter{
			"L": parameter(392.348509652e-6, "s", "loggp", "prtt"), "o_s": parameter(4.535401308e-6, "s", "loggp", "prtt"),
			"o_r": parameter(0.851713960e-6, "s", "loggp", "prtt"), "g": parameter(150.219998336e-6, "s", "loggp", "prtt"),
			"G":      parameter(253.490412602e-9, "s/B", "loggp", "prtt"),
			"alpha":  parameter(400.075819813e-6, "s", "hockney", "pingpong"),
			"beta":   parameter(255.965443944e-9, "s/B", "hockney", "pingpong"),
			"r_inf":  parameter(3906777.35474637, "B/s", "hockney", "pingpong"),
			"packet": parameter(1448, "B", "cluster", "load"), "B_L": parameter(64.42195924, "packets", "flood", "flood"),
			"b_c": {Unit: "s/B", Status: params.StatusUnidentifiable, Bound: &params.Bound{0, 2.5e-7}, Why: "b_c ≤ b",
				Model: "hyperbolic-network", Experiment: "paired"},
		},
		Functions: map[string]params.Function{
			"g_s": {Form: params.Line, Unit: "s", Model: "cluster-gap", Label: "gap, sending",
				Coeff: map[string]float64{"c0": 1.5e-4, "c1": 1.46e-7},
				CI95:  map[string][2]float64{"c0": {1.49e-4, 1.51e-4}}, Domain: map[string][2]float64{"m": {1, 1448}}},
		},
		Fits: []*params.Fit{{Model: "hockney", Experiment: "pingpong"}},
	}
	for _, name := range []string{"O_s", "O_r", "U_r", "o_s", "o_r", "g_r"} {
		p.Functions[name] = params.Function{Form: params.Line, Unit: "s", Model: "cluster-overhead", Label: "overhead",
			Coeff: map[string]float64{"c0": 4e-6, "c1": 2e-10}, Domain: map[string][2]float64{"m": {1, 1448}}}
	}
	p.Functions["T"] = params.Function{Form: params.Pieces, Unit: "s", Model: "segmented", Label: "T(x)",
		Coeff: map[string]float64{"from_1": 0, "c0_1": 400e-6, "c1_1": 2.7e-7, "from_2": 7089, "c0_2": 450e-6,
			"c1_2": 2.56e-7},
		Domain: map[string][2]float64{"bytes": {1, 4194304}, "bytes_1": {1, 4600}, "bytes_2": {9578, 4194304}}}
	times := params.Series{Name: "T(x)", Quantity: params.Time, XName: "bytes"}
	for _, x := range []float64{1, 64, 1053, 65536, 4194304} {
		y := 400e-6 + x*2.56e-7
		times.Add(x, y, [2]float64{399e-6 + x*2.55e-7, 401e-6 + x*2.57e-7}, y, 300)
	}
	p.Fits[0].Series = []params.Series{times}
	for i := range 7 {
		lat, rate := 390e-6+float64(i)*1e-7, 3.9e6
		p.Pairs = append(p.Pairs, params.Pair{From: p.Run.Hosts[i], To: p.Run.Hosts[i+1], Latency: &lat,
			LatencyCI: &[2]float64{0.9 * lat, 1.1 * lat}, Rate: &rate})
	}
	p.Pairs[2].Slow = "8% slower than the others"
	p.Groups = &params.Groups{Hosts: [][]string{{"h0", "h1", "h2"}, {odd, "h4", "h5", "h6", "h7"}}, Apart: 1.3}
	return p
}

// set replaces the value of a parameter.
func set(p *params.Params, name string, v float64) *params.Params {
	q := p.Parameters[name]
	q.Value, q.CI95, q.Status = &v, nil, params.StatusOK
	p.Parameters[name] = q
	return p
}

// write returns the file of a target.
func write(t testing.TB, target Target, p *params.Params, o Options) []byte {
	t.Helper()
	file, _, err := target.Export(p, o)
	if err != nil {
		t.Fatalf("%s: %v", target.Name, err)
	}
	return file
}

func lookup(t interface{ Fatal(...any) }, name string) Target {
	target, err := Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func ExampleLookup() {
	_, err := Lookup("ns-3")
	what, _, _ := strings.Cut(err.Error(), ", atlahs")
	fmt.Println(what)
	// Output: "ns-3": no such export target; there are astra-sim
}

// optionsOf are those that a target is tried with.
func optionsOf(target Target) Options {
	o := Options{Version: "v1.2.3"}
	if target.Rules {
		o.Rules = rules()
	}
	return o
}
