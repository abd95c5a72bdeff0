package netspec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Lines returns s as the lines of a lab file, in the order of docs/LAB.md and without what is 0. Parse reads the same
// Spec back, to the last bit.
func (s *Spec) Lines() []string {
	when := func(is bool, value string) string {
		if is {
			return value
		}
		return ""
	}
	some := func(v float64) string { return when(v != 0, number(v)) }
	receive, fabric := "", ""
	if s.Receive != nil {
		receive = s.Receive.text()
	}
	if f := s.Fabric; f != nil {
		fabric = fmt.Sprintf("{per_host: %s, tau: %s, rate: %s, window: %s}",
			number(f.PerHost), number(f.Tau), number(f.Rate), number(f.Window))
	}
	var out []string
	for _, l := range [][2]string{
		{"name", when(s.Name != "", strconv.Quote(s.Name))},
		{"hosts", strconv.Itoa(s.Hosts)}, {"mode", s.Mode}, {"mss", strconv.Itoa(s.MSS)},
		{"slowdown", some(s.Slowdown)}, {"host", s.Host.text()}, {"medium", s.Medium.text()}, {"receive", receive},
		{"cut_through", when(s.CutThrough, "true")}, {"l", some(s.L)}, {"buffer", some(float64(s.Buffer))},
		{"fabric", fabric}, {"loss", some(s.Loss)}, {"seed", when(s.Seed != 0, strconv.FormatUint(s.Seed, 10))},
		{"charge_acks", when(s.ChargeAcks, "true")},
	} {
		if l[1] != "" {
			out = append(out, l[0]+": "+l[1])
		}
	}
	for i, l := range s.Links {
		if i == 0 {
			out = append(out, "links:")
		}
		out = append(out, fmt.Sprintf("  - {between: [%s, %s], %s, buffer: %d}",
			list(l.Between[0]), list(l.Between[1]), l.fields(), l.Buffer))
	}
	for k, i := range slices.Sorted(maps.Keys(s.Overrides)) {
		if k == 0 {
			out = append(out, "overrides:")
		}
		out = append(out, fmt.Sprintf("  %d: %s", i, s.Overrides[i].text()))
	}
	return out
}

func (b Block) text() string { return "{" + b.fields() + "}" }

func (b Block) fields() string {
	text := "a: " + number(b.A) + ", b: " + number(b.B)
	if b.Min != 0 {
		text += ", min: " + number(b.Min)
	}
	return text
}

func list(hosts []int) string { return strings.ReplaceAll(fmt.Sprint(hosts), " ", ", ") }

// number writes v so that YAML reads the same number back. With an exponent it has a point, too: YAML 1.1 takes 1e-06
// for text.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if digits, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(digits, ".") {
		return digits + ".0e" + exponent
	}
	return text
}
