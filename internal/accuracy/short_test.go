package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"calib/internal/netspec"
)

// TestShortLab is make accuracy in small: one network of known truth, real agents and kernel TCP in namespaces, the real
// command. A run whose lab was late is repeated, and fails loudly after that; it never counts.
func TestShortLab(t *testing.T) {
	dir := t.TempDir()
	calib := filepath.Join(dir, "calib")
	build := exec.Command("go", "build", "-o", calib, "calib/cmd/calib")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	const network = "sparc1994:4"
	spec, err := netspec.Resolve(network)
	if err != nil {
		t.Fatal(err)
	}
	p, err := calibrate(calib, filepath.Join("testdata", "short.yaml"), network, "1", filepath.Join(dir, "run"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks(spec, p) {
		t.Log(c.row(spec.Name, "1"))
		if !c.ok {
			t.Errorf("%s is outside its tolerance", c.name)
		}
	}
}
