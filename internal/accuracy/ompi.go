package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"calib/fit/params"
	"calib/internal/openmpi"
	"calib/internal/programs"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/predict/tuned"
	"calib/reports/export"
)

// The sweep of collectives with Open MPI's own decisions and with calib's rules, and how much slower the rules may be anywhere.
const (
	sweepSource       = "examples/mpi/sweep.c"
	sweepScript       = "examples/mpi/sweep.sh"
	sweepFile         = "sweep.txt"
	rulesFile         = "ompi-rules.conf"
	decisionsFile     = "ompi-decisions.json"
	sweepAlternations = 5
	sweepRepetitions  = 3
	slowerRules       = 0.03
)

// errNoMPI is the error without Open MPI.
var errNoMPI = errors.New("mpicc and mpirun are not installed: Debian has Open MPI in openmpi-bin and libopenmpi-dev")

var sweepSizes = []int{64, 128, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10}

// sweepCollectives calibrates, decides, and runs the sweep on the same network with and without the rules, by turns. The run directory gets
// the decisions, the rules, and what the sweep printed.
func sweepCollectives(ctx context.Context, calib, network, seed, out string, flags []string) (*params.Params, error) {
	p, err := calibrate(ctx, calib, network, seed, out, flags)
	if err != nil {
		return nil, err
	}
	file, err := filepath.Abs(filepath.Join(out, rulesFile))
	if err != nil {
		return nil, err
	}
	if err := writeRules(p, file, filepath.Join(out, decisionsFile)); err != nil {
		return nil, err
	}
	return p, sweep(ctx, calib, network, file, filepath.Join(out, sweepFile))
}

// writeRules decides by the predictions from p.
func writeRules(p *params.Params, file, why string) error {
	rules, decisions, err := tuned.Rules(p, tuned.Settings{Hosts: []int{len(p.Run.Hosts)}, Bytes: sweepSizes, Seed: p.Run.Seed})
	if err != nil {
		return err
	}
	target, err := export.Lookup("ompi")
	if err != nil {
		return err
	}
	text, _, err := target.Export(p, export.Options{Rules: rules})
	if err != nil {
		return err
	}
	reasons, err := json.Marshal(decisions)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(file, text, 0o644), os.WriteFile(why, reasons, 0o644))
}

// sweep runs the program in the lab, and keeps what it prints in a file.
func sweep(ctx context.Context, calib, network, rules, to string) error {
	if !programs.Installed("mpicc") || !programs.Installed("mpirun") {
		return errNoMPI
	}
	work, err := os.MkdirTemp("", "calib-sweep-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	program := filepath.Join(work, "sweep")
	if err := programs.Run(ctx, "", "mpicc", "-O2", "-o", program, sweepSource); err != nil {
		return err
	}
	arguments := strconv.Itoa(sweepRepetitions)
	for _, m := range sweepSizes {
		arguments += " " + strconv.Itoa(m)
	}
	arguments += " --"
	for _, c := range openmpi.Collectives() {
		arguments += " " + c.Name
	}
	// Eight ranks beside a wire and CPUs that spin would use up a virtual machine's share of its host: so CPUs may sleep.
	cmd := patient(ctx, calib, "lab", "run", "--idle", "--name", "acc", network, "--", sweepScript, program, "{hosts}", strconv.Itoa(sweepAlternations),
		arguments, "", "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "+rules)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return programs.Failed(cmd, err, text)
	}
	return os.WriteFile(to, text, 0o644)
}

// swept are the times [s] of a collective at a size, with Open MPI's own decision and with the rules.
type swept map[string]map[int][2][]float64

// readSwept reads lines "SET OPERATION BYTES SECONDS".
func readSwept(path string) (swept, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := swept{}
	in := bufio.NewScanner(f)
	for in.Scan() {
		var set, bytes int
		var operation string
		var seconds float64
		if n, err := fmt.Sscan(in.Text(), &set, &operation, &bytes, &seconds); n < 4 || err != nil || set < 1 || set > 2 {
			return nil, fmt.Errorf("%s: %q: want SET OPERATION BYTES SECONDS", path, in.Text())
		}
		if out[operation] == nil {
			out[operation] = map[int][2][]float64{}
		}
		x := out[operation][bytes]
		x[set-1] = append(x[set-1], seconds)
		out[operation][bytes] = x
	}
	return out, in.Err()
}

// ruled prints what the rules gain, measured and predicted, and fails where the sweep, or a size with a rule, is slower than slowerRules
// allows. Sizes that keep the compiled-in decision run the same algorithm twice: what these differ by is the noise.
func ruled(_ context.Context, dir string, _ *params.Params) error {
	all, err := readSwept(filepath.Join(dir, sweepFile))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, decisionsFile))
	if err != nil {
		return err
	}
	var decisions []tuned.Decision
	if err := json.Unmarshal(text, &decisions); err != nil {
		return fmt.Errorf("%s: %w", decisionsFile, err)
	}
	fmt.Println("| collective | bytes | Open MPI's own | its time | with the rules | their time | saved | predicted |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	var bad []string
	sums, noise := map[string][2]float64{}, 0.0
	for _, d := range decisions {
		var t [2]float64
		for i, times := range all[d.Collective][d.From] {
			if len(times) == 0 {
				return fmt.Errorf("%s holds no %s of %d bytes", sweepFile, d.Collective, d.From)
			}
			t[i] = stats.Median(times)
		}
		for _, name := range []string{d.Collective, "all"} {
			s := sums[name]
			sums[name] = [2]float64{s[0] + t[0], s[1] + t[1]}
		}
		if d.Why != "" {
			noise = math.Max(noise, math.Abs(t[1]/t[0]-1))
			continue
		}
		fmt.Printf("| %s | %d | %s | %s | %s | %s | %s | %s |\n", d.Collective, d.From, d.Default, units.Format(t[0], "s"), d.Fastest,
			units.Format(t[1], "s"), percent(1-t[1]/t[0]), percent(1-d.FastestSeconds/d.DefaultSeconds))
		if t[1] > t[0]*(1+slowerRules) {
			bad = append(bad, fmt.Sprintf("%s of %d bytes", d.Collective, d.From))
		}
	}
	fmt.Printf("\nSizes without a rule differ by up to %s.\n\n", percent(noise))
	fmt.Println("| collective | Open MPI's own | with the rules | saved |")
	fmt.Println("|---|---|---|---|")
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		s := sums[name]
		fmt.Printf("| %s | %s | %s | %s |\n", name, units.Format(s[0], "s"), units.Format(s[1], "s"), percent(1-s[1]/s[0]))
		if s[1] > s[0]*(1+slowerRules) {
			bad = append(bad, "the sweep of "+name)
		}
	}
	if len(bad) > 0 {
		return fmt.Errorf("more than %s slower with the rules: %s", percent(slowerRules), strings.Join(bad, ", "))
	}
	return nil
}

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }
