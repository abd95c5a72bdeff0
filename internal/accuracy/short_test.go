package main

import (
	"os"
	"path/filepath"
	"testing"

	"calib/fit/params"
	"calib/internal/needs"
	"calib/internal/netspec"
	"calib/internal/programs"
)

// TestShortLab is make accuracy in small: networks of known truth, real agents and kernel TCP in namespaces, the real
// command. A run whose lab was late is repeated, and fails loudly after that; it never counts.
func TestShortLab(t *testing.T) {
	needs.Namespaces(t)
	dir := t.TempDir()
	calib := filepath.Join(dir, "calib")
	if err := programs.BuildCalib(t.Context(), calib); err != nil {
		t.Fatal(err)
	}
	four := filepath.Join(dir, "four.yaml")
	if err := os.WriteFile(four, []byte(fourHosts), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		network, plan string
		checks        func(*netspec.Spec, *params.Params) []check
	}{
		{"sparc1994:4", "short.yaml", pairedChecks},
		{four, "short-cluster.yaml", func(s *netspec.Spec, p *params.Params) []check {
			return append(append(costChecks(s, p), latency(s, p)), bufferChecks(s, p)...)
		}},
	} {
		t.Run(c.plan, func(t *testing.T) {
			spec, err := netspec.Resolve(c.network)
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, "run-"+c.plan)
			p, err := calibrate(t.Context(), calib, c.network, "1", out, []string{"--plan", filepath.Join("testdata", c.plan)})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range c.checks(spec, p) {
				t.Log(r.row(spec.Name, "1"))
				if !r.ok {
					t.Errorf("%s is outside its tolerance", r.name)
				}
			}
		})
	}
}

// fourHosts is examples/lab-cluster-fast.yaml with fewer hosts, and a port of which three senders fill the buffer soon.
const fourHosts = `
name: four
hosts: 4
mode: switched
mss: 1448
host: {a: 150e-6, b: 0.25e-6}
medium: {a: 120e-6, b: 0.20e-6}
receive: {a: 20e-6, b: 0.03e-6}
l: 100e-6
buffer: 64
`
