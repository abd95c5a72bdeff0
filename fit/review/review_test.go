package review

import (
	"math"
	"strings"
	"testing"

	"calib/params"
)

// run is a run that nothing speaks against: ping-pong of 100 µs + 1 ns/B in five rounds, fitted by Hockney and the
// hyperbola.
func run() *params.Params {
	quality := func() *params.Quality { return &params.Quality{MeanError: 0.01, MaxError: 0.05} }
	fit := func(model, experiment string, s ...params.Series) *params.Fit {
		return &params.Fit{Model: model, Experiment: experiment, Rounds: 5, Quality: quality(), Series: s}
	}
	times := params.Series{Name: "T(x)", Quantity: params.Time, XName: "bytes"}
	for _, x := range []float64{1, 32, 1000, 100e3, 1e6} {
		v := 100e-6 + 1e-9*x
		times.Add(x, v, [2]float64{0.99 * v, 1.01 * v}, v, 30)
	}
	fixed := params.Series{Name: "a'(n)", Quantity: params.FixedTime, XName: "pairs"}
	for n := 1.0; n <= 4; n++ {
		fixed.Add(n, 100e-6, [2]float64{99e-6, 101e-6}, 100e-6, 30)
	}
	p := &params.Params{Run: params.Run{Plan: "standard", Rounds: 5}, Parameters: map[string]params.Parameter{},
		Functions: map[string]params.Function{},
		Fits: []*params.Fit{fit("hockney", "pingpong", times), fit("hyperbola", "pingpong", times),
			fit("hyperbolic-network", "paired", fixed),
			fit("loggp", "prtt"), fit("cluster", "load"), fit("cluster-overhead", "overhead"), fit("cluster-gap", "gap"),
			fit("cluster-buffer", "flood")}}
	set(p, "hockney", "s", "alpha", 100e-6)
	set(p, "hockney", "s/B", "beta", 1e-9)
	set(p, "hyperbola", "B/s", "r_inf", 1e9)
	set(p, "hyperbola", "s", "a_prime_limits", 100e-6)
	set(p, "hyperbola", "s/B", "b_prime_limits", 1e-9)
	p.Distribute()
	return p
}

// set adds a parameter with an interval of ± 1%, or with the given ends.
func set(p *params.Params, model, unit, name string, v float64, ends ...float64) {
	ci := &[2]float64{min(0.99*v, 1.01*v), max(0.99*v, 1.01*v)}
	if len(ends) == 2 {
		ci = &[2]float64{ends[0], ends[1]}
	}
	p.Parameters[name] = params.Parameter{Value: &v, Unit: unit, CI95: ci, Status: params.StatusOK, Model: model}
}

// miss makes the points of the only series of a model such as are measured within ± half of their values, and missed by
// these shares, all by the last one from there on.
func miss(p *params.Params, model string, half float64, by ...float64) {
	f := fitOf(p, model)
	s := &f.Series[0]
	s.Points = nil
	for k := range max(len(by), 5) {
		x := math.Pow(100, float64(k))
		v := 100e-6 + 1e-9*x
		s.Add(x, v, [2]float64{v * (1 - half), v * (1 + half)}, v*(1+by[min(k, len(by)-1)]), 30)
	}
	f.Quality = &params.Quality{}
	f.Quality.MeanError, f.Quality.MaxError, _ = params.Misfit(*s)
}

// line adds a cost function c0 + c1*m over 1 to 1,000 B with intervals of ± half.
func line(p *params.Params, model, name string, c0, half, c1 float64) {
	p.Functions[name] = params.Function{Form: params.Line, Unit: "s", Model: model,
		Coeff:  map[string]float64{"c0": c0, "c1": c1},
		CI95:   map[string][2]float64{"c0": {c0 - half, c0 + half}, "c1": {0.99 * c1, 1.01 * c1}},
		Domain: map[string][2]float64{"m": {1, 1000}}}
}

func fitOf(p *params.Params, model string) *params.Fit {
	for _, f := range p.Fits {
		if f.Model == model {
			return f
		}
	}
	return nil
}

// statuses checks the status of one name, and that its reason holds some words.
func statuses(t *testing.T, p *params.Params, name, want, words string) {
	t.Helper()
	status, why := p.Parameters[name].Status, p.Parameters[name].Why
	if f, ok := p.Functions[strings.TrimSuffix(name, "()")]; ok && strings.HasSuffix(name, "()") {
		status, why = f.Status, f.Why
	}
	if status != want || !strings.Contains(why, words) || want != params.StatusOK && why == "" {
		t.Errorf("%s is %s (%s), want %s with %q", name, status, why, want, words)
	}
	if q, ok := p.Parameters[name]; ok && (q.Value != nil) != (want == params.StatusOK ||
		want == params.StatusProvisional) {
		t.Errorf("%s is %s: value %v", name, status, q.Value)
	} else if ok && q.Value == nil && q.Estimate == nil {
		t.Errorf("%s has lost its estimate", name)
	}
}

func TestNothingSpeaksAgainst(t *testing.T) {
	p := run()
	Apply(p)
	for name := range p.Parameters {
		statuses(t, p, name, params.StatusOK, "")
	}
	if len(p.Findings) > 0 {
		t.Errorf("findings %v", p.Findings)
	}
}

// Each rule by one change to a run that nothing speaks against.
func TestRules(t *testing.T) {
	const inconsistent, bound, provisional, ok = params.StatusInconsistent, params.StatusBound, params.StatusProvisional,
		params.StatusOK
	for _, c := range []struct {
		what   string
		change func(*params.Params)
		name   string
		want   string
		words  string
	}{
		// What is impossible.
		{"a negative time", func(p *params.Params) { set(p, "loggp", "s", "L", -20e-6, -25e-6, -15e-6) }, "L", inconsistent,
			"impossible"},
		{"less time than in a row", func(p *params.Params) {
			set(p, "wakeup", "s", "after_idle_awake", -12e-6, -14e-6, -10e-6)
		}, "after_idle_awake", ok, ""},
		{"perhaps less", func(p *params.Params) { set(p, "wakeup", "s", "after_idle_awake", -8e-6, -17e-6, 3e-6) },
			"after_idle_awake", bound, "zero"},
		{"an interval with zero", func(p *params.Params) { set(p, "loggp", "s", "L", -8e-6, -17e-6, 3e-6) }, "L", bound,
			"zero"},
		{"a positive one with zero", func(p *params.Params) { set(p, "loggp", "s", "L", 8e-6, -3e-6, 17e-6) }, "L", bound,
			"zero"},
		{"zero, to within what matters", func(p *params.Params) { set(p, "loggp", "s", "o_s", 0.1e-6, -1e-6, 1.5e-6) }, "o_s",
			ok, ""},
		{"below zero, by what does not matter", func(p *params.Params) {
			set(p, "loggp", "s", "o_s", -0.1e-6, -0.2e-6,
				-0.05e-6)
		}, "o_s", bound, "2%"},
		{"a difference may be negative", func(p *params.Params) {
			set(p, "tuning", "1", "fragment_gain_64KiB", -0.04, -0.05,
				-0.03)
		}, "fragment_gain_64KiB", ok, ""},
		{"a negative cost", func(p *params.Params) { line(p, "loggp", "o_s", -20e-6, 1e-6, 1e-12) }, "o_s()", inconsistent,
			"impossible"},
		{"a cost that cannot be told from zero", func(p *params.Params) { line(p, "loggp", "o_s", 5e-6, 9e-6, 1e-12) },
			"o_s()", bound, "zero"},
		{"a cost that falls below zero", func(p *params.Params) { line(p, "loggp", "o_s", 5e-6, 1e-9, -50e-9) }, "o_s()",
			inconsistent, "1000 B"},
		{"more than the whole", func(p *params.Params) { set(p, "hyperbola", "s/B", "b_prime_limits", 2e-9) },
			"b_prime_limits", inconsistent, "whole"},

		// What contradicts something else.
		{"beta", func(p *params.Params) { set(p, "hockney", "s/B", "beta", 0.6e-9) }, "beta", inconsistent,
			"b_prime_limits = 1 ns/B"},
		{"r_inf with b'", func(p *params.Params) { set(p, "hyperbola", "s/B", "b_prime_limits", 2e-9) }, "r_inf",
			inconsistent, "b_prime_limits"},
		{"alpha", func(p *params.Params) { set(p, "hockney", "s", "alpha", 60e-6) }, "alpha", inconsistent,
			"use a_prime_limits"},
		{"b, slower than ping-pong", func(p *params.Params) { set(p, "hyperbolic-network", "s/B", "b", 1.2e-9) }, "b",
			inconsistent, "b_prime_limits = 1 ns/B"},
		{"b, a little slower", func(p *params.Params) { set(p, "hyperbolic-network", "s/B", "b", 1.08e-9) }, "b", ok, ""},
		{"b, slower by less than the intervals", func(p *params.Params) {
			set(p, "hyperbolic-network", "s/B", "b", 1.2e-9,
				0.9e-9, 1.5e-9)
		}, "b", ok, ""},
		{"b, faster by its pipeline", func(p *params.Params) { set(p, "hyperbolic-network", "s/B", "b", 0.6e-9) }, "b", ok,
			""},
		{"b, faster than that", func(p *params.Params) { set(p, "hyperbolic-network", "s/B", "b", 0.4e-9) }, "b",
			inconsistent, "b_prime_limits"},
		{"b against beta alone", func(p *params.Params) {
			set(p, "hyperbola", "s/B", "b_prime_limits", 2e-9)
			set(p, "hyperbolic-network", "s/B", "b", 1.5e-9)
		}, "b", inconsistent, "use beta"},
		{"a against α/2", func(p *params.Params) {
			set(p, "hyperbolic-network", "s", "a", 20e-6)
			set(p, "hyperbolic-network", "s", "a_c", 2e-6)
		}, "a", inconsistent, "2a + a_c = 42 µs"},
		{"a burst that takes longer than ping-pong, of an a_c that may be zero", func(p *params.Params) {
			set(p, "hyperbolic-network", "s", "a", 80e-6)
			set(p, "hyperbolic-network", "s", "a_c", 3e-6, -1e-6, 7e-6)
		}, "a", inconsistent, "2a + a_c = 163 µs"},
		{"a that agrees", func(p *params.Params) {
			set(p, "hyperbolic-network", "s", "a", 45e-6)
			set(p, "hyperbolic-network", "s", "a_c", 5e-6)
		}, "a", ok, ""},
		{"a_prime", func(p *params.Params) { set(p, "hyperbolic-network", "s", "a_prime", 60e-6) }, "a_prime", inconsistent,
			"a_prime_limits"},
		{"o_s against O_s", func(p *params.Params) {
			set(p, "loggp", "s", "o_s", 30e-6)
			line(p, "cluster-overhead", "O_s", 10e-6, 1e-7, 1e-12)
		}, "o_s", inconsistent, "use O_s"},
		{"the function o_s with it", func(p *params.Params) {
			set(p, "loggp", "s", "o_s", 30e-6)
			line(p, "loggp", "o_s", 30e-6, 1e-7, 1e-12)
			line(p, "cluster-overhead", "O_s", 10e-6, 1e-7, 1e-12)
		}, "o_s()", inconsistent, "use O_s"},
		{"o_s near O_s, for the way of a message", func(p *params.Params) {
			set(p, "loggp", "s", "o_s", 15e-6)
			line(p, "cluster-overhead", "O_s", 10e-6, 1e-7, 1e-12)
		}, "o_s", ok, ""},
		{"o_r against U_r", func(p *params.Params) {
			set(p, "loggp", "s", "o_r", 30e-6)
			line(p, "cluster-overhead", "U_r", 3e-6, 1e-7, 1e-12)
		}, "o_r", inconsistent, "U_r(1 B) = 3 µs"},
		{"L of LogGP has O_r in it", func(p *params.Params) {
			set(p, "loggp", "s", "L", 100e-6)
			line(p, "cluster", "L_cluster", 80e-6, 1e-7, 1e-12)
			line(p, "cluster-overhead", "O_r", 20e-6, 1e-7, 1e-12)
		}, "L", ok, ""},
		{"L against L_cluster", contraryL, "L", inconsistent, "neither"},
		{"L_cluster against L", contraryL, "L_cluster()", inconsistent, "neither"},
		{"g against g_r", func(p *params.Params) {
			set(p, "loggp", "s", "g", 30e-6)
			line(p, "cluster-gap", "g_s", 30e-6, 1e-7, 1e-12)
			line(p, "cluster-gap", "g_r", 50e-6, 1e-7, 1e-12)
		}, "g", inconsistent, "g_r(1 B) = 50 µs"},
		{"G against the merged gap", func(p *params.Params) {
			set(p, "loggp", "s/B", "G", 0.5e-9)
			line(p, "cluster-gap", "g_s_merged", 1e-6, 1e-8, 1e-9)
		}, "G", inconsistent, "g_s_merged.c1"},
		{"G where nothing merged", func(p *params.Params) {
			set(p, "loggp", "s/B", "G", 0.5e-9)
			line(p, "cluster-gap", "g_s", 1.2e-6, 1e-8, 1e-9)
			line(p, "cluster-gap", "g_s_merged", 1e-6, 1e-8, 1e-9)
		}, "G", ok, ""},
		{"B_L, twice", func(p *params.Params) {
			set(p, "cluster-buffer", "packets", "B_L", 64)
			set(p, "cluster-buffer", "packets", "B_L_tcp", 90)
			p.Parameters["B_L_bytes"] = params.Parameter{Status: params.StatusUnidentifiable, Why: params.CountsPackets}
		}, "B_L_tcp", inconsistent, "B_L = 64"},
		{"B_L of a buffer that may count bytes", func(p *params.Params) {
			set(p, "cluster-buffer", "packets", "B_L", 64)
			set(p, "cluster-buffer", "packets", "B_L_tcp", 45)
		}, "B_L", ok, ""},
		{"B_L of a buffer that counts bytes", func(p *params.Params) {
			set(p, "cluster-buffer", "packets", "B_L", 64)
			set(p, "cluster-buffer", "packets", "B_L_tcp", 45)
			set(p, "cluster-buffer", "B", "B_L_bytes", 64e3)
		}, "B_L", ok, ""},
		{"without an interval nothing is excluded", func(p *params.Params) {
			set(p, "hyperbolic-network", "s/B", "b", 3e-9)
			q := p.Parameters["b"]
			q.CI95 = nil
			p.Parameters["b"] = q
		}, "b", provisional, "no interval: all rounds gave the same value"},
		{"without an interval, of one round", func(p *params.Params) {
			set(p, "hyperbolic-network", "s/B", "b", 3e-9)
			q := p.Parameters["b"]
			q.CI95 = nil
			p.Parameters["b"], p.Run.Rounds = q, 1
			fitOf(p, "hyperbolic-network").Rounds = 1
		}, "b", provisional, "no interval; one round only"},

		// What lacks evidence.
		{"two rounds", func(p *params.Params) { fitOf(p, "hockney").Rounds = 2 }, "alpha", provisional, "two rounds"},
		{"one round of the run", func(p *params.Params) { fitOf(p, "hockney").Rounds, p.Run.Rounds = 0, 1 }, "alpha",
			provisional, "one round"},
		{"an import", func(p *params.Params) { p.Run.Plan = "imported:imb" }, "alpha", provisional, "another tool"},
		{"two points for two parameters", func(p *params.Params) { twoPairs(p, 8) }, "a", provisional,
			"2 numbers of pairs for 2 parameters"},
		{"two points for two parameters, and hosts for no more", func(p *params.Params) { twoPairs(p, 4) }, "a", ok, ""},
		{"a function that is wide", func(p *params.Params) { line(p, "cluster-gap", "g_s", 10e-6, 4e-6, 1e-12) }, "g_s()",
			provisional, "at 1000B is wider than ± 25%"},
		{"a function that is wide, and too small to matter", func(p *params.Params) {
			line(p, "cluster-gap", "g_s", 2e-6, 1e-6, 1e-12)
		}, "g_s()", ok, ""},
		{"two points for a line", func(p *params.Params) {
			line(p, "cluster-gap", "g_s", 30e-6, 1e-7, 1e-12)
			f := fitOf(p, "cluster-gap")
			s := params.Series{Name: "g_s(m)", Quantity: params.CostOfSize, Symbol: "g_s", XName: "bytes"}
			s.Add(1, 30e-6, [2]float64{29e-6, 31e-6}, 30e-6, 9)
			s.Add(9, 30e-6, [2]float64{29e-6, 31e-6}, 30e-6, 9)
			f.Series = append(f.Series, s)
		}, "g_s()", provisional, "2 points for 2 coefficients"},
		{"a model that misses its data", func(p *params.Params) { miss(p, "hockney", 0.01, 0.15) }, "beta", provisional,
			"hockney misses T(x) by 15% on average"},
		{"a model that misses its data by no more than noise", func(p *params.Params) { miss(p, "hockney", 0.2, 0.15) },
			"beta", ok, ""},
		{"a model that misses one point", func(p *params.Params) {
			miss(p, "hockney", 0.01, 0.8, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		}, "beta", provisional, "80% at one point"},
		{"a model that misses what it has not seen", func(p *params.Params) {
			v := 0.4
			fitOf(p, "hockney").Quality.LeaveOneOut = &v
		}, "beta", provisional, "left out of the fit"},
		{"a model that misses what it has not seen by no more than noise", func(p *params.Params) {
			v := 0.4
			miss(p, "hockney", 0.5, 0)
			fitOf(p, "hockney").Quality.LeaveOneOut = &v
		}, "beta", ok, ""},
		{"a median of batches, beside a line that misses T", func(p *params.Params) {
			miss(p, "hockney", 0.01, 0.15)
			for _, name := range []string{"alpha", "beta"} {
				delete(p.Parameters, name)
			}
			set(p, "hockney", "s", "alpha_slow", 100e-6)
		}, "alpha_slow", ok, ""},
		{"a tail of one size, beside lines that miss others", func(p *params.Params) {
			p.Fits = append(p.Fits, &params.Fit{Model: "tails", Experiment: "pingpong", Rounds: 5,
				Series: []params.Series{{Name: "T_p99(x)", Quantity: params.TailTime, Symbol: "T_p99", XName: "bytes"}}})
			miss(p, "tails", 0.01, 0, 0.15, 0.15, 0.15)
			set(p, "tails", "s", "p99", 100e-6)
		}, "p99", ok, ""},
		{"the rate of an uplink, beside a line that misses a'", func(p *params.Params) {
			miss(p, "hyperbolic-network", 0.01, 0.15)
			set(p, "hyperbolic-network", "B/s", "uplink_rate", 1e6)
		}, "uplink_rate", ok, ""},
		{"what hosts could send over that", func(p *params.Params) {
			miss(p, "hyperbolic-network", 0.01, 0.15)
			set(p, "hyperbolic-network", "1", "oversubscription", 4)
		}, "oversubscription", ok, ""},
		{"eq. 3 around one packet", func(p *params.Params) { miss(p, "hyperbola", 0.01, 0, 0, 0.5, 0.5, 0) },
			"a_prime_limits", ok, ""},
		{"an extrapolation by no more than noise", func(p *params.Params) { miss(p, "hyperbola", 0.2, 0.15, 0.15, 0) },
			"a_prime_limits", ok, ""},
		{"an extrapolation from noise", func(p *params.Params) { fitOf(p, "hyperbola").Series[0].Points[0].Fitted = 50e-6 },
			"a_prime_limits",
			provisional, "smallest messages by 25%"},
		{"a curve that misses its data, beside a number of another", func(p *params.Params) {
			f := fitOf(p, "loggp")
			gap, sends := params.Series{Name: "gap(s)", Quantity: params.Gap},
				params.Series{Name: "o_s(s)", Quantity: params.Overhead, Symbol: "o_s"}
			gap.Add(1, 10e-6, [2]float64{}, 14e-6, 1)
			sends.Add(1, 1e-6, [2]float64{}, 1e-6, 1)
			f.Series = append(f.Series, gap, sends)
			set(p, "loggp", "s", "o_s", 1e-6)
		}, "o_s", params.StatusOK, ""},
		{"what a port holds, beside a curve that misses the bursts", func(p *params.Params) {
			fitOf(p, "cluster-buffer").Series = []params.Series{{Name: "flood", Quantity: params.BurstTime, XName: "packets"}}
			miss(p, "cluster-buffer", 0.01, 1.46)
			set(p, "cluster-buffer", "packets", "B_L", 64)
		}, "B_L", ok, ""},
		{"a curve that misses its data", func(p *params.Params) {
			f := fitOf(p, "loggp")
			gap := params.Series{Name: "gap(s)", Quantity: params.Gap}
			gap.Add(1, 10e-6, [2]float64{}, 14e-6, 1)
			f.Series = append(f.Series, gap)
			set(p, "loggp", "s", "g", 14e-6)
		}, "g", provisional, "loggp misses gap(s) by 40%"},
		{"no gain, since one piece is fastest", func(p *params.Params) {
			set(p, "tuning", "1", "fragment_gain_64KiB", 0)
			q := p.Parameters["fragment_gain_64KiB"]
			q.CI95 = nil
			p.Parameters["fragment_gain_64KiB"] = q
		},
			"fragment_gain_64KiB", ok, "needs no interval"},
		{"a time in the network that misses its own points", func(p *params.Params) {
			line(p, "cluster", "L_cluster", 80e-6, 1e-7, 1e-12)
			s := params.Series{Name: "L_cluster(m, 2)", Symbol: "L_cluster", Quantity: params.TransferTime}
			for _, m := range []float64{1, 500, 1000} {
				s.Add(m, 120e-6, [2]float64{119e-6, 121e-6}, 80e-6, 30)
			}
			fitOf(p, "cluster").Series = []params.Series{s}
		}, "L_cluster()", provisional, "cluster misses L_cluster(m, 2) by 33%"},
		{"what is read needs no interval", func(p *params.Params) {
			set(p, "cluster", "B", "packet", 1448)
			q := p.Parameters["packet"]
			q.CI95, q.Why = nil, "no interval"
			p.Parameters["packet"] = q
		}, "packet", ok, ""},
	} {
		t.Run(c.what, func(t *testing.T) {
			p := run()
			c.change(p)
			p.Distribute()
			Apply(p)
			statuses(t, p, c.name, c.want, c.words)
			for _, f := range p.Findings {
				if f.Message == "" || c.want == ok {
					t.Errorf("finding %+v", f)
				}
			}
			if c.want != ok && len(p.Findings) == 0 {
				t.Error("no finding says so")
			}
		})
	}
}

// TestShortMessages: a short run on a slow network has messages of 1 to 23 B. What a byte of them takes is not the time
// of a byte of a stream; nor is b_c, of a b that has no interval.
func TestShortMessages(t *testing.T) {
	p := run()
	delete(p.Parameters, "a_prime_limits")
	delete(p.Parameters, "b_prime_limits")
	points := fitOf(p, "hockney").Series[0].Points
	fitOf(p, "hockney").Series[0].Points = points[:2]
	set(p, "hockney", "s/B", "beta", 2.4e-9)
	set(p, "hyperbolic-network", "s/B", "b", 1.4e-9)
	set(p, "hyperbolic-network", "s/B", "b_c", 0.9e-9)
	b := p.Parameters["b"]
	b.CI95 = nil
	p.Parameters["b"] = b
	p.Distribute()
	Apply(p)
	statuses(t, p, "beta", params.StatusProvisional, "the longest message was 32B, whose bytes take less time than alpha")
	statuses(t, p, "r_inf", params.StatusProvisional, "32B")
	statuses(t, p, "b", params.StatusProvisional, "no interval")
	statuses(t, p, "b_c", params.StatusOK, "")
}

// twoPairs leaves a and a_c two numbers of pairs, in a run of so many hosts.
func twoPairs(p *params.Params, hosts int) {
	p.Run.Hosts = make([]string, hosts)
	set(p, "hyperbolic-network", "s", "a", 45e-6)
	set(p, "hyperbolic-network", "s", "a_c", 5e-6)
	f := fitOf(p, "hyperbolic-network")
	f.Series[0].Points = f.Series[0].Points[:2]
}

func contraryL(p *params.Params) {
	set(p, "loggp", "s", "L", 50e-6)
	line(p, "cluster", "L_cluster", 80e-6, 1e-7, 1e-12)
}

// Fits share the decision with the run, and a second review changes nothing.
func TestApplyTwice(t *testing.T) {
	p := run()
	set(p, "hockney", "s/B", "beta", 0.6e-9)
	Apply(p)
	if q := fitOf(p, "hockney").Parameters["beta"]; q.Status != params.StatusInconsistent || q.Value != nil {
		t.Errorf("beta of the fit: %+v", q)
	}
	statuses(t, p, "r_inf", params.StatusOK, "") // it is of the largest messages, and not of beta
	why := p.Parameters["beta"].Why
	Apply(p)
	if p.Parameters["beta"].Why != why || p.Parameters["alpha"].Status != params.StatusOK {
		t.Errorf("after a second review: %+v", p.Parameters)
	}
}

// A time in the network that falls with the number of hosts is no parameter of record.
func TestFallsWithHosts(t *testing.T) {
	transfer := func(p *params.Params, l1, half float64) {
		p.Functions["L_cluster"] = params.Function{Form: params.Bilinear, Unit: "s", Model: "cluster",
			Coeff:  map[string]float64{"l0": 700e-6, "l1": l1, "tau": 1e-9},
			CI95:   map[string][2]float64{"l0": {690e-6, 710e-6}, "l1": {l1 - half, l1 + half}, "tau": {0.9e-9, 1.1e-9}},
			Domain: map[string][2]float64{"m": {1, 1000}, "p": {2, 8}}}
	}
	for _, c := range []struct {
		what     string
		l1, half float64
		want     string
	}{
		{"it falls by 6 µs a host", -6e-6, 1e-6, params.StatusProvisional},
		{"it rises", 6e-6, 1e-6, params.StatusOK},
		{"its fall is within its interval", -6e-6, 8e-6, params.StatusOK},
		{"its fall does not matter", -0.1e-6, 0.01e-6, params.StatusOK},
	} {
		p := run()
		transfer(p, c.l1, c.half)
		p.Distribute()
		Apply(p)
		if got := p.Functions["L_cluster"].Status; got != c.want {
			t.Errorf("%s: %s (%s), want %s", c.what, got, p.Functions["L_cluster"].Why, c.want)
		}
	}
}

// A number with a wide interval that would matter is not ok, and the reason says what a longer run would change.
func TestImprecise(t *testing.T) {
	for _, c := range []struct {
		name           string
		v, half        float64
		rounds, others float64 // standard uncertainties
		want           string
	}{
		{"narrow", 100e-6, 20e-6, 10e-6, 0, ""},
		{"wide", 100e-6, 50e-6, 25e-6, 0, "4 times as long"},
		{"very wide", 100e-6, 5e-3, 2.5e-3, 0, "rounds differ too much for a longer run to narrow it; use idle hosts"},
		{"wide for other reasons", 100e-6, 50e-6, 1e-6, 25e-6, "other makes it wider than ± 25%: a reason; more rounds"},
		{"too little to matter", 1e-6, 0.9e-6, 0.5e-6, 0, ""},
	} {
		p := run()
		set(p, "hyperbolic-network", "s", "a", c.v, math.Max(c.v-c.half, c.v/10), c.v+c.half)
		q := p.Parameters["a"]
		q.Budget = []params.Term{{Name: "rounds", Type: params.TypeA, U: c.rounds},
			{Name: "other", Type: params.TypeB, U: c.others, Why: "a reason"}}
		p.Parameters["a"] = q
		p.Distribute()
		Apply(p)
		if q := p.Parameters["a"]; (q.Status == params.StatusOK) != (c.want == "") || c.want != "" &&
			!strings.Contains(q.Why, c.want) {
			t.Errorf("%s: %s, %q", c.name, q.Status, q.Why)
		}
	}
}

// A number that is refused is no witness against others, and what is made of it falls with it.
func TestRefusedIsNoWitness(t *testing.T) {
	p := run()
	set(p, "hyperbolic-network", "s/B", "b", 2e-9)
	set(p, "hyperbolic-network", "s/B", "b_c", 0.2e-9)
	set(p, "loggp", "s", "o_s", 40e-6)
	set(p, "loggp", "s", "L", 20e-6)
	line(p, "cluster-overhead", "O_s", 10e-6, 1e-7, 1e-12)
	line(p, "cluster", "L_cluster", 50e-6, 1e-7, 1e-12)
	p.Distribute()
	Apply(p)
	statuses(t, p, "b", params.StatusInconsistent, "b_prime_limits")
	statuses(t, p, "b_c", params.StatusOK, "")
	statuses(t, p, "o_s", params.StatusInconsistent, "use O_s")
	statuses(t, p, "L", params.StatusInconsistent, "o_s is withheld")
	statuses(t, p, "L_cluster()", params.StatusOK, "")
}
