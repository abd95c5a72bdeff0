package rundir

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzRun: whatever run.json holds, it is refused, or read and written again as it was.
func FuzzRun(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"schema":"calib.run/1"}`, `{"schema":"calib.run/1","hosts":[{"name":"a","env":{"k":"v"}}],"detail":{"plan":{"rounds":null}}}`,
		`{"schema":"calib.run/1","exit_code":4,"ended":"2026-03-01T10:15:00Z","failures":[{"slot":3}]}`,
		`{"schema":"calib.run/1","seed":18446744073709551616}`, `{"schema":"calib.run/1","detail":[[[[`,
	} {
		f.Add([]byte(seed))
	}
	golden, err := os.ReadFile("testdata/run.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(golden)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := decodeRun("runs/x", b)
		if err != nil {
			if !errors.Is(err, ErrNotRun) || !bytes.Contains([]byte(err.Error()), []byte("run runs/x")) {
				t.Errorf("an error of no class, or that names no run: %v", err)
			}
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := decodeRun("runs/x", text)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		second, err := json.Marshal(again)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), string(second)); diff != "" {
			t.Errorf("written twice:\n%s", diff)
		}
	})
}
