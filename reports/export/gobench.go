package export

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"calib/internal/params"
	"calib/reports/export/input"
)

// benchmark is a line of the format.
type benchmark struct {
	name   string
	iters  int
	value  float64 // in unit
	unit   string
	better string
}

// benchmarksOf lists the lines of a run.
func benchmarksOf(in *input.Input) ([]benchmark, error) {
	metrics, err := in.Metrics()
	if err != nil {
		return nil, err
	}
	var out []benchmark
	for _, q := range in.Points() {
		out = append(out, benchmark{"Pingpong/bytes=" + input.Decimal(q.Bytes, -1), max(1, q.Timings), q.Seconds * 1e9, "ns/op", params.BetterLower})
	}
	for _, m := range metrics {
		name := "Parameter/name=" + goName(m.Name)
		if m.Link() != "" {
			name = "Link/from=" + goName(m.From) + "/to=" + goName(m.To) + "/name=" + goName(m.Name)
		}
		unit := goUnit(m.Unit)
		if strings.ContainsFunc(unit, unicode.IsSpace) {
			return nil, fmt.Errorf("unit %q of %s: %w: it must be one word", m.Unit, m.Name, ErrLimit)
		}
		out = append(out, benchmark{name, 1, m.Value, unit, m.Better})
	}
	return out, nil
}

// goName makes text a part of a benchmark's name: characters that separate parts or words become _.
func goName(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || strings.ContainsRune("/=\"\\", r) {
			return '_'
		}
		return r
	}, input.OneLine(s))
}

// goUnit names an SI unit as Go benchmarks do.
func goUnit(si string) string {
	switch si {
	case "s":
		return "sec"
	case "s/B":
		return "sec/B"
	case "1", "":
		return "ratio"
	}
	return strings.ReplaceAll(si, " ", "_")
}

// writeGobench writes the Go benchmark format (golang.org/design/14313-benchmark-format), for benchstat: a line for T
// of every message size in ns/op, for every number of the network in a unit of its own, and for every link. Unit lines
// say which way is better. Iterations of a size are its raw timings.
//
// params.json holds one median for a size, so that there is one line for each: benchstat tells two files apart by
// significance only where several runs of each are concatenated. What names a run is a comment, not a configuration
// line: benchstat would put runs of different configuration into different tables.
func writeGobench(b *bytes.Buffer, in *input.Input) ([]string, error) {
	all, err := benchmarksOf(in)
	if err != nil {
		return nil, err
	}
	warnings := []string{"one value for each benchmark: benchstat calls no difference significant from a single run on each side"}
	in.WriteHeader(b, "# ", nil, nil, warnings)
	better := map[string]string{}
	for _, m := range all {
		if m.better != params.BetterNeither {
			better[m.unit] = m.better
		}
	}
	for _, u := range slices.Sorted(maps.Keys(better)) {
		fmt.Fprintf(b, "Unit %s better=%s\n", u, better[u])
	}
	fmt.Fprintf(b, "pkg: calib\nhosts: %d\n\n", len(in.Params.Run.Hosts))
	const digits = 15 // all that survive the change of unit
	for _, m := range all {
		fmt.Fprintf(b, "Benchmark%s %d %s %s\n", m.name, m.iters, strconv.FormatFloat(m.value, 'g', digits, 64), m.unit)
	}
	return warnings, nil
}
