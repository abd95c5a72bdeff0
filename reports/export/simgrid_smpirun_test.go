package export

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"calib/internal/needs"
	"calib/params"
)

// TestRuns: SimGrid itself gives what the reader says, and so T(x), on a switch and on a shared medium.
func TestRuns(t *testing.T) {
	needs.Program(t, "gcc") // smpicc runs it
	needs.Program(t, "smpirun")
	dir := t.TempDir()
	program := filepath.Join(dir, "pingpong")
	runSimGrid(t, "smpicc", "-O2", filepath.Join("..", "..", "examples", "smpi", "pingpong.c"), "-o", program)
	sizes := []int{1, 71, 1245, 1246, 1448, 1449, 7089, 7090, 14480, 14481, 65536, 400001, 1500000, 3200000, 3200001}
	for name, p := range map[string]*params.Params{"switch": switched(), "medium": medium(),
		"switch-beginning": beginning(switched()), "medium-beginning": beginning(medium())} {
		file := platformFile(t, p, 0)
		platform, err := readPlatform(file)
		if err != nil {
			t.Fatal(err)
		}
		xml, hosts := filepath.Join(dir, name+".xml"), filepath.Join(dir, name+".txt")
		for path, text := range map[string]string{xml: string(file), hosts: strings.Join(platform.hosts, "\n") + "\n"} {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"-np", "2", "-platform", xml, "-hostfile", hosts, "--cfg=smpi/simulate-computation:no",
			"--cfg=smpi/wtime:0",
			"--log=root.thres:warning", program}
		for _, x := range sizes {
			args = append(args, strconv.Itoa(x))
		}
		lines := strings.Split(strings.TrimSpace(runSimGrid(t, "smpirun", args...)), "\n")
		if len(lines) != len(sizes) {
			t.Fatalf("%s: %d lines, want %d: %q", name, len(lines), len(sizes), lines)
		}
		for i, l := range lines {
			var x int
			var got float64
			if _, err := fmt.Sscan(l, &x, &got); err != nil || x != sizes[i] {
				t.Fatalf("%s: line %q: %v", name, l, err)
			}
			want, err := platform.time(platform.hosts[0], platform.hosts[1], x)
			if err != nil || math.Abs(got/want-1) > 1e-6 {
				t.Errorf("%s: smpirun takes %.9g s for %d B, the reader %.9g: %v", name, got, x, want, err)
			}
		}
	}
}

// run returns the standard output of a command of SimGrid's.
func runSimGrid(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), needs.Program(t, name), args...)
	var text strings.Builder
	cmd.Stderr = &text
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v: %s", name, err, text.String())
	}
	return string(out)
}
