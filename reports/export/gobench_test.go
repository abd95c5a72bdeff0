package export

import (
	"bytes"
	"fmt"

	"golang.org/x/perf/benchfmt"
)

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

func checkGobench(file []byte, in *input) error {
	got, err := readGobench(file)
	if err != nil {
		return err
	}
	want := benchmarksOf(in)
	if err := in.err; err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d benchmarks, want %d: %w", len(got), len(want), errMismatch)
	}
	for i, m := range want {
		if string(got[i].Name) != m.Name || got[i].Iters != m.Iters {
			return fmt.Errorf("benchmark %d is %s, want %s: %w", i, got[i].Name, m.Name, errMismatch)
		}
		unit, value := m.Unit, m.Value
		if unit == "ns/op" { // benchstat changes ns to s
			unit, value = "sec/op", value*nanosecond
		}
		if v, ok := got[i].Value(unit); !ok || !within(v, value, 0) {
			return mismatch("benchmark "+m.Name, v, value, unit)
		}
	}
	return nil
}
