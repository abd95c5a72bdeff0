package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"calib/internal/needs"
)

// TestUnit holds the systemd units to an exposure of 1.5 of 10, and to what this systemd understands.
func TestUnit(t *testing.T) {
	analyze := needs.Program(t, "systemd-analyze")
	units, err := filepath.Glob(filepath.Join("..", "..", "examples", "systemd", "*.service"))
	if err != nil || len(units) < 3 {
		t.Fatalf("units %q: %v", units, err)
	}
	for _, unit := range units {
		out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=15", unit).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}
