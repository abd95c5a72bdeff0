package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/programs"
)

// labRun is one calibration of a lab copy.
type labRun struct {
	name    string
	network string   // preset and hosts
	flags   []string // of calib run, beside plan and seed
	keeps   keeps
}

// keeps says what of a run's parameter file is stored.
type keeps struct {
	parameters, functions []string
	times, gathers        bool // of patterns, of gathers
}

// carrier is the model whose predictions of patterns the measured times are taken from: it needs no more than a ping-pong.
const carrier = "hockney"

// planIn is the folder of the plans, one a run, from the project's root.
const planIn = "internal/papers/plans"

// fixedBuffer is that of make accuracy-simgrid: with the kernel's own, which grows with what a connection has carried, equal sends end
// when some of the message, or all of it, has left.
var fixedBuffer = []string{"--send-buffer", "128KiB"}

// runs are the lab runs behind the measured rows.
var runs = []labRun{
	{name: "sparc-trees", network: "sparc1994:11", flags: fixedBuffer, keeps: keeps{parameters: []string{"a", "a_c", "b", "b_c"}, times: true}},
	{name: "sparc-exchanges", network: "sparc1994:16", flags: fixedBuffer, keeps: keeps{times: true}},
	{name: "hku-table", network: "hku2000:8",
		keeps: keeps{functions: []string{"g_s", "g_r", "L"}}},
	{name: "hku-flood", network: "hku2000:8", keeps: keeps{parameters: []string{"B_L"}}},
	{name: "hku-gather4", network: "hku2000:4", keeps: keeps{gathers: true}},
	{name: "hku-gather8", network: "hku2000:8", keeps: keeps{gathers: true}},
	{name: "hku-gather16", network: "hku2000:16", keeps: keeps{gathers: true}},
}

// measure runs those of the runs that are named, all where names is empty, and stores what they measured. Their directories stay in kept,
// where that is not empty.
func measure(ctx context.Context, root, calib, kept string, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(runs, func(r labRun) bool { return r.name == name }) {
			return fmt.Errorf("no run %q", name)
		}
	}
	dir := kept
	if dir == "" {
		tmp, err := os.MkdirTemp("", "calib-papers-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	for _, r := range runs {
		if len(names) > 0 && !slices.Contains(names, r.name) {
			continue
		}
		if err := r.store(ctx, root, calib, filepath.Join(dir, r.name)); err != nil {
			return fmt.Errorf("run %s: %w", r.name, err)
		}
	}
	return nil
}

// store makes one run, unless calib is empty, and stores what it measured.
func (r labRun) store(ctx context.Context, root, calib, out string) error {
	spec, err := netspec.Resolve(r.network)
	if err != nil {
		return err
	}
	do := programs.LabRun{Calib: calib, Lab: "papers", Network: r.network, Out: out,
		Flags: append([]string{"--seed", "1", "--plan", filepath.Join(planIn, r.name+".yaml")}, r.flags...)}
	if calib != "" {
		if err := do.Do(ctx); err != nil {
			return err
		}
	}
	f, err := os.Open(filepath.Join(out, "params.json"))
	if err != nil {
		return err
	}
	defer f.Close()
	p, err := params.Decode(f)
	if err != nil {
		return err
	}
	m := r.keep(p)
	m.Name, m.Slowdown = r.name, max(1, spec.Slowdown)
	if m.Command, err = r.command(filepath.Join(out, "run.json")); err != nil {
		return err
	}
	return m.save(root)
}

// command is how a run was made, by its run.json, without the paths of the machine.
func (r labRun) command(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var made struct {
		Args []string `json:"args"`
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	typed := []string{"calib lab run --strict", r.network, "-- calib"}
	for i := 0; i < len(made.Args); i++ {
		switch a := made.Args[i]; {
		case a == "--out":
			i++
		case a == "--hosts" && i+1 < len(made.Args):
			typed = append(typed, a, "{hosts}")
			i++
		case strings.Contains(a, " "):
			typed = append(typed, "'"+a+"'")
		default:
			typed = append(typed, a)
		}
	}
	return strings.Join(typed, " "), nil
}

// dateOf is the date and the time (UTC) that a run's ID begins with; the ID where that is none.
func dateOf(id string) string {
	const form = "20060102-150405"
	if t, err := time.Parse(form, id[:min(len(form), len(id))]); err == nil {
		return t.Format("2006-01-02 15:04 UTC")
	}
	return id
}

// keep is what of a parameter file is stored.
func (r labRun) keep(p *params.Params) measurement {
	e := p.Environment.Common
	m := measurement{Date: dateOf(p.Run.ID), Rounds: p.Run.Rounds, Timings: p.Run.Timings, Machine: fmt.Sprintf("%s, %s CPUs, Linux %s", e["cpu.model"], e["cpu.cores"], e["kernel"]),
		Parameters: map[string]params.Parameter{}, Functions: map[string]params.Function{}}
	for _, name := range r.keeps.parameters {
		if q, ok := p.Parameters[name]; ok {
			m.Parameters[name] = q
		}
	}
	for _, name := range r.keeps.functions {
		if f, ok := p.Functions[name]; ok {
			m.Functions[name] = f
		}
	}
	for _, v := range p.Validation {
		if r.keeps.times && v.Model == carrier { // every model has a row of each time
			m.Times = append(m.Times, patternTime{v.Pattern, v.Hosts, v.Bytes, v.Measured})
		}
	}
	for _, f := range p.Fits {
		if r.keeps.gathers {
			m.Gathers = append(m.Gathers, f.Of(params.GatherTime)...)
		}
	}
	return m
}
