package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"calib/internal/dataset"
	"calib/internal/rundir"
)

// TestKilledAnywhere: a coordinator that dies at any moment leaves a run that goes on: every line of the whole run is
// there in the end, and none twice. What is written is cut at any byte of samples.jsonl, and run.json is one of those
// that are written one after the other.
func TestKilledAnywhere(t *testing.T) {
	work := t.TempDir()
	plan := filepath.Join(work, "plan.yaml")
	if err := os.WriteFile(plan, []byte("experiments: [clock, pingpong, paired, gather]\nsizes: 1,700\neffort: 0.05\n"+
		"rounds: {min: 6, max: 6}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(work, "whole")
	calib(t, 0, "run", "--sim", "switch:4", "--plan", plan, "--seed", "9", "--quiet", "--out", whole)
	samples, run := contents(t, whole, rundir.SamplesFile), contents(t, whole, rundir.RunFile)
	want := linesOf(t, whole)
	header := bytes.IndexByte(samples, '\n') + 1
	const seeds = 20
	cuts := []int{-1, 0, header / 2, header - 1, header, len(samples) - 1, len(samples)}
	rng := rand.New(rand.NewPCG(1, 2))
	for range seeds {
		cuts = append(cuts, header+rng.IntN(len(samples)-header))
	}
	for i, cut := range cuts {
		dir := filepath.Join(work, fmt.Sprint("cut", i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if cut >= 0 {
			put(t, dir, rundir.SamplesFile, samples[:cut])
		}
		put(t, dir, rundir.RunFile, asKilled(t, run, cut > header))
		put(t, dir, ".lock", []byte("pid 1 on nowhere\n"))
		calib(t, 0, "run", "--resume", dir, "--quiet")
		got := linesOf(t, dir)
		for line, n := range got {
			if n != 1 || want[line] != 1 {
				t.Errorf("cut at byte %d of %d: %s stands %d times, %d times in a whole run", cut, len(samples), line, n,
					want[line])
			}
		}
		if len(got) != len(want) {
			t.Errorf("cut at byte %d of %d: %d lines, want %d", cut, len(samples), len(got), len(want))
		}
		var r rundir.Run
		if err := json.Unmarshal(contents(t, dir, rundir.RunFile), &r); err != nil || r.Status != rundir.StatusComplete {
			t.Errorf("cut at byte %d: status %s, error %v", cut, r.Status, err)
		}
	}
}

// TestKilledAgain: a run that was interrupted and resumed, and whose coordinator was then killed, goes on, with all
// that was added. What there was when it was resumed cannot be changed.
func TestKilledAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	calib(t, 0, "run", "--no-fit", "--sim", "switch:4", "--only", "pingpong", "--sizes", "1,700", "--seed", "9", "--quiet",
		"--out", dir)
	samples, want := contents(t, dir, rundir.SamplesFile), linesOf(t, dir)
	half := len(samples)/2 + bytes.IndexByte(samples[len(samples)/2:], '\n') + 1
	var run map[string]any
	if err := json.Unmarshal(asKilled(t, contents(t, dir, rundir.RunFile), true), &run); err != nil {
		t.Fatal(err)
	}
	run["samples"] = rundir.Content{Bytes: int64(half), SHA256: fmt.Sprintf("%x", sha256.Sum256(samples[:half]))}
	killed, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(samples)
	at := bytes.Index(changed, []byte(`"ns":[`)) + len(`"ns":[`)
	changed[at] = '0' + (changed[at]-'0')%9 + 1
	for _, c := range []struct {
		name    string
		samples []byte
		code    int
	}{
		{"torn", samples[:len(samples)-10], 0}, {"nothing added", samples[:half], 0}, {"changed", changed, 2},
		{"cut off", samples[:half-10], 2},
	} {
		put(t, dir, rundir.RunFile, killed)
		put(t, dir, rundir.SamplesFile, c.samples)
		calib(t, c.code, "run", "--no-fit", "--resume", dir, "--quiet")
		if c.code != 0 {
			if !bytes.Equal(contents(t, dir, rundir.SamplesFile), c.samples) {
				t.Errorf("%s: samples were written", c.name)
			}
		} else if got := linesOf(t, dir); !maps.Equal(got, want) {
			t.Errorf("%s: %d lines, want %d", c.name, len(got), len(want))
		}
	}
}

// asKilled is run.json as it stands while a run measures; before it has begun to, the hosts are not in it.
func asKilled(t *testing.T, text []byte, measures bool) []byte {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	m["status"] = rundir.StatusRunning
	for _, name := range []string{"exit_code", "ended", "failures", "warnings", "samples"} {
		delete(m, name)
	}
	m["slots"] = map[string]int{"planned": 0, "done": 0, "failed": 0}
	if !measures {
		m["hosts"] = []any{}
	}
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// calib runs a command to its end and wants this exit code.
func calib(t *testing.T, code int, args ...string) {
	t.Helper()
	cmd := exec.Command("calib", args...)
	out, _ := cmd.CombinedOutput() // its exit code says whether it failed
	if got := cmd.ProcessState.ExitCode(); got != code {
		t.Fatalf("calib %v: exit code %d, want %d:\n%s", args, got, code, out)
	}
}

func contents(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func put(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// linesOf counts the lines of a run's samples by what they are of.
func linesOf(t *testing.T, dir string) map[string]int {
	t.Helper()
	d, err := dataset.ReadFile(filepath.Join(dir, rundir.SamplesFile))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for _, s := range d.Samples {
		out[fmt.Sprint(s.Slot, s.Exp, s.Phase, s.Point.Key(), s.Ranks, s.Part)]++
	}
	return out
}
