package export

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"calib/fit"
)

// gobenchTarget is the Go benchmark format (golang.org/design/14313-benchmark-format), for benchstat: a line for T of every
// message size in ns/op, for every number of the network in a unit of its own, and for every link. Unit lines say which way
// is better. Iterations of a size are its raw timings.
//
// params.json holds one median for a size, so that there is one line for each: benchstat tells two files apart by
// significance only where several runs of each are concatenated. What names a run is a comment, not a configuration line:
// benchstat would put runs of different configuration into different tables.
func gobenchTarget() Target {
	return Target{
		Name: "gobench", File: "bench.txt", NoHosts: true,
		About: "Go benchmark format: T of every size, parameters and links, for benchstat",
		Write: writeGobench, Check: checkGobench,
	}
}

// measurement is a line of the format: a benchmark's name and a value in an SI unit.
type measurement struct {
	name       string
	iters      int
	value      float64
	scale      float64 // of the written unit: 1e9 for ns
	unit, tidy string  // as written, and as benchstat reads it
	better     string
}

// digits of a value: all that survive the change of unit.
const digits = 15

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

func measurementsOf(p *fit.Params) ([]measurement, error) {
	metrics, err := metricsOf(p)
	if err != nil {
		return nil, err
	}
	var out []measurement
	for _, q := range pointsOf(p) {
		out = append(out, measurement{"Pingpong/bytes=" + decimal(q.bytes, -1), max(1, q.timings), q.seconds, 1e9, "ns/op", "sec/op",
			fit.BetterLower})
	}
	for _, m := range metrics {
		name := "Parameter/name=" + word(m.Name)
		if m.Link() != "" {
			name = "Link/from=" + word(m.From) + "/to=" + word(m.To) + "/name=" + word(m.Name)
		}
		u := goUnit(m.Unit)
		out = append(out, measurement{name, 1, m.Value, 1, u, u, m.Better})
	}
	return out, nil
}

func writeGobench(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	all, err := measurementsOf(p)
	if err != nil {
		return nil, err
	}
	warnings := []string{"one value for each benchmark: benchstat calls no difference significant from a single run on each side"}
	if err := comment(w, "# ", header(p, o, nil, nil, warnings)); err != nil {
		return nil, err
	}
	better := map[string]string{}
	for _, m := range all {
		if m.better != fit.BetterNeither {
			better[m.unit] = m.better
		}
	}
	for _, u := range slices.Sorted(maps.Keys(better)) {
		if _, err := fmt.Fprintf(w, "Unit %s better=%s\n", u, better[u]); err != nil {
			return nil, err
		}
	}
	if _, err := fmt.Fprintf(w, "pkg: calib\nhosts: %d\n\n", len(p.Run.Hosts)); err != nil {
		return nil, err
	}
	for _, m := range all {
		if _, err := fmt.Fprintf(w, "Benchmark%s %d %s %s\n", m.name, m.iters, strconv.FormatFloat(m.value*m.scale, 'g', digits, 64), m.unit); err != nil {
			return nil, err
		}
	}
	return warnings, nil
}

// readGobench reads benchmarks with the package that benchstat reads them with: values by name and tidied unit.
func readGobench(file []byte) ([]*benchfmt.Result, error) {
	var out []*benchfmt.Result
	r := benchfmt.NewReader(bytes.NewReader(file), "")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			out = append(out, rec.Clone())
		case *benchfmt.SyntaxError:
			return nil, syntax("%v", rec)
		}
	}
	if err := r.Err(); err != nil {
		return nil, syntax("%v", err)
	}
	return out, nil
}

func checkGobench(file []byte, p *fit.Params, _ Options) error {
	got, err := readGobench(file)
	if err != nil {
		return err
	}
	want, err := measurementsOf(p)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d benchmarks, want %d: %w", len(got), len(want), ErrMismatch)
	}
	for i, m := range want {
		if string(got[i].Name) != m.name || got[i].Iters != m.iters {
			return fmt.Errorf("benchmark %d is %s, want %s: %w", i, got[i].Name, m.name, ErrMismatch)
		}
		if v, ok := got[i].Value(m.tidy); !ok || !within(v, m.value, 0) {
			return mismatch("benchmark "+m.name, v, m.value, m.tidy)
		}
	}
	return nil
}
