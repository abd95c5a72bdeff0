package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"calib/bench/experiments"
	"calib/fit/params"
	"calib/internal/progress"
	"calib/internal/rundir"
	"calib/internal/units"
	"calib/run/coord"
	"calib/run/judge"
	"calib/run/plan"
)

const header = `| network | hosts | budget | look | planned: rounds, time | took, of the budget | rounds | time in all as said after round 1 | widest interval | targets without one |
|---|--:|--:|--:|--:|--:|--:|--:|---|---|`

// row is one run.
type row struct {
	network  string
	hosts    int
	budget   time.Duration
	look     units.Nanos
	rounds   int         // planned at least
	forecast units.Nanos // of these rounds
	took     time.Duration
	begun    int  // rounds
	said     span // of the time in all, by the first progress of round 2; zero without
	widest   string
	without  []string // targets
	leftOut  []string // experiments that the budget has no room for
}

// span is a range of times [s].
type span struct{ least, most float64 }

// beside prints the span, and how far a time is from it.
func (s span) beside(took float64) string {
	if s == (span{}) {
		return "–"
	}
	off := 100 * (min(s.most, max(s.least, took))/took - 1)
	if s.most-s.least < 1 {
		return fmt.Sprintf("%.0f s (%+.0f%%)", s.most, off)
	}
	return fmt.Sprintf("%.0f to %.0f s (%+.0f%%)", s.least, s.most, off)
}

func (r row) String() string {
	without := strings.Join(r.without, ", ")
	if len(r.leftOut) > 0 {
		without += "; not measured: " + strings.Join(r.leftOut, ", ")
	}
	return fmt.Sprintf("| %s | %d | %s | %.1f s | %d, %.0f s | %.1f s, %.0f%% | %d | %s | %s | %s |", r.network, r.hosts, r.budget, r.look.Seconds(),
		r.rounds, r.forecast.Seconds(), r.took.Seconds(), 100*r.took.Seconds()/r.budget.Seconds(), r.begun, r.said.beside(r.took.Seconds()), r.widest, without)
}

// slotLine is a line of log.jsonl on a slot.
type slotLine struct {
	Time  time.Time `json:"time"`
	Msg   string    `json:"msg"`
	Round int       `json:"round"`
	MS    float64   `json:"ms"`
}

// readRow reads what a run directory says of its run.
func readRow(dir string, told forecasts) (row, error) {
	r := row{widest: "–"}
	d, err := rundir.Open(dir)
	if err != nil {
		return r, err
	}
	var detail struct {
		Plan  plan.Plan     `json:"plan"`
		Probe *coord.Probed `json:"probe"`
	}
	if err := json.Unmarshal(d.Run().Detail, &detail); err != nil {
		return r, err
	}
	s, err := plan.New(detail.Plan, len(d.Run().Hosts), experiments.All)
	if err != nil {
		return r, err
	}
	r.rounds, r.forecast = s.Rounds, s.Estimate().Round*units.Nanos(s.Rounds)
	for _, l := range s.Left {
		if len(l.What) == 0 {
			r.leftOut = append(r.leftOut, l.Experiment)
		}
	}
	if detail.Probe != nil {
		r.look = detail.Probe.Took
	}
	if err := r.readSlots(d.File("log.jsonl")); err != nil {
		return r, err
	}
	if told.all != (span{}) {
		r.said = span{told.all.least + r.look.Seconds(), told.all.most + r.look.Seconds()}
	}
	p, err := d.ReadParams()
	if errors.Is(err, fs.ErrNotExist) { // nothing could be fitted
		return r, nil
	}
	if err == nil {
		r.judge(p, detail.Plan.Experiments)
	}
	return r, err
}

// readSlots sums up the slots: from the start of the first to the end of the last, and the look.
func (r *row) readSlots(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var first, last time.Time
	for line := range bytes.Lines(text) {
		var s slotLine
		if err := json.Unmarshal(line, &s); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if s.Msg != "slot" {
			continue
		}
		if first.IsZero() {
			first = s.Time.Add(-time.Duration(s.MS * 1e6))
		}
		last, r.begun = s.Time, max(r.begun, s.Round+1)
	}
	r.took = last.Sub(first) + time.Duration(r.look)
	return nil
}

// judge finds the widest interval of the default targets.
func (r *row) judge(p *params.Params, measured []string) {
	most := 0.0
	for _, name := range slices.Sorted(maps.Keys(judge.DefaultTargets(measured, len(p.Run.Hosts), 0))) {
		x, ok := p.Parameters[name]
		if !ok || x.Value == nil || x.CI95 == nil || *x.Value == 0 {
			r.without = append(r.without, name)
			continue
		}
		if half := (x.CI95[1] - x.CI95[0]) / 2 / math.Abs(*x.Value); half > most {
			most, r.widest = half, fmt.Sprintf("%s ±%.1f%%", name, 100*half)
		}
	}
}

// forecasts reads progress, and keeps the time in all that it says first after round 1.
type forecasts struct {
	all  span
	rest bytes.Buffer
}

// Write implements io.Writer.
func (f *forecasts) Write(b []byte) (int, error) {
	f.rest.Write(b)
	for {
		line, err := f.rest.ReadBytes('\n')
		if err != nil { // not whole yet
			kept := bytes.Clone(line)
			f.rest.Reset()
			f.rest.Write(kept)
			return len(b), nil
		}
		f.read(line)
	}
}

func (f *forecasts) read(line []byte) {
	var e progress.Event
	if json.Unmarshal(line, &e) == nil && f.all == (span{}) && e.Left != nil && e.Elapsed != nil && strings.Contains(e.Label, "round 2 ") {
		least := e.Left
		if e.Least != nil {
			least = e.Least
		}
		f.all = span{*least + *e.Elapsed, *e.Left + *e.Elapsed}
	}
}
