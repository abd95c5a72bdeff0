package main

import (
	"fmt"
	"math"

	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/stats"
	"calib/internal/truth"
	"calib/internal/units"
)

// Tolerances of the cluster model's parameters.
const (
	tolBuffer    = 0.02 // of B_L by datagrams, or one packet
	tolBufferTCP = 0.10
	tolLatency   = 0.03 // of L(m,p), beside tolFixedUS
	tolGather    = 0.35 // worst error of a gather's prediction
	meanGather   = 0.08
)

// clusterChecks compares the cost functions of the cluster model (Tam and Wang 2000) and LogGP with the truth of a switched
// network.
func clusterChecks(s *netspec.Spec, p *params.Params) []check {
	out := append(costChecks(s, p), latency(s, p))
	out = append(out, bufferChecks(s, p)...)
	out = append(out, logGPChecks(s, p)...)
	return append(out, gatherChecks(p)...)
}

// tableChecks compares what table 1 of the paper has: g_s, g_r, L(m,p) and B_L.
func tableChecks(s *netspec.Spec, p *params.Params) []check {
	b := float64(s.Buffer)
	return append(append(costChecks(s, p), latency(s, p)), value(p, "B_L", b, "packets", max(1, tolBuffer*b)))
}

// costChecks compares slope, intercept and floor of g_s and g_r; the floor only where the network has one.
func costChecks(s *netspec.Spec, p *params.Params) []check {
	var out []check
	at := truth.Functions(s)
	for _, name := range []string{"g_s", "g_r"} {
		slope, fixed := at[name+".c1"], at[name+".c0"]
		out = append(out,
			coefficient(p, name, "c1", slope, "s/B", tolSlope*slope),
			coefficient(p, name, "c0", fixed, "s", tolFixed*fixed+tolFixedUS))
		if least, ok := at[name+".floor"]; ok {
			out = append(out, coefficient(p, name, "floor", least, "s", tolFixed*least+tolFixedUS))
		}
	}
	return out
}

// coefficient checks one coefficient of a cost function.
func coefficient(p *params.Params, function, name string, truth float64, unit string, allowed float64) check {
	c := check{name: function + " " + name, truth: truth, unit: unit, allowed: allowed, measured: "–"}
	f, there := p.Functions[function]
	v, has := f.Coeff[name]
	if !there || !has {
		c.err = "no such coefficient: " + f.Form
		return c
	}
	if ci, ok := f.CI95[name]; ok {
		c.ci = interval(ci, unit)
	}
	return c.compare(v)
}

// latency checks L(m,p) over its range and reports the worst place. Where frames have a least size, the smallest packets are
// left out: the function has no floor.
func latency(s *netspec.Spec, p *params.Params) check {
	c := check{name: "L(m,p), worst", unit: "s", measured: "–"}
	f, there := p.Functions["L"]
	if !there {
		c.err = "no function L"
		return c
	}
	least := 1
	if s.Host.Min > 0 {
		least = 100
	}
	worst := -1.0
	for _, m := range []int{least, 200, 700, 1000, 1400} {
		for n := 2; n <= s.Hosts; n += 2 {
			truth := s.Way(0, 1, m, n)
			v, err := f.At(float64(m), float64(n), p.Functions)
			if err != nil {
				c.err = err.Error()
				return c
			}
			allowed := tolLatency*truth + tolFixedUS
			if share := math.Abs(v-truth) / allowed; share > worst {
				worst = share
				c.name, c.truth, c.allowed = fmt.Sprintf("L(%d,%d), the worst", m, n), truth, allowed
				c = c.compare(v)
			}
		}
	}
	return c
}

// bufferChecks compares B_L by both methods.
func bufferChecks(s *netspec.Spec, p *params.Params) []check {
	if s.Buffer == 0 {
		return nil
	}
	b := float64(s.Buffer)
	return []check{
		value(p, "B_L", b, "packets", max(1, tolBuffer*b)),
		value(p, "B_L_tcp", b, "packets", tolBufferTCP*b),
	}
}

// logGPChecks compares L, g and G: a single sender meets the slowest of the blocks on its way.
func logGPChecks(s *netspec.Spec, p *params.Params) []check {
	at := truth.Parameters(s)
	l, g, slope := at["L"], at["g"], at["G"]
	return []check{
		value(p, "L", l, "s", tolFixed*l+tolFixedUS),
		value(p, "g", g, "s", tolFixed*g+tolFixedUS),
		value(p, "G", slope, "s/B", tolSlope*slope),
	}
}

// gatherChecks compares the predictions of eq. 8 with the measured gathers: mean and worst error.
func gatherChecks(p *params.Params) []check {
	var errs []float64
	at := ""
	worst := 0.0
	for _, f := range p.Fits {
		for _, s := range f.Of(params.GatherTime) {
			for _, r := range s.Points {
				if r.X < 1024 {
					continue
				}
				e := math.Abs(r.Relative())
				errs = append(errs, e)
				if e > worst {
					worst, at = e, fmt.Sprintf("%s at %s", s.Name, units.Bytes(r.X))
				}
			}
		}
	}
	c := check{name: "gather, eq. 8", want: "mean ≤ 8%, worst ≤ 35%", measured: "no gather"}
	if len(errs) == 0 {
		return []check{c}
	}
	mean := stats.Mean(errs)
	c.measured = fmt.Sprintf("mean %.1f%%, worst %.1f%%", 100*mean, 100*worst)
	c.ci, c.err = fmt.Sprintf("%d gathers", len(errs)), "worst: "+at
	c.ok = mean <= meanGather && worst <= tolGather
	return []check{c}
}
