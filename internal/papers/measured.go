package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"calib/fit/params"
	"calib/internal/files"
	"calib/internal/units"
)

// storedIn is the folder of the measured values, from the project's root.
const storedIn = "internal/papers/measured"

// measurement is what one lab run measured, as it is stored: the times of the emulated network, which may be slower than the paper's.
type measurement struct {
	Name     string  `json:"name"`
	Date     string  `json:"date"`
	Machine  string  `json:"machine"`
	Command  string  `json:"command"`
	Slowdown float64 `json:"slowdown"` // times slower than the network it stands for
	Rounds   int     `json:"rounds"`
	Timings  int     `json:"timings"`

	Parameters map[string]params.Parameter `json:"parameters"`
	Functions  map[string]params.Function  `json:"functions"`
	Times      []patternTime               `json:"times,omitempty"`
	Gathers    []params.Series             `json:"gathers,omitempty"`
}

// patternTime is the time of a pattern of communication, the median of the rounds.
type patternTime struct {
	Pattern  string  `json:"pattern"`
	Hosts    int     `json:"hosts"`
	Bytes    int64   `json:"bytes"`
	Measured float64 `json:"measured"` // s
}

// measurements are all runs, by name.
type measurements map[string]measurement

// load reads the stored measurements of all runs. One that is not stored is left out.
func load(root string) (measurements, error) {
	out := measurements{}
	for _, r := range runs {
		path := filepath.Join(root, storedIn, r.name+".json")
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var m measurement
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		out[r.name] = m
	}
	return out, nil
}

// save writes a measurement.
func (m measurement) save(root string) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	return files.Replace(filepath.Join(root, storedIn, m.Name+".json"), append(text, '\n'))
}

// table lists the runs.
func (all measurements) table() string {
	var b strings.Builder
	b.WriteString("\n## The measured runs\n\nOne for each file of `internal/papers/plans`. The command is that of the run whose values are stored, by its run.json: a run of the same network that\nexists may be taken instead of measuring again (`go run ./internal/papers -kept DIR -runs NAME`).\n\n| run | begun | machine | rounds, timings | time scale | command |\n|---|---|---|---|---|---|\n")
	for _, r := range runs {
		m, ok := all[r.name]
		if !ok {
			fmt.Fprintf(&b, "| %s | not measured | | | | `make papers RUNS=%s` |\n", r.name, r.name)
			continue
		}
		scale := "that of the paper"
		if m.Slowdown > 1 {
			scale = fmt.Sprintf("%g times slower; times below are divided by %g", m.Slowdown, m.Slowdown)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d, %s | %s | `%s` |\n", r.name, m.Date, m.Machine, m.Rounds, units.Grouped(int64(m.Timings)), scale,
			m.Command)
	}
	return b.String()
}

// run returns one measurement; one without values where it is not stored.
func (all measurements) run(name string) measurement {
	if m, ok := all[name]; ok {
		return m
	}
	return measurement{Name: name}
}

// stored reports whether a run was measured.
func (m measurement) stored() bool { return m.Timings > 0 }

// scaled is a measured value at the paper's time scale, where its unit has a time in it.
func (m measurement) scaled(v float64, unit printed) float64 {
	if unit == packets || unit == plain {
		return v
	}
	return v / max(1, m.Slowdown)
}

// by is the column of a measured row.
func (m measurement) by(what string) string {
	s := "measured, " + m.Name
	if what != "" {
		s += ": " + what
	}
	return s
}

// errMissing says that a stored run does not hold what a row needs.
func (m measurement) errMissing(what string) error {
	return fmt.Errorf("%s/%s.json has no %s: measure it again with make papers RUNS=%s", storedIn, m.Name, what, m.Name)
}

// parameter is a measured parameter beside the paper's.
func (m measurement) parameter(what, name, golden string, paper stated) (row, error) {
	q, ok := m.Parameters[name]
	v, has := q.Raw()
	if !ok || !has {
		return row{}, m.errMissing("parameter " + name)
	}
	g := got{value: m.scaled(v, paper.unit)}
	if q.CI95 != nil {
		g.ci = &[2]float64{m.scaled(q.CI95[0], paper.unit), m.scaled(q.CI95[1], paper.unit)}
	}
	if q.Status != params.StatusOK {
		g.note = q.Status
	}
	return row{what: what, golden: golden, paper: paper, ours: g, how: m.by("")}, nil
}

// coefficient is one coefficient of a measured function beside the paper's.
func (m measurement) coefficient(what, function, name, golden string, paper stated) (row, error) {
	fn, ok := m.Functions[function]
	v, has := fn.Coeff[name]
	if !ok || !has {
		return row{}, m.errMissing(name + " of function " + function)
	}
	g := got{value: m.scaled(v, paper.unit)}
	if ci, ok := fn.CI95[name]; ok {
		g.ci = &[2]float64{m.scaled(ci[0], paper.unit), m.scaled(ci[1], paper.unit)}
	}
	return row{what: what, golden: golden, paper: paper, ours: g, how: m.by("")}, nil
}
