//go:build harness

package harness

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"calib/internal/needs"
)

// gated is what gates of one kind of network ended with: how many with each exit code.
type gated struct {
	network string
	slower  bool
	exits   map[int]int
}

// TestGate gates networks of known truth by the command itself: healthy ones must pass, and those whose hosts are 5%
// slower must be found. Case sim has a hundred of each in virtual time, each with a baseline of its own; case lab has
// ten of each in the lab, with one baseline. Each is a page of docs/results.
func TestGate(t *testing.T) {
	calib := build(t)
	t.Run("sim", func(t *testing.T) {
		judgeGates(t, append(gateSimulated(t, calib, "switch"), gateSimulated(t, calib, "sparc1994")...))
	})
	t.Run("lab", func(t *testing.T) { judgeGates(t, gateLab(t, calib)) })
}

// judgeGates writes the page of a case and holds it against the bars.
func judgeGates(t *testing.T, all []gated) {
	t.Helper()
	p := &table{name: "accuracy-gate-" + path.Base(t.Name()),
		header: "network | hosts | gates | exit 0 | exit 3 | exit 4 | exit 5"}
	gates, right := map[bool]int{}, map[bool]int{}
	for _, g := range all {
		n, hosts, want := 0, "healthy", 0
		if g.slower {
			hosts, want = "5% slower", 3
		}
		for _, k := range g.exits {
			n += k
		}
		gates[g.slower] += n
		right[g.slower] += g.exits[want]
		p.add(t, fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %d |", g.network, hosts, n,
			g.exits[0], g.exits[3], g.exits[4], g.exits[5]))
	}
	p.after = fmt.Sprintf("\n%d of %d healthy networks pass, %d of %d slower ones are found.\n",
		right[false], gates[false], right[true], gates[true])
	p.save(t)
	if 100*right[false] < 95*gates[false] || 100*right[true] < 90*gates[true] {
		t.Errorf("wanted are 95%% and 90%%:%s", p.after)
	}
}

// gateNetworks writes a preset, and the same with hosts that are 5% slower. Both give hosts the same names.
func gateNetworks(t *testing.T, dir, preset string, hosts int) (out [2]string) {
	t.Helper()
	spec := resolve(t, fmt.Sprintf("%s:%d", preset, hosts))
	for i, by := range []float64{1, 1.05} {
		text := fmt.Sprintf("preset: %s\nname: gate\nhosts: %d\nhost: {a: %g, b: %g}\n",
			preset, hosts, by*spec.Host.A, by*spec.Host.B)
		out[i] = put(t, dir, fmt.Sprintf("%s-%d.yaml", preset, i), text)
	}
	return out
}

// exitOf runs a program and returns its exit code; 1 and 2 are errors.
func exitOf(args ...string) (int, error) {
	c := command(interrupted, args...)
	text, err := c.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 2 {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 0, failed(c, err, text)
	}
	return 0, nil
}

// gateSimulated makes fifty baselines of six runs, and gates for each a healthy and a slower network.
func gateSimulated(t *testing.T, calib, preset string) []gated {
	t.Helper()
	const series, hosts = 50, 6
	dir := t.TempDir()
	networks := gateNetworks(t, dir, preset, hosts)
	var exits [series][2]int
	var jobs errgroup.Group
	jobs.SetLimit(2)
	for k := range series {
		jobs.Go(func() error {
			work := filepath.Join(dir, strconv.Itoa(k))
			good, store := filepath.Join(work, "good"), filepath.Join(work, "h.db")
			seed := func(n int) string { return strconv.Itoa(1000*k + n) }
			err := os.MkdirAll(work, 0o755)
			for _, args := range [][]string{
				{"run", "--sim", networks[0], "--plan", "quick", "--aa", "6", "--seed", seed(1), "--quiet", "--out", good},
				{"history", "baseline", "set", "--store", store, "good", good},
			} {
				if err == nil {
					_, err = exitOf(slices.Insert(args, 0, calib)...)
				}
			}
			for i, n := range networks {
				if err == nil {
					exits[k][i], err = exitOf(calib, "gate", "--store", store, "--baseline", "good", "--sim", n,
						"--seed", seed(100+400*i), "--quiet", "--out", filepath.Join(work, "gate-"+strconv.Itoa(i)))
				}
			}
			return errors.Join(err, os.RemoveAll(work))
		})
	}
	if err := jobs.Wait(); err != nil {
		t.Fatal(err)
	}
	out := []gated{{preset, false, map[int]int{}}, {preset, true, map[int]int{}}}
	for _, e := range exits {
		out[0].exits[e[0]]++
		out[1].exits[e[1]]++
	}
	return out
}

// gateLab makes a baseline of six runs in a healthy lab, and gates ten healthy and ten slower labs against it, by
// turns.
func gateLab(t *testing.T, calib string) []gated {
	t.Helper()
	needs.Namespaces(t)
	const turns, runs = 10, 6
	dir := place(t, "gate")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	networks := gateNetworks(t, dir, "switch", 4)
	store, good := filepath.Join(dir, "h.db"), filepath.Join(dir, "good")
	inLab := func(network string, args ...string) int {
		t.Helper()
		args = slices.Concat([]string{calib}, args, []string{"--quiet", "--yes", "--hosts", "{hosts}"}, inNamespaces)
		code := filepath.Join(dir, "exit")
		for try := 1; ; try++ {
			out := args[slices.Index(args, "--out")+1]
			if err := errors.Join(os.RemoveAll(out), os.RemoveAll(code)); err != nil {
				t.Fatal(err)
			}
			late, err := exitOf(slices.Concat([]string{calib, "lab", "run", "--strict", "--name", labName, network, "--",
				"sh", "-c", `"$@"; echo $? >` + code, "sh"}, args)...)
			if err == nil && late == lateExit && try < labTries {
				t.Logf("%s: the lab was late, try %d", out, try)
				continue
			}
			text, readErr := os.ReadFile(code)
			exit, numErr := strconv.Atoi(strings.TrimSpace(string(text)))
			if err := errors.Join(err, readErr, numErr); err != nil || late != 0 || exit == 1 || exit == 2 {
				t.Fatalf("%s: the lab ended with %d and calib with %d: %v", out, late, exit, err)
			}
			return exit
		}
	}
	for i := range runs {
		out := filepath.Join(good, fmt.Sprintf("run-%d", i+1))
		inLab(networks[0], "run", "--plan", "harness/testdata/plans/gate.yaml", "--out", out)
	}
	if _, err := exitOf(calib, "history", "baseline", "set", "--store", store, "good", good); err != nil {
		t.Fatal(err)
	}
	out := []gated{{"switch", false, map[int]int{}}, {"switch", true, map[int]int{}}}
	for k := range turns {
		for i, n := range networks {
			dir := filepath.Join(dir, fmt.Sprintf("gate-%d-%d", k, i))
			exit := inLab(n, "gate", "--store", store, "--baseline", "good", "--out", dir)
			out[i].exits[exit]++
			t.Logf("turn %d, network %d: exit %d", k, i, exit)
		}
	}
	return out
}
