package main

import (
	"fmt"
	"math"

	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/stats"
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

// service is a block's time as a function of a packet's payload.
type service func(m int) float64

func serviceOf(s *netspec.Spec, b netspec.Block) service {
	return func(m int) float64 { return s.Service(b, m) }
}

// reception is the slower of a port and the receiving host: what the root of a gather sees.
func reception(s *netspec.Spec) service {
	return func(m int) float64 { return max(s.Service(s.Medium, m), s.Service(s.ReceiveBlock(0), m)) }
}

// costChecks compares slope, intercept and floor of g_s and g_r; the floor only where the network has one.
func costChecks(s *netspec.Spec, p *params.Params) []check {
	var out []check
	for _, f := range []struct {
		name  string
		truth service
		least float64
	}{
		{"g_s", serviceOf(s, s.Host), s.Host.Min},
		{"g_r", reception(s), s.Medium.Min},
	} {
		large, larger := s.MSS/2, s.MSS
		slope := (f.truth(larger) - f.truth(large)) / float64(larger-large)
		fixed := f.truth(larger) - slope*float64(larger)
		out = append(out,
			coefficient(p, f.name, "c1", slope, "s/B", tolSlope*slope),
			coefficient(p, f.name, "c0", fixed, "s", tolFixed*fixed+tolFixedUS))
		if f.least > 0 {
			out = append(out, coefficient(p, f.name, "floor", f.least, "s", tolFixed*f.least+tolFixedUS))
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

// oneWay is the time of a packet of m bytes from host to host of an idle switch with p hosts active.
func oneWay(s *netspec.Spec, m, p int) float64 {
	tx, port := s.Service(s.Host, m), s.Service(s.Medium, m)
	t := tx + port
	if s.CutThrough {
		t = max(tx, port)
	}
	t += s.L + s.Service(s.ReceiveBlock(0), m)
	if s.Fabric != nil {
		t += s.Fabric.Delay(m, p, tx)
	}
	return t
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
			truth := oneWay(s, m, n)
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
	g, slope := 0.0, 0.0
	for _, b := range []netspec.Block{s.Host, s.Medium, s.ReceiveBlock(1)} {
		g, slope = max(g, s.Service(b, 1)), max(slope, s.Service(b, s.MSS)/float64(s.MSS))
	}
	l := oneWay(s, 1, 2)
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
