package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"calib/fit/params"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/programs"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/reports/export"
	"calib/reports/export/simgrid"
)

// Tolerances of an exported platform, for each kind of traffic.
const (
	meanSimulated  = 0.05
	worstSimulated = 0.10
)

// sources is where the simulated programs are, from the root of the repository.
const sources = "examples/smpi"

// errSimGrid is the error without SimGrid.
var errSimGrid = errors.New("SimGrid is not installed: Debian has it in libsimgrid-dev")

// traffic is one measured time by size [B] of one program.
type traffic struct {
	program string
	label   string
	hosts   int
	times   map[int]float64 // s
}

// simulated exports the run in dir, lets SimGrid run the programs on the platform, and prints measured and simulated times and
// how far they are apart.
func simulated(ctx context.Context, dir string, p *params.Params) error {
	target, err := export.Lookup("simgrid")
	if err != nil {
		return err
	}
	file, warnings, err := target.Export(p, export.Options{})
	if err != nil {
		return err
	}
	for _, w := range warnings {
		fmt.Fprintln(os.Stderr, "platform:", w)
	}
	work, err := os.MkdirTemp("", "calib-simgrid-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	hosts, err := simgrid.Hosts(file)
	if err != nil {
		return err
	}
	for name, text := range map[string]string{"platform.xml": string(file), "hosts.txt": strings.Join(hosts, "\n") + "\n"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	broadcasts, err := measuredBroadcasts(filepath.Join(dir, "samples.jsonl"), len(hosts))
	if err != nil {
		return err
	}
	fmt.Println("| traffic | bytes | measured | simulated | error |")
	fmt.Println("|---|---|---|---|---|")
	var bad error
	for _, t := range []traffic{measuredPingpong(p), broadcasts} {
		got, err := simulate(ctx, work, t)
		if err != nil {
			return err
		}
		bad = errors.Join(bad, t.judge(got))
	}
	return bad
}

// measuredPingpong are the medians that T(x) was fitted to.
func measuredPingpong(p *params.Params) traffic {
	t := traffic{program: "pingpong", label: "ping-pong, half round trip", hosts: 2, times: map[int]float64{}}
	for _, f := range p.Fits {
		for _, s := range f.Of(params.Time) {
			for _, r := range s.Points {
				t.times[int(r.X)] = r.Measured
			}
		}
	}
	return t
}

// measuredBroadcasts are the medians over rounds of the medians of a round.
func measuredBroadcasts(samples string, hosts int) (traffic, error) {
	t := traffic{program: "bcast", label: fmt.Sprintf("broadcast, %d hosts", hosts), hosts: hosts, times: map[int]float64{}}
	d, err := dataset.ReadFile(samples)
	if err != nil {
		return t, err
	}
	rounds := map[int]map[int][]float64{}
	for _, s := range d.Select(names.Bcast, names.PhaseBinomial) {
		if int(s.Point[names.FactorHosts]) != hosts || len(s.NS) == 0 {
			continue
		}
		x := int(s.Point[names.FactorBytes])
		if rounds[x] == nil {
			rounds[x] = map[int][]float64{}
		}
		rounds[x][s.Round] = append(rounds[x][s.Round], stats.Median(stats.Floats(s.NS)))
	}
	for x, of := range rounds {
		var medians []float64
		for _, v := range of {
			medians = append(medians, stats.Median(v))
		}
		t.times[x] = stats.Median(medians) * 1e-9
	}
	if len(t.times) == 0 {
		return t, fmt.Errorf("%s: no broadcast over all %d hosts: measure with a plan that has experiment bcast", samples, hosts)
	}
	return t, nil
}

func (t traffic) sizes() []int { return slices.Sorted(maps.Keys(t.times)) }

// simulate compiles and runs a program with every size, in a directory with the platform, and returns its times [s] by size.
func simulate(ctx context.Context, work string, t traffic) (map[int]float64, error) {
	program := filepath.Join(work, t.program)
	if _, err := simgridCommand(ctx, "smpicc", "-O2", filepath.Join(sources, t.program+".c"), "-o", program); err != nil {
		return nil, err
	}
	args := []string{"-np", strconv.Itoa(t.hosts), "-platform", filepath.Join(work, "platform.xml"), "-hostfile", filepath.Join(work, "hosts.txt"),
		"--cfg=smpi/simulate-computation:no", "--cfg=smpi/wtime:0", "--log=root.thres:warning", program}
	for _, x := range t.sizes() {
		args = append(args, strconv.Itoa(x))
	}
	text, err := simgridCommand(ctx, "smpirun", args...)
	if err != nil {
		return nil, err
	}
	out := map[int]float64{}
	for _, l := range strings.Split(strings.TrimSpace(text), "\n") {
		var x int
		var s float64
		if _, err := fmt.Sscan(l, &x, &s); err != nil {
			return nil, fmt.Errorf("smpirun %s: line %q: %w", t.program, l, err)
		}
		out[x] = s
	}
	return out, nil
}

func simgridCommand(ctx context.Context, name string, args ...string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", errSimGrid, err)
	}
	cmd := patient(ctx, append([]string{path}, args...)...)
	var faults bytes.Buffer
	cmd.Stderr = &faults
	out, err := cmd.Output()
	if err != nil {
		return "", programs.Failed(cmd, err, faults.Bytes())
	}
	return string(out), nil
}

// judge prints the rows of one program, and returns an error if its errors, relative to the measured times, exceed the
// tolerance.
func (t traffic) judge(got map[int]float64) error {
	var errs []float64
	for _, x := range t.sizes() {
		e := got[x]/t.times[x] - 1
		errs = append(errs, math.Abs(e))
		fmt.Printf("| %s | %d | %s | %s | %+.1f%% |\n", t.label, x, units.Format(t.times[x], "s"), units.Format(got[x], "s"), 100*e)
	}
	if len(errs) == 0 {
		return fmt.Errorf("%s: nothing measured", t.label)
	}
	mean, worst := stats.Mean(errs), slices.Max(errs)
	ok, verdict := mean <= meanSimulated && worst <= worstSimulated, "met"
	if !ok {
		verdict = "missed"
	}
	fmt.Printf("| %s | all | allowed: mean %.0f%%, worst %.0f%% | mean %.1f%%, worst %.1f%% | %s |\n", t.label, 100*meanSimulated,
		100*worstSimulated, 100*mean, 100*worst, verdict)
	if !ok {
		return fmt.Errorf("%s: simulated times are off by %.1f%% on average and %.1f%% at most", t.label, 100*mean, 100*worst)
	}
	return nil
}
