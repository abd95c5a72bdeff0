package input

import (
	"bytes"
	"fmt"
	"strconv"

	"calib/internal/printable"
)

// Header returns the lines that say where a file comes from: the run, the parameters used with their intervals, what
// else the reader must know, and the warnings.
func (in *Input) Header(used, notes, warnings []string) []string {
	by, run := "calib", in.Params.Run
	if in.Version != "" {
		by += " " + OneLine(in.Version)
	}
	out := []string{fmt.Sprintf("Written by %s from run %s (plan %s, %d hosts).", by, orNone(run.ID), orNone(run.Plan), len(run.Hosts))}
	for _, name := range used {
		q, ok := in.Params.Parameters[name]
		if !ok || q.Value == nil {
			continue
		}
		line := fmt.Sprintf("Parameter %s = %s %s", name, Number(*q.Value), q.Unit)
		if q.CI95 != nil {
			line += fmt.Sprintf(" [%s, %s]", Number(q.CI95[0]), Number(q.CI95[1]))
		}
		out = append(out, line+": "+OneLine(q.Label)+", model "+OneLine(q.Model)+".")
	}
	out = append(out, in.Provisional()...)
	out = append(out, notes...)
	for _, w := range warnings {
		out = append(out, "Warning: "+w)
	}
	return out
}

// WriteHeader writes Header as comments, each line behind a prefix.
func (in *Input) WriteHeader(b *bytes.Buffer, prefix string, used, notes, warnings []string) {
	for _, l := range in.Header(used, notes, warnings) {
		fmt.Fprintln(b, prefix+OneLine(l))
	}
}

func orNone(s string) string {
	if s = OneLine(s); s == "" {
		return "(none)"
	}
	return s
}

// OneLine makes text from a run safe in a comment of any target.
func OneLine(s string) string { return printable.Line(s) }

// Number writes v so that it reads back as the same float64.
func Number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Decimal writes v without exponent, with at most so many digits after the point; -1 is as many as v needs.
func Decimal(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }
