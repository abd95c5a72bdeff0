package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The time in all is that of the first progress of round 2, however the lines are cut on their way.
func TestForecasts(t *testing.T) {
	text := `{"event":"progress","label":"pingpong, round 1 of at most 30","elapsed_s":1,"left_s":50}
{"event":"progress","label":"pingpong, round 2 of at most 30","elapsed_s":10}
not JSON
{"event":"progress","label":"paired, round 2 of at most 30","elapsed_s":11,"left_s":19.5,"left_least_s":5}
{"event":"progress","label":"paired, round 2 of at most 30","elapsed_s":20,"left_s":99}
`
	for step := 1; step < len(text); step += 7 {
		var f forecasts
		for at := 0; at < len(text); at += step {
			fmt.Fprint(&f, text[at:min(len(text), at+step)])
		}
		if f.all != (span{16, 30.5}) {
			t.Errorf("pieces of %d: %v s", step, f.all)
		}
	}
}

// The time of a run is from the start of its first slot to the end of its last, and the look.
func TestSlots(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	text := `{"time":"2026-11-22T18:24:00Z","msg":"look"}
{"time":"2026-11-22T18:24:12Z","msg":"slot","round":0,"ms":2000}
{"time":"2026-11-22T18:24:30Z","msg":"slot","round":3,"ms":500}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := row{look: 1e9, budget: 20 * time.Second, widest: "–"}
	if err := r.readSlots(path); err != nil || r.took != 21*time.Second || r.begun != 4 {
		t.Errorf("%v, %v, %d rounds", err, r.took, r.begun)
	}
	if s := r.String(); !strings.Contains(s, "| 21.0 s, 105% | 4 | – |") {
		t.Error(s)
	}
	for want, said := range map[string]span{"–": {}, "24 s (+14%)": {24, 24.5}, "10 to 30 s (+0%)": {10, 30}, "10 to 15 s (-29%)": {10, 15}} {
		if got := said.beside(21); got != want {
			t.Errorf("%v: %s, want %s", said, got, want)
		}
	}
}

func TestLookup(t *testing.T) {
	if _, err := lookup("loop"); err == nil || !strings.Contains(err.Error(), "256kbit, sparc1994, fast, veth, loopback") {
		t.Error(err)
	}
}
