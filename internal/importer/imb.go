package importer

import (
	"regexp"
	"slices"
	"strings"
)

// Intel MPI Benchmarks, suite MPI1: the tables PingPong, PingPing and Sendrecv. Times are means over the repetitions,
// in µs: half the round trip for PingPong; for PingPing and Sendrecv the whole time of a message while the other way is
// busy too.
// Source: IMB_parse_name_mpi1.c (scale_time 0.5 of PingPong, 1 of the others), IMB_output.c (headings; scaled time).
var (
	imbTitle     = regexp.MustCompile(`^#\s*Benchmarking\s+(\S+)`)
	imbProcesses = regexp.MustCompile(`^#\s*#processes\s*=\s*(\d+)`)
	imbVersion   = regexp.MustCompile(`^#\s*Intel\s*\(R\) MPI Benchmarks\s+(.*?)\s*(?:,.*)?$`)
)

var imbTables = []string{"PingPong", "PingPing", "Sendrecv"}

func looksIMB(t text) bool {
	return slices.ContainsFunc(t.lines, imbTitle.MatchString) || t.has("#bytes #repetitions")
}

// imbTable is where a reader of IMB's output is.
type imbTable struct {
	name      string
	processes string
	columns   []string // nil outside a table
}

func readIMB(t text, c *collector) {
	var at imbTable
	c.each(t, func(line string) {
		line = strings.TrimSpace(line)
		if m := imbVersion.FindStringSubmatch(line); m != nil {
			c.tool = "Intel MPI Benchmarks " + m[1]
		}
		if m := imbTitle.FindStringSubmatch(line); m != nil {
			at = imbTable{name: m[1]}
		} else if m := imbProcesses.FindStringSubmatch(line); m != nil {
			at.processes = m[1]
		} else if strings.HasPrefix(line, "#bytes") {
			c.want(at.name != "", `a table without a title, want "# Benchmarking PingPong" or the like before it`)
			at.columns = strings.Fields(line)
		} else if !startsWithDigit(line) {
			at.columns = nil
		} else if at.columns != nil {
			c.imbRow(at, strings.Fields(line))
		}
	})
}

func (c *collector) imbRow(at imbTable, f []string) {
	switch {
	case !slices.Contains(imbTables, at.name):
		c.note("benchmark %s is left out: only %s are read, which run between two processes", at.name, strings.Join(imbTables, ", "))
		return
	case at.processes != "" && at.processes != "2":
		c.note("%s with %s processes is left out: want 2", at.name, at.processes)
		return
	}
	column := slices.IndexFunc(at.columns, func(c string) bool { return c == "t[usec]" || c == "t_avg[usec]" })
	c.want(len(f) >= len(at.columns), "%d columns, the heading has %d", len(f), len(at.columns))
	c.want(column >= 0, "no column t[usec] or t_avg[usec] in the heading %q", strings.Join(at.columns, " "))
	if c.err != nil {
		return
	}
	bytes, ok := size(f[0])
	repetitions, counted := size(f[1])
	c.want(ok && counted, "%q, want bytes and repetitions", f[0]+" "+f[1])
	if bytes == 0 {
		c.note(noBytes)
		return
	}
	ns, ok := duration(f[column], 1e-6)
	c.want(ok, "%q, want a time in µs", f[column])
	if at.name == "PingPong" {
		c.note("IMB's PingPong time is half the round trip, a mean over the repetitions: one value for each size")
		c.add(pingpongSample(bytes, float64(repetitions), ns))
		return
	}
	c.note("%s sends both ways at once: its times of a message are kept as %q, and nothing is fitted to them", at.name, Experiment)
	c.add(importedSample("imb-"+strings.ToLower(at.name), bytes, float64(repetitions), ns))
}
