package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"calib/fit/params"
	"calib/internal/dataset"
	"calib/internal/programs"
	"calib/internal/rundir"
)

// path is where traffic goes.
type path struct {
	name     string
	from, to side
	launch   string
	netns    string // of to; "" is this one
}

// where names the CPUs of both ends.
func (p path) where() string {
	if p.from.cpu == p.to.cpu {
		return fmt.Sprintf("both ends on CPU %d", p.from.cpu)
	}
	return fmt.Sprintf("CPUs %d and %d", p.from.cpu, p.to.cpu)
}

// workshop is what a comparison needs: a directory for files, the calib command, and the paths.
type workshop struct {
	settings
	dir, calib string
	paths      []path
	remove     func()
}

// open builds calib, unless a binary is named, and the veth pair.
func open(ctx context.Context, s settings) (*workshop, error) {
	dir, err := os.MkdirTemp("", "benchcmp")
	if err != nil {
		return nil, err
	}
	w := &workshop{settings: s, dir: dir, calib: s.calib, remove: func() { os.RemoveAll(dir) }}
	if w.calib == "" {
		w.calib = filepath.Join(dir, "calib")
		if err := programs.BuildCalib(ctx, w.calib); err != nil {
			w.remove()
			return nil, err
		}
	}
	from, to, remove, err := wire(ctx)
	if err != nil {
		w.remove()
		return nil, err
	}
	w.remove = func() { remove(); os.RemoveAll(dir) }
	loopback := side{addr: "127.0.0.1"}
	for _, p := range []path{
		{name: "loopback", from: loopback, to: loopback, launch: "env HOST={host}"},
		{name: "veth", from: from, to: to, launch: "ip netns exec {host}", netns: "/run/netns/" + to.name()},
	} {
		if s.way == "" || s.way == p.name {
			w.paths = append(w.paths, p)
		}
	}
	return w, nil
}

// eachPath calls f for every path with both ends on one CPU, and then on two.
func (w *workshop) eachPath(ctx context.Context, f func(path) error) error {
	for _, p := range w.paths {
		for cpu := range 2 {
			p.to.cpu = cpu
			if p.netns != "" {
				if err := steer(ctx, p.to); err != nil {
					return err
				}
			}
			if err := f(p); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}

// name is the namespace of a side.
func (e side) name() string { return e.prefix[len(e.prefix)-1] }

// run calibrates a path with the quick plan, as a user does, and returns its parameters and samples.
func (w *workshop) run(ctx context.Context, p path, seed int, flags ...string) (*params.Params, *dataset.Dataset, error) {
	list, out := filepath.Join(w.dir, "hosts.txt"), filepath.Join(w.dir, "run")
	if err := os.RemoveAll(out); err != nil {
		return nil, nil, err
	}
	hosts := []string{"from", "to"}
	if p.netns != "" {
		hosts = []string{p.from.name(), p.to.name()}
	}
	text := fmt.Sprintf("%s addr=%s cpu=%d\n%s addr=%s cpu=%d\n", hosts[0], p.from.addr, p.from.cpu, hosts[1], p.to.addr, p.to.cpu)
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	if err := programs.Run(ctx, "", slices.Concat([]string{w.calib, "run", "--hosts", list, "--launch", p.launch, "--plan", "quick",
		"--seed", strconv.Itoa(seed), "--out", out, "--quiet", "--yes"}, flags)...); err != nil {
		return nil, nil, err
	}
	d, err := dataset.ReadFile(filepath.Join(out, rundir.SamplesFile))
	if err != nil {
		return nil, nil, err
	}
	f, err := os.Open(filepath.Join(out, rundir.ParamsFile))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	q, err := params.Decode(f)
	return q, d, err
}

// inTurn runs the steps of one round, each within importRun; every other round the other way round.
func inTurn(ctx context.Context, round int, steps []func(context.Context) error) error {
	if round%2 == 1 {
		slices.Reverse(steps)
	}
	for _, step := range steps {
		bounded, cancel := context.WithTimeout(ctx, importRun)
		err := step(bounded)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}
