package netspec

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// stages returns the times [s] of a packet of m bytes in the blocks on its way from host src to host dst, and the delay
// of its links. Where the medium begins with a packet when the sending block does, the two are one stage.
func (s *Spec) stages(src, dst, m int) (out []float64, delay float64) {
	tx, medium := s.Service(s.HostBlock(src), m), s.Service(s.Medium, m)
	out = append(out, tx)
	route := s.Routes()
	for l := route(src, dst, -1); l >= 0; l = route(src, dst, l) {
		out = append(out, s.Service(s.Links[l/2].Block, m))
		delay += s.Links[l/2].L
	}
	if s.CutThrough {
		out[0] = max(tx, medium)
	} else {
		out = append(out, medium)
	}
	return append(out, s.Service(s.ReceiveBlock(dst), m)), delay
}

// Way is the time [s] of a packet of m bytes from host src to host dst where no other packet is in the way and p hosts
// are active. The calls of the hosts are not in it.
func (s *Spec) Way(src, dst, m, p int) float64 {
	stages, delay := s.stages(src, dst, m)
	t := s.L + delay
	for _, d := range stages {
		t += d
	}
	if s.Fabric != nil {
		t += s.Fabric.Delay(m, p, s.Service(s.HostBlock(src), m))
	}
	return t
}

// Slowest is the time per byte [s/B] of a long stream from host src to host dst: that of the slowest block on its way.
func (s *Spec) Slowest(src, dst int) float64 {
	stages, _ := s.stages(src, dst, s.MSS)
	return slices.Max(stages) / float64(s.MSS)
}

// Message is the time [s] of a message of x bytes from host src to host dst where nobody else sends: the way of its
// first packet, and each further byte at the rate of the slowest block.
func (s *Spec) Message(src, dst, x int) float64 {
	first := min(x, s.MSS)
	return s.Way(src, dst, first, 2) + float64(x-first)*s.Slowest(src, dst)
}

// Alike is s without slow hosts and slow links. Fits leave slow hosts and pairs out: Alike is the network that fits
// describe.
func (s *Spec) Alike() *Spec {
	out := *s
	out.Overrides, out.Links = nil, nil
	return &out
}

// TrueParameters lists the true values of a network's parameters, by name, in SI units, those of hosts that are alike.
// The hosts' own calls are not in them. On a switch a holds half of what the port takes, there is no b_c, and a_c is
// what a fabric adds for the two hosts of another pair. On a shared medium b is not identifiable where it is at most
// b_c.
func (s *Spec) TrueParameters() map[string]float64 {
	s = s.Alike()
	way := s.Way(0, 1, 0, 2)
	slowest := math.Max(math.Max(s.Host.B, s.Medium.B), s.ReceiveBlock(1).B)
	out := map[string]float64{"a": way / 2, "a_c": 0, "b": slowest, "a_prime_limits": way, "b_prime_limits": slowest,
		"G": slowest, "g": math.Max(s.Service(s.Host, 1), s.Reception(1)), "L": s.Way(0, 1, 1, 2)}
	if f := s.Fabric; f != nil {
		out["a_c"] = 2 * f.PerHost
		out["a"] = (way - out["a_c"]) / 2
	}
	if s.Mode == Shared {
		out["a"], out["a_c"], out["b_c"] = (way-s.Medium.A)/2, s.Medium.A, s.Medium.B
		if s.Host.B <= s.Medium.B {
			delete(out, "b")
		}
	}
	if s.Buffer > 0 {
		out["B_L"], out["B_L_tcp"] = float64(s.Buffer), float64(s.Buffer)
	}
	return out
}

// Reception is the slower of a port and the receiving host for packets of m bytes [s]: what the root of a gather sees.
func (s *Spec) Reception(m int) float64 {
	return math.Max(s.Service(s.Medium, m), s.Service(s.ReceiveBlock(1), m))
}

// TrueFunctions lists the true coefficients of g_s, g_r and L_cluster(m, p), those of packets from half of a full one
// on: c0 [s], c1 [s/B], floor [s] where frames have a least size, l0 [s], l1 [s a host], tau [s/B], N [B/s] where the
// network as a whole has a limit.
func (s *Spec) TrueFunctions() map[string]float64 {
	s = s.Alike()
	out := map[string]float64{}
	line := func(of func(m int) float64) (fixed, slope float64) {
		half, full := s.MSS/2, s.MSS
		slope = (of(full) - of(half)) / float64(full-half)
		return of(full) - slope*float64(full), slope
	}
	out["g_s.c0"], out["g_s.c1"] = line(func(m int) float64 { return s.Service(s.Host, m) })
	out["g_r.c0"], out["g_r.c1"] = line(func(m int) float64 { return s.Reception(m) })
	f := cmp.Or(s.Fabric, &Fabric{})
	for name, v := range map[string]float64{"g_s.floor": s.Host.Min, "g_r.floor": s.Medium.Min, "L_cluster.N": f.Rate} {
		if v > 0 {
			out[name] = v
		}
	}
	alone := *s
	alone.Fabric = nil
	out["L_cluster.l0"], out["L_cluster.tau"] = line(func(m int) float64 { return alone.Way(0, 1, m, 2) })
	out["L_cluster.l1"] = f.PerHost
	return out
}

// Text is s as a lab file, in the order of docs/reference/lab.md and without what is 0. Parse reads the same Spec back,
// to the last bit.
func (s *Spec) Text() string {
	var b strings.Builder
	_ = labFile.Execute(&b, s) // it fails for no Spec
	return b.String()
}

//go:embed lab.tmpl
var labText string

var labFile = template.Must(template.New("").Funcs(template.FuncMap{"number": number,
	"list": func(hosts []int) string { return strings.ReplaceAll(fmt.Sprint(hosts), " ", ", ") }}).Parse(labText))

// number writes v so that YAML reads the same number back. With an exponent it has a point, too: YAML 1.1 takes 1e-06
// for text.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if digits, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(digits, ".") {
		return digits + ".0e" + exponent
	}
	return text
}
