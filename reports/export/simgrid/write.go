package simgrid

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"calib/reports/export/input"
)

// write writes the file. Names of hosts and links are letters, digits, dots, hyphens and underscores, and need no
// escapes.
func (p *platform) write(b *bytes.Buffer, in *input.Input) {
	fmt.Fprint(b, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n")
	for _, l := range in.Header(p.used, p.notes(), p.warnings) {
		fmt.Fprintf(b, "<!-- %s -->\n", plainComment(l))
	}
	fmt.Fprint(b, "<platform version=\"4.1\">\n <config>\n")
	for _, q := range p.config() {
		fmt.Fprintf(b, "  <prop id=\"%s\" value=\"%s\"/>\n", q[0], q[1])
	}
	fmt.Fprint(b, " </config>\n <zone id=\"calib\" routing=\"Full\">\n")
	for _, h := range p.hosts {
		fmt.Fprintf(b, "  <host id=\"%s\" speed=\"1Gf\"/>\n", h)
	}
	p.writeLinks(b)
	for i, from := range p.hosts {
		for k, to := range p.hosts {
			if i != k {
				p.writeRoute(b, from, to)
			}
		}
	}
	fmt.Fprint(b, " </zone>\n</platform>\n")
}

// notes are what the reader of the file must know beside the warnings.
func (p *platform) notes() []string {
	return []string{
		fmt.Sprintf("A message of up to %s bytes, the largest measured, takes T(x) of the run; larger ones are extrapolated.", input.Number(p.measured)),
		"The speed of hosts is not measured: set smpi/simulate-computation to no when running, or put in the speed of yours.",
		"Factors have the names that SimGrid 3.32 knows; later versions take them for network/latency-factor and network/bandwidth-factor.",
	}
}

// config lists SimGrid's settings in order.
func (p *platform) config() [][2]string {
	waiting := strconv.Itoa(p.waiting)
	os := p.overheads(func(s segment) line { return s.os })
	return [][2]string{
		{"network/model", "SMPI"},
		{"network/TCP-gamma", input.Number(gamma)},
		{"network/weight-S", "0"},
		{"network/crosstraffic", "no"},
		{"smpi/lat-factor", p.factors(func(s segment) float64 { return s.latency / p.latency })},
		{"smpi/bw-factor", p.factors(func(s segment) float64 { return 1 / (s.perByte * p.bottleneck()) })},
		{"smpi/async-small-thresh", waiting},
		{"smpi/send-is-detached-thresh", waiting},
		{"smpi/os", os},
		{"smpi/ois", os},
		{"smpi/or", p.overheads(func(s segment) line { return s.or })},
	}
}

// overheads writes "boundary:s:s/B" of each segment.
func (p *platform) overheads(of func(segment) line) string {
	var out []string
	for _, s := range p.segments {
		l := of(s)
		out = append(out, strconv.Itoa(s.from)+":"+input.Number(l.c0)+":"+input.Number(l.c1))
	}
	return strings.Join(out, ";")
}

// factors writes "boundary:factor" of each segment. The size they are chosen by has the envelope in it.
func (p *platform) factors(of func(segment) float64) string {
	var out []string
	for i, s := range p.segments {
		from := 0
		if i > 0 {
			from = s.from + envelope
		}
		out = append(out, strconv.Itoa(from)+":"+input.Number(of(s)))
	}
	return strings.Join(out, ";")
}

// writeLinks writes the links. The latency of a route is that of the sender's link, or of the medium where there is
// none.
func (p *platform) writeLinks(b *bytes.Buffer) {
	write := func(id string, bandwidth, latency float64) {
		fmt.Fprintf(b, "  <link id=\"%s\" bandwidth=\"%sBps\" latency=\"%ss\" sharing_policy=\"SHARED\"/>\n", id, input.Number(bandwidth),
			input.Number(latency))
	}
	latency := p.latency
	if p.up > 0 {
		for _, h := range p.hosts {
			write("up-"+h, p.up, latency)
			write("down-"+h, p.down, 0)
		}
		latency = 0
	}
	if p.medium > 0 {
		write("medium", p.medium, latency)
	}
}

func (p *platform) writeRoute(b *bytes.Buffer, from, to string) {
	fmt.Fprintf(b, "  <route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">", from, to)
	for _, l := range []struct {
		id        string
		bandwidth float64
	}{{"up-" + from, p.up}, {"medium", p.medium}, {"down-" + to, p.down}} {
		if l.bandwidth > 0 {
			fmt.Fprintf(b, "<link_ctn id=\"%s\"/>", l.id)
		}
	}
	fmt.Fprint(b, "</route>\n")
}

// plainComment makes text safe in a comment of XML, where two hyphens end it.
func plainComment(s string) string {
	s = strings.ToValidUTF8(input.OneLine(s), "?")
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "- -")
	}
	return s
}
