// Budgets shows whether runs keep their budget: it runs calib on five networks, from 256 kbit/s with 100 ms to the loopback, and prints
// what was planned, what was forecast, what it took, and how narrow the widest interval is. It needs root, for namespaces.
//
//	go run ./internal/budgets -calib bin/calib
//	go run ./internal/budgets -networks sparc1994,loopback -hosts 2,8 -budgets 30s,2m -keep DIR
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"calib/internal/programs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "budgets:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	calib := flag.String("calib", "bin/calib", "the calib command")
	names := flag.String("networks", strings.Join(networkNames(), ","), "networks")
	hosts := flag.String("hosts", "2,8,64", "numbers of hosts; a network leaves out those that are too many for one machine")
	budgets := flag.String("budgets", "30s,2m,5m", "budgets")
	plan := flag.String("plan", "standard", "quick, standard, full, or a plan file")
	keep := flag.String("keep", "", "directory to keep the runs in; else they are removed")
	flag.Parse()
	path, err := filepath.Abs(*calib)
	if err != nil {
		return err
	}
	dir := *keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "calib-budgets-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	c := command{calib: path, plan: *plan}
	fmt.Println(header)
	for _, name := range strings.Split(*names, ",") {
		n, err := lookup(name)
		if err != nil {
			return err
		}
		for _, text := range strings.Split(*hosts, ",") {
			p, err := strconv.Atoi(text)
			if err != nil || p < 2 {
				return fmt.Errorf("-hosts %q: want numbers from 2 on, such as 2,8", *hosts)
			}
			if p > n.most {
				continue
			}
			for _, text := range strings.Split(*budgets, ",") {
				budget, err := time.ParseDuration(text)
				if err != nil || budget <= 0 {
					return fmt.Errorf("-budgets %q: want times, such as 30s,2m", *budgets)
				}
				r, err := c.measure(ctx, n, p, budget, filepath.Join(dir, fmt.Sprintf("%s-%d-%s", name, p, text)))
				if err != nil {
					return fmt.Errorf("%s, %d hosts, %s: %w", name, p, text, err)
				}
				fmt.Println(r)
			}
		}
	}
	return nil
}

// command is the calib command, and the plan of all runs.
type command struct{ calib, plan string }

// measure runs calib once. Exit codes of runs that were saved are no errors: a short budget leaves parameters without a value.
func (c command) measure(ctx context.Context, n network, hosts int, budget time.Duration, out string) (string, error) {
	args, remove, err := n.start(ctx, c.calib, hosts)
	if err != nil {
		return "", err
	}
	defer remove()
	if err := os.RemoveAll(out); err != nil {
		return "", err
	}
	cmd := programs.Command(ctx, time.Minute, append(args, "--out", out, "--yes", "--json", "--seed", "1", "--plan", c.plan, "--budget", budget.String())...)
	var told forecasts
	cmd.Stderr = &told
	text, failed := cmd.Output()
	r, err := readRow(out, told)
	if err != nil {
		if failed != nil {
			err = fmt.Errorf("%w\n%s", programs.Failed(cmd, failed, text), told.rest.String())
		}
		return "", err
	}
	r.network, r.hosts, r.budget = n.words, hosts, budget
	return r.String(), nil
}
