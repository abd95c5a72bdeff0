package export

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"calib/fit"
)

// header returns the lines that say where a file comes from, in the order of their weight: the run, the parameters with
// their intervals, what else the reader must know, the warnings.
func header(p *fit.Params, o Options, used, notes, warnings []string) []string {
	by := "calib"
	if o.Version != "" {
		by += " " + oneLine(o.Version)
	}
	out := []string{fmt.Sprintf("Written by %s from run %s (plan %s, %d hosts).", by, orNone(p.Run.ID), orNone(p.Run.Plan), len(p.Run.Hosts))}
	for _, name := range used {
		q, ok := p.Parameters[name]
		if !ok || q.Value == nil {
			continue
		}
		line := fmt.Sprintf("Parameter %s = %s %s", name, number(*q.Value), q.Unit)
		if q.CI95 != nil {
			line += fmt.Sprintf(" [%s, %s]", number(q.CI95[0]), number(q.CI95[1]))
		}
		out = append(out, line+": "+oneLine(q.Label)+", model "+oneLine(q.Model)+".")
	}
	out = append(out, notes...)
	for _, w := range warnings {
		out = append(out, "Warning: "+w)
	}
	return out
}

// comment writes lines behind a prefix.
func comment(w io.Writer, prefix string, lines []string) error {
	for _, l := range lines {
		if _, err := fmt.Fprintln(w, prefix+oneLine(l)); err != nil {
			return err
		}
	}
	return nil
}

func orNone(s string) string {
	if s = oneLine(s); s == "" {
		return "(none)"
	}
	return s
}

// oneLine makes text from a run safe in a comment of any target: control characters and line ends become spaces.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}
