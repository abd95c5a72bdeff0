package models

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"calib/fit"
	"calib/internal/dataset"
	"calib/params"
)

var updateParams = flag.Bool("update-params", false, "rewrite ../../params/testdata/params.json")

// The fixture that the tests of params.json and of reports read is what Collect and Encode make of the fits.
func TestEncodeGolden(t *testing.T) {
	got := encodeParams(t, sparcParams())
	const path = "../../params/testdata/params.json"
	if *updateParams {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("params.json (run with -update-params if it is meant):\n%s", diff)
	}
	if err := validate(t, got); err != nil {
		t.Errorf("schema: %v", err)
	}
}

func number(v float64) *float64 { return &v }

// sparcDataset is the header of a run on 8 emulated hosts of preset sparc1994, h5 slow, with a few samples.
func sparcDataset() *dataset.Dataset {
	d := &dataset.Dataset{Header: dataset.Header{
		Schema: dataset.Schema, Run: "calib-run-20260301-101500", Seed: 42, Plan: "standard",
	}}
	for i := 1; i <= 8; i++ {
		h := dataset.Host{Name: fmt.Sprintf("h%d", i), Addr: fmt.Sprintf("10.77.0.%d", i), Version: "v0.1.0", Build: "5f2c"}
		h.Env = map[string]string{
			"kernel": "6.12.9", "cpu.model": "SPARCstation µ2", "nic.mtu": "1500", "tcp.congestion": "cubic",
			"cpu.governor": "performance",
		}
		switch i {
		case 5:
			h.Env["nic.mtu"] = "9000"
		case 7:
			delete(h.Env, "cpu.governor")
		}
		d.Header.Hosts = append(d.Header.Hosts, h)
	}
	for round := range 5 {
		for i := range 4 {
			d.Samples = append(d.Samples, dataset.Sample{
				Exp: "paired", Phase: "burst", Point: dataset.Point{"bytes": 1, "pairs": 4}, Ranks: []int{2 * i, 2*i + 1},
				Round: round, Slot: round, Part: i, Parts: 4, NS: []int64{3102345, 3101234, 3109876},
			})
		}
	}
	return d
}

// sparcFits are fits as the models make them, with the published values of the paper's cluster.
func sparcFits() []*params.Fit {
	hosts := []string{"h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"}
	domain := map[string][2]float64{"bytes": {1, 65536}}
	clock := &params.Fit{
		Model: "timer", Experiment: "clock", Source: "calib", Hosts: hosts, Used: 40000, Domain: map[string][2]float64{},
		Parameters: map[string]params.Parameter{
			"t_clock": {Value: number(48.2e-9), Unit: "s", CI95: &[2]float64{47.9e-9, 48.6e-9}, Status: params.StatusOK,
				Model: "timer", Experiment: "clock", Source: "calib", Label: "cost of reading the clock"},
		},
	}
	hockney := &params.Fit{
		Model: "hockney", Experiment: "pingpong", Source: "Hockney 1994", Hosts: hosts, Domain: domain,
		Used: 11800, LeftOut: 140, LeftOutWhy: map[string]int{"retrans": 100, "preempt": 40},
		Parameters: map[string]params.Parameter{
			"r_inf": {Value: number(704.1e3), Unit: "B/s", CI95: &[2]float64{702.6e3, 705.4e3}, Status: params.StatusOK,
				Model: "hockney", Experiment: "pingpong", Source: "Hockney 1994", Label: "asymptotic rate"},
		},
		Quality: &params.Quality{R2: number(0.99987), MeanError: 0.011, MaxError: 0.043, LeaveOneOut: number(0.013),
			Condition: number(3.2)},
		Findings: []params.Finding{
			params.Warnf(params.ManyLeftOut, "size 64: 12 of 400 timings carry flag retrans").With("share", 0.03),
			params.Warnf(params.ManyLeftOut, "size 128: 9 of 400 timings carry flag retrans").With("share", 0.0225),
			params.Warnf(params.ManyLeftOut, "size 4096: 31 of 400 timings carry flag retrans").With("share", 0.0775),
			params.Warnf("measuring", "the governor of h7 is unknown").About("h7"),
		},
		Series: []params.Series{sparcTimes()},
		Pairs:  sparcPairs(hosts),
	}
	return []*params.Fit{clock, hockney, sparcNetwork(hosts)}
}

func sparcNetwork(hosts []string) *params.Fit {
	p := func(v, lo, hi float64, unit, label string) params.Parameter {
		return params.Parameter{Value: &v, Unit: unit, CI95: &[2]float64{lo, hi}, Status: params.StatusOK,
			Model:      "hyperbolic-network",
			Experiment: "paired", Source: "Stoica 1994 eq. 16-17", Label: label}
	}
	f := &params.Fit{
		Model: "hyperbolic-network", Experiment: "paired", Source: "Stoica 1994 eq. 16-17", Hosts: hosts, Used: 9600,
		Domain: map[string][2]float64{"bytes": {1, 65536}, "pairs": {1, 4}},
		Parameters: map[string]params.Parameter{
			"a":   p(859.52e-6, 857.1e-6, 861.9e-6, "s", "cost of a message at a host"),
			"a_c": p(345.6e-6, 341.2e-6, 350.1e-6, "s", "contention of the medium per message"),
			"b_c": p(0.92e-6, 0.9191e-6, 0.9209e-6, "s/B", "contention of the medium per byte"),
			"b": {Unit: "s/B", Status: params.StatusUnidentifiable, Bound: &params.Bound{0, 9.2e-7},
				Why: "b ≤ b_c: the medium is the bottleneck at n=1", Model: "hyperbolic-network", Experiment: "paired",
				Source: "Stoica 1994 eq. 16-17", Label: "cost of a byte at a host"},
		},
		Quality: &params.Quality{R2: number(0.9996), MeanError: 0.008, MaxError: 0.021},
		Network: &params.Network{Packets: params.Shared, Streams: params.Shared},
		Findings: []params.Finding{
			params.Warnf("measuring", "the governor of h7 is unknown").About("h7"),
			params.Warnf("delay-in-a", "a holds half of the delay L until the experiment load separates it"),
		},
	}
	s := params.Series{Name: "a'(n)", Quantity: params.FixedTime, XName: "pairs"}
	for i, at := range []float64{2.0652e-3, 2.4105e-3, 2.7561e-3, 3.1015e-3} {
		fitted := 2*859.52e-6 + float64(i+1)*345.6e-6
		s.Add(float64(i+1), at, [2]float64{at - 4e-6, at + 5e-6}, fitted, 300)
	}
	f.Series = append(f.Series, s)
	return f
}

func sparcTimes() params.Series {
	s := params.Series{Name: "T(x)", Quantity: params.Time, XName: "bytes"}
	for i, x := range []float64{1, 64, 1024, 1448, 16384, 65536} {
		fitted := 2.0646e-3 + x*1.42e-6
		off := []float64{0.002, -0.004, 0.011, 0.043, -0.006, 0.001}[i]
		measured := fitted * (1 + off)
		s.Add(x, measured, [2]float64{measured * 0.997, measured * 1.004}, fitted, 400)
	}
	return s
}

func sparcPairs(hosts []string) []params.Pair {
	var out []params.Pair
	for i, from := range hosts {
		for _, to := range hosts[i+1:] {
			p := params.Pair{From: from, To: to, Latency: number(2.06e-3), LatencyCI: &[2]float64{2.05e-3, 2.07e-3},
				Rate: number(704e3), RateCI: &[2]float64{702e3, 706e3}}
			if from == "h5" || to == "h5" {
				p.Latency, p.LatencyCI = number(4.13e-3+float64(i)*1e-6), &[2]float64{4.12e-3, 4.15e-3}
				p.Rate, p.RateCI = number(351e3), &[2]float64{350e3, 352e3}
				p.Slow = "latency 2.0 × the median of all pairs"
			}
			out = append(out, p)
		}
	}
	return out
}

// sparcParams is the whole fixture.
func sparcParams() *params.Params {
	p := fit.Collect(fit.Prepare(sparcDataset(), fit.Settings{}), sparcFits())
	p.Functions["g_s"] = params.Function{
		Form: "c0 + c1*m", Coeff: map[string]float64{"c0": 61e-6, "c1": 9.2e-9}, Unit: "s",
		CI95:   map[string][2]float64{"c0": {60e-6, 62e-6}, "c1": {9.1e-9, 9.3e-9}},
		Domain: map[string][2]float64{"m": {1, 1448}}, Model: "gap", Source: "HKU eq. 1", Label: "gap between sends",
	}
	p.Validation = []params.Validation{
		{Model: "sim", Pattern: "bcast-binary", Hosts: 8, Bytes: 4096, Predicted: 25.1e-3,
			CI95: &[2]float64{24.6e-3, 25.7e-3}, Measured: 25.9e-3,
			Error: (25.9 - 25.1) / 25.9},
		{Model: "hyperbolic", Pattern: "bcast-binary", Hosts: 8, Bytes: 4096, Predicted: 29e-3, Measured: 25.9e-3,
			Error: (25.9 - 29.0) / 25.9},
		{Model: "sim", Pattern: "gather-direct", Hosts: 8, Bytes: 65536, Predicted: 100e-3, Measured: 200e-3, Error: 0.5},
	}
	return p
}
