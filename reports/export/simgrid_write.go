package export

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"calib/fit"
)

// Links by what they are: the prefix of their names.
const (
	linkUp     = "up"
	linkDown   = "down"
	linkMedium = "medium"
)

func (m *simgridModel) write(w io.Writer, p *fit.Params, o Options) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n")
	for _, l := range header(p, o, m.used, m.notes(), m.warnings) {
		fmt.Fprintf(b, "<!-- %s -->\n", plainComment(l))
	}
	fmt.Fprint(b, "<platform version=\"4.1\">\n <config>\n")
	for _, q := range m.config() {
		fmt.Fprintf(b, "  <prop id=\"%s\" value=\"%s\"/>\n", q[0], q[1])
	}
	fmt.Fprint(b, " </config>\n <zone id=\"calib\" routing=\"Full\">\n")
	for _, h := range m.hosts {
		fmt.Fprintf(b, "  <host id=\"%s\" speed=\"1Gf\"/>\n", attribute(h))
	}
	m.writeLinks(b)
	for i, from := range m.hosts {
		for k, to := range m.hosts {
			if i != k {
				m.writeRoute(b, from, to)
			}
		}
	}
	fmt.Fprint(b, " </zone>\n</platform>\n")
	return b.Flush()
}

// notes are what the reader of the file must know beside the warnings.
func (m *simgridModel) notes() []string {
	return []string{
		fmt.Sprintf("A message of up to %s bytes, the largest measured, takes T(x) of the run; larger ones are extrapolated.", number(m.seen)),
		"The speed of hosts is not measured: set smpi/simulate-computation to no when running, or put in the speed of yours.",
		"Factors have the names that SimGrid 3.32 knows; later versions take them for network/latency-factor and network/bandwidth-factor.",
	}
}

// config lists SimGrid's settings in order.
func (m *simgridModel) config() [][2]string {
	eager := strconv.Itoa(m.eager)
	os := m.overheads(func(s simgridSegment) chord { return s.os })
	return [][2]string{
		{"network/model", "SMPI"},
		{"network/TCP-gamma", number(simgridGamma)},
		{"network/weight-S", "0"},
		{"network/crosstraffic", "no"},
		{"smpi/lat-factor", m.factors(func(s simgridSegment) float64 { return s.latency / m.latency })},
		{"smpi/bw-factor", m.factors(func(s simgridSegment) float64 { return 1 / (s.perByte * m.bottleneck()) })},
		{"smpi/async-small-thresh", eager},
		{"smpi/send-is-detached-thresh", eager},
		{"smpi/os", os},
		{"smpi/ois", os},
		{"smpi/or", m.overheads(func(s simgridSegment) chord { return s.or })},
	}
}

// overheads writes "boundary:s:s/B" of each segment.
func (m *simgridModel) overheads(of func(simgridSegment) chord) string {
	var out []string
	for _, s := range m.segments {
		c := of(s)
		out = append(out, strconv.Itoa(s.from)+":"+number(c.c0)+":"+number(c.c1))
	}
	return strings.Join(out, ";")
}

// factors writes "boundary:factor" of each segment. The size they are chosen by has the envelope in it.
func (m *simgridModel) factors(of func(simgridSegment) float64) string {
	var out []string
	for i, s := range m.segments {
		from := 0
		if i > 0 {
			from = s.from + simgridEnvelope
		}
		out = append(out, strconv.Itoa(from)+":"+number(of(s)))
	}
	return strings.Join(out, ";")
}

// writeLinks writes the links. The latency of a route is that of the sender's link, or of the medium where there is none.
func (m *simgridModel) writeLinks(w io.Writer) {
	latency := m.latency
	if m.up > 0 {
		for _, h := range m.hosts {
			writeLink(w, linkUp+"-"+h, m.up, latency)
			writeLink(w, linkDown+"-"+h, m.down, 0)
		}
		latency = 0
	}
	if m.medium > 0 {
		writeLink(w, linkMedium, m.medium, latency)
	}
}

func writeLink(w io.Writer, id string, bandwidth, latency float64) {
	fmt.Fprintf(w, "  <link id=\"%s\" bandwidth=\"%sBps\" latency=\"%ss\" sharing_policy=\"SHARED\"/>\n", attribute(id), number(bandwidth),
		number(latency))
}

func (m *simgridModel) writeRoute(w io.Writer, from, to string) {
	fmt.Fprintf(w, "  <route src=\"%s\" dst=\"%s\" symmetrical=\"NO\">", attribute(from), attribute(to))
	if m.up > 0 {
		fmt.Fprintf(w, "<link_ctn id=\"%s\"/>", attribute(linkUp+"-"+from))
	}
	if m.medium > 0 {
		fmt.Fprintf(w, "<link_ctn id=\"%s\"/>", linkMedium)
	}
	if m.down > 0 {
		fmt.Fprintf(w, "<link_ctn id=\"%s\"/>", attribute(linkDown+"-"+to))
	}
	fmt.Fprint(w, "</route>\n")
}

// attribute writes s for a quoted attribute.
func attribute(s string) string {
	var b bytes.Buffer
	if err := xml.EscapeText(&b, []byte(s)); err != nil { // a buffer takes everything
		return ""
	}
	return b.String()
}

// plainComment makes text safe in a comment of XML, where two hyphens end it.
func plainComment(s string) string {
	s = strings.ToValidUTF8(oneLine(s), "?")
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "- -")
	}
	return s
}
