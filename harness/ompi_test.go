package harness

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/internal/stats"
	"calib/internal/units"
	"calib/predict/tuned"
	"calib/reports/export"
)

const sweptHeader = "collective | bytes | Open MPI's own | its time | with the rules | their time | saved | predicted"

// What the sweep of collectives leaves in the run directory.
const (
	sweepFile     = "sweep.txt"
	decisionsFile = "ompi-decisions.json"
)

// sweepCollectives exports a run's rules for Open MPI, and runs its collectives on the same network with its own
// decisions and with these rules, by turns.
func sweepCollectives(t *testing.T, r run) {
	const (
		alternations, repetitions = "5", "3"
		sizes                     = "64,128,256,512,1024,2048,4096,8192,16384,32768,65536"
		dynamic                   = "--mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename "
	)
	var exported struct {
		Data struct {
			Content   string           `json:"content"`
			Decisions []tuned.Decision `json:"decisions"`
		} `json:"data"`
	}
	text := must(output(interrupted, r.calib, "export", "--to", "ompi", "--bytes", sizes, "--json", r.dir))
	if err := json.Unmarshal([]byte(text), &exported); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "sweep")
	must(output(interrupted, "mpicc", "-O2", "-o", program, "examples/mpi/sweep.c"))
	arguments := repetitions + " " + strings.ReplaceAll(sizes, ",", " ") + " --"
	for _, c := range export.Collectives() {
		arguments += " " + c.Name
	}
	rules := must(filepath.Abs(put(t, r.dir, "ompi-rules.conf", exported.Data.Content)))
	// Eight ranks beside a wire and CPUs that spin would use up a virtual machine's share of its host: so CPUs may
	// sleep.
	times := must(output(interrupted, r.calib, "lab", "run", "--idle", "--name", labName, r.network.arg, "--",
		"examples/mpi/sweep.sh", program, "{hosts}", alternations, arguments, "", dynamic+rules))
	put(t, r.dir, sweepFile, times)
	put(t, r.dir, decisionsFile, string(must(json.Marshal(exported.Data.Decisions))))
}

// ruled says what the rules gain, measured and predicted.
func ruled(t *testing.T, r run) []line {
	var decisions []tuned.Decision
	if err := json.Unmarshal(must(os.ReadFile(filepath.Join(r.dir, decisionsFile))), &decisions); err != nil {
		t.Fatal(err)
	}
	return must(compared(string(must(os.ReadFile(filepath.Join(r.dir, sweepFile)))), decisions))
}

// swept is a collective of a size.
type swept struct {
	operation string
	bytes     int
}

// readSwept reads lines "SET OPERATION BYTES SECONDS": the times with Open MPI's own decision, set 1, and with the
// rules, set 2.
func readSwept(text string) (map[swept][2][]float64, error) {
	out := map[swept][2][]float64{}
	for l := range strings.Lines(text) {
		var set int
		var of swept
		var seconds float64
		if n, err := fmt.Sscan(l, &set, &of.operation, &of.bytes, &seconds); n < 4 || err != nil || set < 1 || set > 2 {
			return nil, fmt.Errorf("%q: want SET OPERATION BYTES SECONDS", strings.TrimSpace(l))
		}
		x := out[of]
		x[set-1] = append(x[set-1], seconds)
		out[of] = x
	}
	return out, nil
}

// compared fails sizes with a rule, and whole sweeps, that are slower with the rules than may be. Sizes that keep the
// compiled-in decision run the same algorithm twice: what these differ by is the noise.
func compared(times string, decisions []tuned.Decision) (out []line, err error) {
	const slower = 0.03
	all, err := readSwept(times)
	if err != nil {
		return nil, err
	}
	add := func(name, bytes, own string, before float64, rule string, after float64, predicted string) {
		l := line{verdict: good, cells: []string{name, bytes, own, units.Format(before, "s"), rule,
			units.Format(after, "s"), percent(1 - after/before), predicted}}
		if after > before*(1+slower) {
			l.verdict = "**slower**"
		}
		out = append(out, l)
	}
	sums, noise := map[string][2]float64{}, 0.0
	for _, d := range decisions {
		x := all[swept{d.Collective, d.From}]
		if len(x[0]) == 0 || len(x[1]) == 0 {
			return nil, fmt.Errorf("%s holds no %s of %d bytes", sweepFile, d.Collective, d.From)
		}
		before, after := stats.Median(x[0]), stats.Median(x[1])
		for _, name := range []string{d.Collective, "all"} {
			s := sums[name]
			sums[name] = [2]float64{s[0] + before, s[1] + after}
		}
		if d.Why != "" {
			noise = math.Max(noise, math.Abs(after/before-1))
			continue
		}
		predicted := percent(1 - d.FastestSeconds/d.DefaultSeconds)
		add(d.Collective, strconv.Itoa(d.From), d.Default, before, d.Fastest, after, predicted)
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		add(name, "all", "", sums[name][0], "", sums[name][1], "")
	}
	same := []string{"sizes without a rule", "", "", "", "", "", "up to " + percent(noise), ""}
	return append(out, line{cells: same}), nil
}

// A rule that makes a size slower than is allowed fails, and so does a sweep of which a size is missing.
func TestCompared(t *testing.T) {
	rule := tuned.Decision{Collective: "bcast", From: 64, DefaultSeconds: 2, Fastest: "chain", FastestSeconds: 1}
	own := tuned.Decision{Collective: "bcast", From: 128, Why: "not sure"}
	for _, c := range [][2]string{
		{"1 bcast 64 2|2 bcast 64 1.1|1 bcast 128 2|2 bcast 128 2.01", ""},
		{"1 bcast 64 2|1 bcast 64 2|1 bcast 64 9|2 bcast 64 1|2 bcast 64 1|2 bcast 64 99|1 bcast 128 2|2 bcast 128 2",
			""},
		{"1 bcast 64 2|2 bcast 64 2.1|1 bcast 128 200|2 bcast 128 200", "bcast 64"},
		{"1 bcast 64 200|2 bcast 64 100|1 bcast 128 2|2 bcast 128 3", ""},
		{"1 bcast 64 2|2 bcast 64 1.9|1 bcast 128 2|2 bcast 128 3", "all all, bcast all"},
		{"1 bcast 64 2|2 bcast 64 1.9", "holds no bcast of 128 bytes"},
		{"1 bcast 64 2|1 bcast 128 2", "holds no bcast of 64 bytes"},
		{"mpirun: hello", "want SET OPERATION BYTES SECONDS"},
		{"3 bcast 64 2", "want SET OPERATION BYTES SECONDS"},
	} {
		sweep, want := strings.ReplaceAll(c[0], "|", "\n"), c[1]
		lines, err := compared(sweep, []tuned.Decision{rule, own})
		var bad []string
		for _, l := range lines {
			if l.fails() {
				bad = append(bad, l.cells[0]+" "+l.cells[1])
			}
		}
		got := strings.Join(bad, ", ")
		if err != nil {
			got = err.Error()
		}
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", sweep, got, want)
		}
	}
}
