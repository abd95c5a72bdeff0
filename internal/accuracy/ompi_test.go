package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"calib/predict/tuned"
)

// TestRuled: a rule that makes a size slower than is allowed fails, and so does a sweep of which a size is missing.
func TestRuled(t *testing.T) {
	rule := tuned.Decision{Collective: "bcast", From: 64, Default: "knomial", DefaultSeconds: 2, Fastest: "pipeline", FastestSeconds: 1}
	own := tuned.Decision{Collective: "bcast", From: 128, Default: "knomial", Why: "not sure"}
	for _, c := range []struct{ name, sweep, want string }{
		{"faster", "1 bcast 64 2\n2 bcast 64 1.1\n1 bcast 128 2\n2 bcast 128 2.01\n", ""},
		{"medians", "1 bcast 64 2\n1 bcast 64 2\n1 bcast 64 9\n2 bcast 64 1\n2 bcast 64 1\n2 bcast 64 99\n1 bcast 128 2\n2 bcast 128 2\n", ""},
		{"slower", "1 bcast 64 2\n2 bcast 64 2.1\n1 bcast 128 200\n2 bcast 128 200\n", "with the rules: bcast of 64 bytes"},
		{"noise is no rule", "1 bcast 64 200\n2 bcast 64 100\n1 bcast 128 2\n2 bcast 128 3\n", ""},
		{"the sweep", "1 bcast 64 2\n2 bcast 64 1.9\n1 bcast 128 2\n2 bcast 128 3\n", "the sweep of all, the sweep of bcast"},
		{"a size is missing", "1 bcast 64 2\n2 bcast 64 1.9\n", "holds no bcast of 128 bytes"},
		{"a set is missing", "1 bcast 64 2\n1 bcast 128 2\n", "holds no bcast of 64 bytes"},
		{"junk", "mpirun: hello\n", "want SET OPERATION BYTES SECONDS"},
		{"a third set", "3 bcast 64 2\n", "want SET OPERATION BYTES SECONDS"},
	} {
		dir := t.TempDir()
		decisions, err := json.Marshal([]tuned.Decision{rule, own})
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{sweepFile: []byte(c.sweep), decisionsFile: decisions} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := ruled(t.Context(), dir, nil); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
