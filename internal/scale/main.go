// Scale shows how the time and the memory of a coordinator grow with the number of hosts. It measures simulated networks, each in a process
// of its own, and takes what the coordinator itself needs apart from what the simulated hosts do: laying out the schedule, making
// tickets, walking the slots, stopping, and writing samples to disk; then fitting and reporting, by the calib command.
//
//	go run ./internal/scale -calib bin/calib            prints a table and draws docs/scale-time.svg and docs/scale-memory.svg
//	go run ./internal/scale -calib bin/calib -hosts 256 -keep DIR
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"calib/bench"
	"calib/internal/units"
	"calib/reports/draw"
	"calib/run/plan"
)

// settings are the flags. A process that measures one size gets them as JSON.
type settings struct {
	Hosts []int
	Plan  plan.Plan
	Dir   string // the run's
}

// childArg makes this program measure one size.
const childArg = "measure"

func main() {
	var err error
	if len(os.Args) == 3 && os.Args[1] == childArg {
		err = child(os.Args[2])
	} else {
		err = run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

func run() error {
	var s settings
	hosts := flag.String("hosts", "8,16,32,64,128,256,512,1000", "numbers of hosts")
	planName := flag.String("plan", plan.Standard, "quick, standard, full, or a plan file")
	rounds := flag.Int("rounds", 6, "rounds, of which none ends early")
	most := flag.String("max-bytes", "16KiB", "largest message: a simulation moves every packet")
	effort := flag.Float64("effort", 0.25, "scales repetitions and the lengths of streams")
	calib := flag.String("calib", "bin/calib", "the calib command that fits and reports")
	keep := flag.String("keep", "", "directory to keep the runs in; those that it has are fitted again and not measured. Else they are removed")
	svg := flag.String("svg", "", "directory to draw the growth into")
	flag.Parse()
	if err := s.read(*hosts, *planName, *rounds, *most); err != nil {
		return err
	}
	s.Plan.Limits.Effort = bench.Effort(*effort)
	root := *keep
	if root == "" {
		dir, err := os.MkdirTemp("", "calib-scale-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		root = dir
	}
	var rows []row
	fmt.Println(header)
	for _, n := range s.Hosts {
		r, err := s.one(n, filepath.Join(root, fmt.Sprintf("hosts-%d", n)), *calib)
		if err != nil {
			return fmt.Errorf("%d hosts: %w", n, err)
		}
		fmt.Println(r)
		rows = append(rows, r)
	}
	if *svg == "" {
		return nil
	}
	_, err := draw.Files(*svg, growth(rows), draw.SVG)
	return err
}

// read parses the flags that need it.
func (s *settings) read(hosts, name string, rounds int, most string) (err error) {
	for _, f := range strings.Split(hosts, ",") {
		n, err := strconv.Atoi(f)
		if err != nil || n < 2 {
			return fmt.Errorf("-hosts %q: want numbers of 2 or more, such as 8,64", f)
		}
		s.Hosts = append(s.Hosts, n)
	}
	if s.Plan, err = plan.Load(name); err != nil {
		return err
	}
	s.Plan.Limits.MaxBytes, err = units.ParseBytes(most)
	s.Plan.Budget, s.Plan.Rounds = 0, plan.Rounds{Min: rounds, Max: rounds}
	return err
}

// tookFile keeps what measuring took, beside the run.
const tookFile = "scale.json"

// one measures n hosts into dir, unless they were measured before, and fits what was measured, each in a process of its own.
func (s *settings) one(n int, dir, calib string) (r row, err error) {
	path := filepath.Join(dir, tookFile)
	out, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if out, err = s.child(n, dir); err == nil {
			err = os.WriteFile(path, out, 0o644)
		}
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(out, &r.measured); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	r.fitted, err = fit(calib, dir)
	return r, err
}

// child measures n hosts into dir, and returns what it took as JSON.
func (s *settings) child(n int, dir string) ([]byte, error) {
	task := *s
	task.Hosts, task.Dir = []int{n}, dir
	text, err := json.Marshal(task)
	if err != nil {
		return nil, err
	}
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(own, childArg, string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	return out, nil
}
