package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"calib/internal/progress"
	"calib/params"
)

const budgetHeader = "look | took, of the budget | rounds | said after round 1 | half-widths | off"

// inBudget holds the time of a run against its budget, and its numbers against the truth.
func inBudget(t *testing.T, r run) []line {
	var budget time.Duration
	for i, f := range r.flags {
		if f == "--budget" {
			budget, _ = time.ParseDuration(r.flags[i+1]) // calib has read it
		}
	}
	s, err := slotsOf(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	took := (s.look + s.took).Seconds()
	var widths, off []string
	for _, name := range strings.Fields("a a_c b b_c g G L") {
		e, width := estimateOf(r.p, name), "–"
		if e.has && e.ci != nil && e.value != 0 {
			width = fmt.Sprintf("±%.1f%%", 100*(e.ci[1]-e.ci[0])/2/math.Abs(e.value))
		}
		widths = append(widths, name+" "+width)
		if r.network.spec == nil || r.p.Parameters[name].Value == nil {
			continue
		}
		truth, there := known(r.network.spec)[name]
		missed := e.ci == nil || truth < e.ci[0] || truth > e.ci[1]
		if there && missed && math.Abs(e.value-truth) > allowed(name, truth) {
			off = append(off, name)
		}
	}
	l := line{verdict: good, cells: []string{fmt.Sprintf("%.1f s", s.look.Seconds()),
		fmt.Sprintf("%.1f s, %.0f%%", took, 100*took/budget.Seconds()), strconv.Itoa(s.rounds),
		forecast(r.told, s.took.Seconds()), strings.Join(widths, ", "), strings.Join(off, ", ")}}
	switch {
	case took > 1.05*budget.Seconds():
		l.verdict = "**over**"
	case len(off) > 0:
		l.verdict = outside
	}
	return []line{l}
}

// slots is what a run's directory says of its time.
type slots struct {
	look  time.Duration // at the network
	took  time.Duration // from the start of the first slot to the end of the last
	busy  time.Duration // in slots
	slots int
	// rounds is how many began.
	rounds int
}

// slotsOf reads run.json and log.jsonl.
func slotsOf(dir string) (s slots, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		return s, err
	}
	var made struct {
		Detail struct {
			Probe struct {
				Took time.Duration `json:"took_ns"`
			} `json:"probe"`
		} `json:"detail"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return s, err
	}
	s.look = made.Detail.Probe.Took
	log, err := os.ReadFile(filepath.Join(dir, "log.jsonl"))
	if err != nil {
		return s, err
	}
	var first, last time.Time
	for text := range bytes.Lines(log) {
		var l struct {
			Time  time.Time `json:"time"`
			Msg   string    `json:"msg"`
			Round int       `json:"round"`
			MS    float64   `json:"ms"`
		}
		if err := json.Unmarshal(text, &l); err != nil {
			return s, err
		}
		if l.Msg != "slot" {
			continue
		}
		took := time.Duration(l.MS * float64(time.Millisecond))
		if s.slots == 0 {
			first = l.Time.Add(-took)
		}
		last, s.slots, s.busy, s.rounds = l.Time, s.slots+1, s.busy+took, max(s.rounds, l.Round+1)
	}
	s.took = last.Sub(first)
	return s, nil
}

// forecast is the time [s] of all slots that progress says first after round 1, and how far that is from what they
// took.
func forecast(told string, took float64) string {
	for text := range strings.Lines(told) {
		var e progress.Event
		err := json.Unmarshal([]byte(text), &e)
		if err != nil || !strings.HasSuffix(e.Label, ", round 2") || e.Left == nil || e.Elapsed == nil {
			continue
		}
		all := *e.Left + *e.Elapsed
		return fmt.Sprintf("%.0f s (%+.0f%%)", all, 100*(all/took-1))
	}
	return "–"
}

// A run is held against its budget and the truth by what its directory and its progress say.
func TestInBudget(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"run.json": `{"detail":{"probe":{"took_ns":1000000000}}}`,
		"log.jsonl": `{"time":"2026-11-22T18:24:00Z","msg":"look"}
{"time":"2026-11-22T18:24:12Z","msg":"slot","round":0,"ms":2000}
{"time":"2026-11-22T18:24:30Z","msg":"slot","round":3,"ms":500}
`} {
		put(t, dir, name, text)
	}
	const told = `{"event":"progress","label":"pingpong, round 1","elapsed_s":1,"left_s":50}
{"event":"progress","label":"pingpong, round 2","elapsed_s":10}
not JSON
{"event":"progress","label":"paired, round 2","elapsed_s":11,"left_s":5}
{"event":"progress","label":"paired, round 2","elapsed_s":20,"left_s":99}
`
	v := 1.5e-6
	b := map[string]params.Parameter{"b": {Value: &v, CI95: &[2]float64{1.45e-6, 1.55e-6}}}
	r := run{network: find(t, "sparc1994:8", false), dir: dir, told: told, p: &params.Params{Parameters: b}}
	const widths = "a –, a_c –, b ±3.3%, b_c –, g –, G –, L –"
	for budget, want := range map[string]string{"21s": "100%, " + outside, "19s": "111%, **over**"} {
		r.flags = []string{"--budget", budget, "--seed", "1"}
		l := inBudget(t, r)[0]
		share, verdict, _ := strings.Cut(want, ", ")
		cells := []string{"1.0 s", "21.0 s, " + share, "4", "16 s (-20%)", widths, "b"}
		if !slices.Equal(l.cells, cells) || l.verdict != verdict {
			t.Errorf("%s: %q, %s, want %q, %s", budget, l.cells, l.verdict, cells, verdict)
		}
	}
	if s, err := slotsOf(dir); err != nil || s.busy != 2500*time.Millisecond || s.slots != 2 {
		t.Errorf("%+v, %v", s, err)
	}
}
