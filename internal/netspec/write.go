package netspec

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Lines returns s as the lines of a lab file, in the order of docs/LAB.md and without what is 0. Parse reads the same
// Spec back, to the last bit.
func (s *Spec) Lines() []string {
	var b bytes.Buffer
	line := func(key, value string) { fmt.Fprintf(&b, "%s: %s\n", key, value) }
	some := func(key string, v float64) {
		if v != 0 {
			line(key, number(v))
		}
	}
	if s.Name != "" {
		line("name", strconv.Quote(s.Name))
	}
	line("hosts", strconv.Itoa(s.Hosts))
	line("mode", s.Mode)
	line("mss", strconv.Itoa(s.MSS))
	some("slowdown", s.Slowdown)
	line("host", "{"+s.Host.fields()+"}")
	line("medium", "{"+s.Medium.fields()+"}")
	if s.Receive != nil {
		line("receive", "{"+s.Receive.fields()+"}")
	}
	if s.CutThrough {
		line("cut_through", "true")
	}
	some("l", s.L)
	some("buffer", float64(s.Buffer))
	if f := s.Fabric; f != nil {
		line("fabric", fmt.Sprintf("{per_host: %s, tau: %s, rate: %s, window: %s}", number(f.PerHost), number(f.Tau), number(f.Rate), number(f.Window)))
	}
	some("loss", s.Loss)
	if s.Seed != 0 {
		line("seed", strconv.FormatUint(s.Seed, 10))
	}
	if s.ChargeAcks {
		line("charge_acks", "true")
	}
	if len(s.Links) > 0 {
		fmt.Fprintln(&b, "links:")
		for _, l := range s.Links {
			fmt.Fprintf(&b, "  - {between: [%s, %s], %s, buffer: %d}\n", list(l.Between[0]), list(l.Between[1]), l.fields(), l.Buffer)
		}
	}
	if len(s.Overrides) > 0 {
		fmt.Fprintln(&b, "overrides:")
		for _, i := range slices.Sorted(maps.Keys(s.Overrides)) {
			fmt.Fprintf(&b, "  %d: {%s}\n", i, s.Overrides[i].fields())
		}
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func (b Block) fields() string {
	text := "a: " + number(b.A) + ", b: " + number(b.B)
	if b.Min != 0 {
		text += ", min: " + number(b.Min)
	}
	return text
}

func list(hosts []int) string {
	texts := make([]string, len(hosts))
	for i, h := range hosts {
		texts[i] = strconv.Itoa(h)
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// number writes v so that YAML reads the same number back. With an exponent it has a point, too: YAML 1.1 takes 1e-06
// for text.
func number(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if digits, exponent, ok := strings.Cut(text, "e"); ok && !strings.Contains(digits, ".") {
		return digits + ".0e" + exponent
	}
	return text
}
