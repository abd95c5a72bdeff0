// Command accuracy compares calib with known truth: it builds each emulated network in the lab, calibrates it with the real
// command, and compares every parameter with what the lab was given. It prints the table of docs/RESULTS.md and fails if a
// parameter is outside its tolerance. A run in which the lab was late is repeated up to twice and never counted.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"calib/fit/params"
	"calib/internal/netspec"
	"calib/internal/programs"
)

func main() {
	calib := flag.String("calib", "bin/calib", "the calib command")
	name := flag.String("suite", "paired", "what is compared with the truth: paired (a, b, a_c, b_c), "+
		"cluster (the cluster model of Tam and Wang 2000, and LogGP), table (the values published for their cluster), gather (eq. 8), tbf (B_L of a kernel queue), simgrid (an exported platform), "+
		"patterns, patterns-switch (predictions of traffic that no fit has seen), ompi (rules for Open MPI's collectives, beside its own decisions), coverage (how often intervals hold the truth)")
	truths := flag.String("truths", "", "lab files or PRESET:HOSTS; none means the suite's own")
	seeds := flag.String("seeds", "", "seeds of the runs; none means the suite's own")
	plan := flag.String("plan", "", "plan of the runs; none means the suite's own")
	keep := flag.String("keep", "", "keep the run directories here")
	refit := flag.Bool("refit", false, "measure nothing: fit the runs kept by -keep again")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	st, err := suiteOf(*name, *truths, *plan)
	if *refit {
		st.measure = fitAgain
	}
	if err == nil {
		err = run(ctx, st, *calib, *keep, strings.Split(cmp.Or(*seeds, st.seeds, "1,2,3"), ","))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "accuracy:", err)
		os.Exit(1)
	}
}

// suite is a set of networks, how they are measured and what is checked.
type suite struct {
	truths  []string
	plan    string
	seeds   string   // none means 1 to 3
	flags   []string // of calib run, beside the plan
	measure source
	checks  func(*netspec.Spec, *params.Params) []check
	// show, where it is set, replaces checks: it compares a run with something else and prints a table of its own.
	show func(ctx context.Context, dir string, p *params.Params) error
	// counts, where it is set, judges the checks of all runs together.
	counts *tally
}

func suiteOf(name, truths, plan string) (suite, error) {
	var st suite
	switch name {
	case "paired":
		st = suite{truths: strings.Split("sparc1994:8,switch:8,examples/lab-slowhost.yaml", ","), plan: "examples/plan-lab.yaml", checks: pairedChecks}
	case "cluster":
		st = suite{truths: strings.Split("examples/lab-cluster-fast.yaml,examples/lab-cluster-slow.yaml,examples/lab-cluster-even.yaml", ","),
			plan: "examples/plan-lab-cluster.yaml", checks: clusterChecks}
	case "table":
		st = suite{truths: []string{"hku2000:8"}, plan: "examples/plan-lab-table.yaml", checks: tableChecks}
	case "gather":
		st = suite{truths: []string{"examples/lab-cluster-fast.yaml"}, plan: "examples/plan-lab-gather.yaml",
			checks: func(_ *netspec.Spec, p *params.Params) []check { return gatherChecks(p) }}
	case "tbf":
		st = suite{truths: strings.Split("tbf:40000,tbf:96000,tbf:300000,pfifo:64,pfifo:200", ","), plan: "quick",
			flags: []string{"--only", "clock,flood"}, measure: floodQueue, checks: queueChecks}
	case "simgrid":
		// With a fixed send buffer: the kernel's own grows with what a connection has carried, so that equal sends end when
		// some of the message, or all of it, has left.
		st = suite{truths: []string{"examples/lab-cluster-fast.yaml"}, plan: "examples/plan-lab-export.yaml", show: simulated,
			flags: []string{"--send-buffer", "128KiB"}}
	case "patterns":
		st = suite{truths: strings.Split("sparc1994:11,sparc1994:16", ","), plan: "examples/plan-lab-patterns.yaml", seeds: "1", show: predicted,
			flags: []string{"--send-buffer", "128KiB"}} // 64 KiB fit, whatever the kernel made of the buffer before
	case "patterns-switch":
		st = suite{truths: strings.Split("hku2000:4,hku2000:8,hku2000:16", ","), plan: "examples/plan-lab-patterns-switch.yaml", seeds: "1", show: predicted}
	case "ompi":
		st = suite{truths: []string{"switch:8", "sparc1994:8"}, plan: "examples/plan-lab-mpi.yaml", seeds: "1", measure: sweepCollectives, show: ruled}
	case "coverage":
		st = suite{truths: strings.Split("sparc1994:6,switch:6,examples/lab-cluster-fast.yaml", ","), plan: "quick", seeds: "1,2,3,4,5,6,7",
			flags: []string{"--only", "clock,pingpong,paired", "--sizes", "1,701,1401,16001,64001", "--budget", "1m"}, checks: coverageChecks, counts: &tally{}}
	default:
		return st, fmt.Errorf("no suite %q: want paired, cluster, table, gather, tbf, simgrid, patterns, patterns-switch, ompi or coverage", name)
	}
	if st.measure == nil {
		st.measure = calibrate
	}
	if truths != "" {
		st.truths = strings.Split(truths, ",")
	}
	if plan != "" {
		st.plan = plan
	}
	return st, nil
}

// source gets the parameters of one network and seed: it measures them, or fits a kept run again.
type source func(ctx context.Context, calib, network, seed, out string, flags []string) (*params.Params, error)

func run(ctx context.Context, st suite, calib, keep string, seeds []string) error {
	dir := keep
	if dir == "" {
		tmp, err := os.MkdirTemp("", "calib-accuracy-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	calib, err := filepath.Abs(calib)
	if err != nil {
		return err
	}
	bad := 0
	if st.show == nil {
		fmt.Println("| network | seed | parameter | truth | measured | 95% interval | error | allowed | |")
		fmt.Println("|---|---|---|---|---|---|---|---|---|")
	}
	for _, arg := range st.truths {
		spec, err := resolve(arg)
		if err != nil {
			return err
		}
		for _, seed := range seeds {
			out := filepath.Join(dir, fmt.Sprintf("%s-seed%s", spec.Name, seed))
			p, err := st.measure(ctx, calib, arg, seed, out, append([]string{"--plan", st.plan}, st.flags...))
			if err != nil {
				return fmt.Errorf("%s, seed %s: %w", arg, seed, err)
			}
			if st.show != nil {
				fmt.Printf("\n%s, seed %s:\n\n", spec.Name, seed)
				if err := st.show(ctx, out, p); err != nil {
					fmt.Fprintf(os.Stderr, "%s, seed %s: %v\n", spec.Name, seed, err)
					bad++
				}
				continue
			}
			checks := st.checks(spec, p)
			for _, c := range checks {
				fmt.Println(c.row(spec.Name, seed))
				if !c.ok && st.counts == nil {
					bad++
				}
			}
			if st.counts != nil {
				st.counts.add(spec.Name, checks)
			}
		}
	}
	if st.counts != nil {
		bad = st.counts.print()
	}
	if bad > 0 {
		return fmt.Errorf("%d results outside their tolerance", bad)
	}
	return nil
}

// calibrate runs calib in the lab and reads its parameter file.
func calibrate(ctx context.Context, calib, network, seed, out string, flags []string) (*params.Params, error) {
	r := programs.LabRun{Calib: calib, Lab: "acc", Network: network, Out: out, Flags: append([]string{"--seed", seed, "--json"}, flags...)}
	if err := r.Do(ctx); err != nil {
		return nil, err
	}
	return readParams(filepath.Join(out, "params.json"))
}

// patient is a program that has time to take down what it built when ctx ends.
func patient(ctx context.Context, args ...string) *exec.Cmd {
	return programs.Command(ctx, time.Minute, args...)
}

// fitAgain fits a kept run with the present models. The samples are those of the run.
func fitAgain(ctx context.Context, calib, _, _, out string, _ []string) (*params.Params, error) {
	if err := programs.Run(ctx, "", calib, "fit", "--quiet", out); err != nil {
		return nil, err
	}
	return readParams(filepath.Join(out, "params.json"))
}

func readParams(path string) (*params.Params, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return params.Decode(f)
}
