package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"calib/internal/needs"
)

// TestUnit holds the daemon's systemd unit to an exposure of 1.5 of 10, and to what this systemd understands.
func TestUnit(t *testing.T) {
	analyze := needs.Program(t, "systemd-analyze")
	unit := filepath.Join("..", "..", "examples", "systemd", "calib-agent.service")
	out, err := exec.Command(analyze, "security", "--offline=true", "--threshold=15", unit).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
