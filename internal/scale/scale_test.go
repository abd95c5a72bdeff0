package main

import (
	"path/filepath"
	"strings"
	"testing"

	"calib/internal/rundir"
	"calib/internal/units"
	"calib/reports/figure"
	"calib/run/plan"
)

func TestRead(t *testing.T) {
	var s settings
	if err := s.read("8,64", "quick", 3, "4KiB"); err != nil || len(s.Hosts) != 2 || s.Plan.Rounds != (plan.Rounds{Min: 3, Max: 3}) ||
		s.Plan.Budget != 0 || s.Plan.Limits.MaxBytes != 4*units.KiB {
		t.Errorf("%v: %+v", err, s)
	}
	for _, hosts := range []string{"", "1", "8,x"} {
		if err := s.read(hosts, "quick", 3, "4KiB"); err == nil || !strings.Contains(err.Error(), "-hosts") {
			t.Errorf("hosts %q: %v", hosts, err)
		}
	}
}

// A measurement leaves a run that can be read, and counts what is in it.
func TestMeasure(t *testing.T) {
	s := settings{Dir: filepath.Join(t.TempDir(), "run")}
	if err := s.read("4", "quick", 2, "1KiB"); err != nil {
		t.Fatal(err)
	}
	s.Plan.Experiments, s.Plan.Limits.Effort = []string{"clock", "pingpong"}, 0.05
	m, err := s.measure(4)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := rundir.Open(s.Dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := dir.Samples()
	if err != nil {
		t.Fatal(err)
	}
	timings := d.Survey().Timings
	if m.Hosts != 4 || m.Rounds != 2 || m.Timings != timings || timings == 0 || m.Slots == 0 || m.Samples == 0 || len(dir.Run().Stops) == 0 {
		t.Errorf("%+v, with %d timings and %d stops", m, timings, len(dir.Run().Stops))
	}
}

func TestGrowth(t *testing.T) {
	rows := []row{{measured{Hosts: 8, Rounds: 2, CPU: 0.1, Heap: 1e6}, fitted{Fit: 1, CPU: 0.5, Peak: 5e7}},
		{measured{Hosts: 1000, Rounds: 2, CPU: 5, Heap: 4e7}, fitted{Fit: 6, CPU: 9, Peak: 2e8}}}
	f := growth(rows)
	if len(f) != 2 || f[0].ID != "scale-time" || len(f[0].Traces) != 4 || f[0].Traces[2].Y[1] != 9 || f[1].Traces[0].Y[1] != 4e7 ||
		f[0].Traces[1].Kind != figure.Line || !strings.Contains(f[0].Says, "At 1000 hosts it takes 5 s of CPU time, fit and report 9 s") {
		t.Errorf("%+v", f)
	}
	if cells := strings.Count(rows[0].String(), "|"); cells != strings.Count(strings.Split(header, "\n")[0], "|") {
		t.Errorf("a row of %d bars:\n%s\n%s", cells, header, rows[0])
	}
}
