package export

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"calib/internal/needs"
)

// TestOpenMPITakes: Open MPI reads a classic file and takes its rules, at the sizes and on the communicators for which
// they are, by the messages that its component pml/monitoring counts.
func TestOpenMPITakes(t *testing.T) {
	mpicc, mpirun := needs.Program(t, "mpicc"), needs.Program(t, "mpirun")
	dir := t.TempDir()
	program, file := filepath.Join(dir, "traffic"), filepath.Join(dir, "rules.conf")
	if out, err := exec.CommandContext(t.Context(), mpicc, "-o", program,
		"../../predict/tuned/testdata/traffic.c").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(file, write(t, lookup(t, "ompi"), fixture(), Options{Rules: rules()}), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct {
		operation    string
		ranks, bytes int
		want         string // from rank 0: to, messages
	}{
		{"bcast", 4, 1023, "1:1 2:1"},      // the default's binary tree
		{"bcast", 4, 4096, "1:4"},          // a pipeline in segments of 1024
		{"bcast", 4, 65536, "1:8 2:8 3:8"}, // chains in segments of 8192
		{"bcast", 4, 131072, "1:1 2:1 3:1"},
		{"bcast", 3, 4096, "1:1 2:1"}, // on fewer ranks and on more the default is linear
		{"bcast", 6, 8192, "1:1 2:1 3:1 4:1 5:1"},
		{"bcast", 5, 1023, "1:1 2:1 3:1 4:1"}, // a 4-nomial tree
	} {
		profile := filepath.Join(dir, fmt.Sprint("profile", i))
		cmd := exec.CommandContext(t.Context(), mpirun, "--oversubscribe", "-np", fmt.Sprint(c.ranks), "--mca",
			"pml_monitoring_enable", "2",
			"--mca", "pml_monitoring_enable_output", "3", "--mca", "pml_monitoring_filename", profile, "--mca", "btl",
			"tcp,self",
			"--mca", "btl_tcp_if_include", "lo", "--mca", "coll_tuned_use_dynamic_rules", "1", "--mca",
			"coll_tuned_dynamic_rules_filename", file,
			program, c.operation, fmt.Sprint(c.bytes))
		cmd.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		text, err := os.ReadFile(profile + ".0.prof")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) > 5 && f[0] == "I" { // I FROM TO BYTES "bytes" MESSAGES …
				got = append(got, f[2]+":"+f[5])
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s of %d bytes on %d ranks: rank 0 sends %v, want %s", c.operation, c.bytes, c.ranks, got, c.want)
		}
	}
}
