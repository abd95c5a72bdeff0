//go:build harness

package harness

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"calib/internal/netspec"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/params"
)

const virtualHeader = "network | plan | number | truth | median is off | runs with a value | in the 95% interval | " +
	"half-width, median | runs scatter | "

// TestVirtual holds the intervals of runs in virtual time against the truth, on every preset: forty runs of the plan
// quick, and half as many of standard, which take five times as long.
func TestVirtual(t *testing.T) {
	const hosts = 6
	calib := build(t)
	p := &table{name: "accuracy-virtual", header: virtualHeader,
		after: fmt.Sprintf("\nRuns of `calib run --sim NETWORK:%d --plan PLAN --seed N`, N from 1 to %d (standard: %d).\n",
			hosts, *seedsFlag, *seedsFlag/2)}
	for _, preset := range netspec.PresetNames() {
		for i, plan := range []string{"quick", "standard"} {
			runs := *seedsFlag / (1 + i)
			p.run(t, preset+"-"+plan, func(t *testing.T) {
				network := fmt.Sprintf("%s:%d", preset, hosts)
				found, err := inVirtualTime(t.TempDir(), runs, calib, "run", "--sim", network, "--plan", plan, "--quiet")
				if err != nil {
					t.Fatal(err)
				}
				truths := known(resolve(t, network))
				for _, name := range slices.Sorted(maps.Keys(truths)) {
					virtualRow(t, p, network+" | "+plan, name, truths[name], found)
				}
			})
		}
	}
	p.save(t)
}

// inVirtualTime runs a command with the seeds 1 to n, two at a time, and returns the parameters.
func inVirtualTime(dir string, n int, args ...string) ([]*params.Params, error) {
	found := make([]*params.Params, n)
	var jobs errgroup.Group
	jobs.SetLimit(2)
	for i := range n {
		jobs.Go(func() error {
			seed := strconv.Itoa(i + 1)
			out := filepath.Join(dir, seed)
			var err error
			found[i], err = fitted(interrupted, out, slices.Concat(args, []string{"--seed", seed, "--out", out})...)
			return errors.Join(err, os.RemoveAll(out))
		})
	}
	return found, jobs.Wait()
}

// virtualRow says how often the interval of a number held the truth, in the runs that gave it a value. Fewer than 85%
// fail, and a median half-width of more than 4 times that of the runs' own scatter.
func virtualRow(t *testing.T, p *table, where, name string, truth float64, found []*params.Params) {
	t.Helper()
	const enough, widest = 0.85, 4
	var values, halves []float64
	in, unit := 0, ""
	for _, run := range found {
		e := estimateOf(run, name)
		if !usable(run, name) || e.ci == nil {
			continue
		}
		unit = e.unit
		values, halves = append(values, e.value), append(halves, (e.ci[1]-e.ci[0])/2)
		if slack := 1e-9 * math.Abs(truth); e.ci[0]-slack <= truth && truth <= e.ci[1]+slack {
			in++
		}
	}
	if len(values) == 0 {
		return // the network or the plan does not have it: make accuracy-card asks why
	}
	half, scatter, verdict := stats.Median(halves), math.Abs(scattering(values)*stats.Median(values)), good
	switch {
	case float64(in) < enough*float64(len(values)):
		verdict = "**misses**"
	case half > widest*scatter:
		verdict = "**wide**"
	}
	if verdict != good {
		t.Errorf("%s, %s: %d of %d, ± %s beside ± %s", where, name, in, len(values), units.Format(half, unit),
			units.Format(scatter, unit))
	}
	off := units.Format(stats.Median(values)-truth, unit)
	if truth != 0 {
		off = fmt.Sprintf("%+.2f%%", 100*(stats.Median(values)/truth-1))
	}
	p.add(t, fmt.Sprintf("| %s | %s | %s | %s | %d | %d | ± %s | ± %s | %s |", where, name, units.Format(truth, unit), off,
		len(values), in, units.Format(half, unit), units.Format(scatter, unit), verdict))
}

// usable says whether a number, or the function that it is a coefficient of, has a status that lets it be used.
func usable(p *params.Params, name string) bool {
	if function, _, ok := strings.Cut(name, "."); ok {
		return p.Functions[function].Status == params.StatusOK
	}
	return p.Parameters[name].Value != nil
}
