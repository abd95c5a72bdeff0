package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"calib/params"
	"calib/reports"
)

// stages measures what it is told, and keeps what it was asked.
type stages struct {
	runs  [][]Run
	asked []int
	again []bool
}

func (s *stages) measure(n int, again bool) ([]Run, error) {
	s.asked, s.again = append(s.asked, n), append(s.again, again)
	runs := s.runs[0]
	s.runs = s.runs[1:]
	return runs[:min(n, len(runs))], nil
}

// gateOf plans and runs a gate.
func gateOf(baseline []Run, measure func(int, bool) ([]Run, error), n int, o Options) (*Verdict, error) {
	o.Relative = GateRelative
	stage, err := PlanGate(baseline, n, o)
	if err != nil {
		return nil, err
	}
	return Gate(baseline, func(again bool) ([]Run, error) { return measure(stage.Runs, again) }, o)
}

func TestGate(t *testing.T) {
	baseline := cluster(1, 6, 15, 0.01, nil)
	fine := func(seed uint64) []Run { return cluster(seed, 6, 6, 0.01, nil) }
	bad := func(seed uint64) []Run { return cluster(seed, 6, 6, 0.01, of("n02", 1.4)) }
	faster := func(seed uint64) []Run { return cluster(seed, 6, 6, 0.01, of("n02", 0.6)) }
	elsewhere := func(seed uint64) []Run {
		runs := bad(seed)
		for _, r := range runs {
			r.Environment["n00"]["kernel"] = "6.8"
		}
		return runs
	}
	for name, c := range map[string]struct {
		runs    [][]Run
		outcome string
		again   bool
	}{
		"nothing":          {[][]Run{fine(2)}, OK, false},
		"confirmed":        {[][]Run{bad(2), bad(3)}, Regression, true},
		"a bad moment":     {[][]Run{bad(2), fine(3)}, OK, true},
		"another host":     {[][]Run{bad(2), cluster(3, 6, 6, 0.01, of("n04", 1.4))}, OK, true},
		"faster":           {[][]Run{faster(2)}, OK, false},
		"elsewhere":        {[][]Run{elsewhere(2)}, NotComparable, false},
		"moved in between": {[][]Run{bad(2), elsewhere(3)}, NotComparable, true},
	} {
		s := &stages{runs: c.runs}
		v, err := gateOf(baseline, s.measure, 4, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if v.Outcome != c.outcome || (v.Again != nil) != c.again || len(s.runs) != 0 {
			t.Errorf("%s: %s, again %v: %q", name, v.Outcome, v.Again != nil, texts(v))
		}
		if c.again && !slices.Equal(s.again, []bool{false, true}) {
			t.Errorf("%s: measured again: %v", name, s.again)
		}
	}
	s := &stages{runs: [][]Run{bad(2), bad(3)}}
	v, err := gateOf(baseline, s.measure, 0, Options{})
	if err != nil || !strings.HasPrefix(v.Findings[0].Text, "host n02: 5 of its 5 links: ") || v.Again.Confirmed != 2 ||
		s.asked[0] != 3 {
		t.Errorf("%v: %q, %+v, asked for %v", err, texts(v), v.Again, s.asked)
	}
	if !slices.ContainsFunc(v.Again.Suspects, func(c Change) bool { return c.Name == "latency" && c.Subject() == "n02" }) {
		t.Errorf("why again: %+v", v.Again.Suspects)
	}
}

// What was not measured in one of the stages is not ok: it is inconclusive, or what the other stage says of it.
func TestGateOfHalf(t *testing.T) {
	baseline := cluster(1, 6, 15, 0.01, nil)
	slow := func(seed uint64, what func(params.Metric) bool) []Run {
		return cluster(seed, 6, 6, 0.01, func(name, from, to string) float64 {
			return map[bool]float64{true: 2, false: 1}[what(params.Metric{Name: name, From: from, To: to})]
		})
	}
	without := func(runs []Run, lacks func(run int, m params.Metric) bool) []Run {
		for i := range runs {
			runs[i].Metrics = slices.DeleteFunc(runs[i].Metrics, func(m params.Metric) bool { return lacks(i, m) })
		}
		return runs
	}
	link := func(m params.Metric) bool { return m.From == "n01" && m.To == "n04" }
	parameter := func(m params.Metric) bool { return m.Name == "b" }
	unsure := func(runs []Run) []Run {
		for i := range runs[1:] {
			for k := range runs[i+1].Metrics {
				if m := &runs[i+1].Metrics[k]; m.Name == "b" {
					m.Status = params.StatusProvisional
				}
			}
		}
		return runs
	}
	for name, c := range map[string]struct {
		runs    [][]Run
		outcome string
	}{
		"a slow link is rare at the second time": {[][]Run{slow(2, link),
			without(slow(3, link), func(i int, m params.Metric) bool { return i > 2 && link(m) })}, Inconclusive},
		"b was lost at the first time, and is slow": {[][]Run{
			without(slow(2, parameter), func(_ int, m params.Metric) bool { return parameter(m) }),
			slow(3, parameter)}, Regression},
		"b is provisional in most runs": {[][]Run{unsure(cluster(2, 6, 6, 0.01, nil)), unsure(cluster(3, 6, 6, 0.01, nil))},
			Inconclusive},
	} {
		s := &stages{runs: c.runs}
		if v, err := gateOf(baseline, s.measure, 4, Options{}); err != nil || v.Outcome != c.outcome {
			t.Errorf("%s: %v %s, want %s: %q", name, err, v.Outcome, c.outcome, texts(v))
		}
	}
}

// A baseline of one night is told of. One that is too small for any test, or has nothing that decides, is refused
// before anything is measured.
func TestGateSmallBaseline(t *testing.T) {
	night := cluster(1, 2, 12, 0.01, nil)
	for i := range night {
		night[i].At = night[0].At
	}
	const oneNight = "the old runs are of 1 night, so a difference between nights is taken to be"
	s := &stages{runs: [][]Run{cluster(2, 2, 10, 0.01, nil)}}
	v, err := gateOf(night, s.measure, 0, Options{})
	if err != nil || v.Outcome != OK || !slices.ContainsFunc(v.Notes,
		func(n string) bool { return strings.HasPrefix(n, oneNight) }) {
		t.Errorf("%v %s %q", err, v.Outcome, v.Notes)
	}
	for _, c := range []struct {
		baseline []Run
		n        int
	}{{cluster(1, 2, 2, 0.02, nil), 0}, {night, 1}, {statusRuns("ok", "ok", "ok", "ok", "ok", "ok"), 0}} {
		if _, err = gateOf(c.baseline, s.measure, c.n, Options{}); !errors.Is(err, ErrBaseline) {
			t.Errorf("%d runs by %d: %v", len(c.baseline), c.n, err)
		}
	}
	if len(s.asked) != 1 {
		t.Errorf("measured %v runs for what cannot be gated", s.asked)
	}
}

func TestGateErrors(t *testing.T) {
	runs := cluster(1, 2, 5, 0.01, nil)
	broken := errors.New("the cable is out")
	fails := func(int, bool) ([]Run, error) { return nil, broken }
	if _, err := gateOf(runs, fails, 0, Options{}); !errors.Is(err, broken) {
		t.Error(err)
	}
	if _, err := gateOf(nil, fails, 0, Options{}); err == nil || errors.Is(err, broken) {
		t.Error("no baseline:", err)
	}
}

func TestNoise(t *testing.T) {
	runs := cluster(1, 4, 40, 0.02, nil)
	for i := range runs { // one in ten goes wild
		if i%10 == 0 {
			for j := range runs[i].Metrics {
				runs[i].Metrics[j].Value *= 3
			}
		}
	}
	f := Noise(runs)
	if len(f.Of) != 3+12 || f.Nights != 40 {
		t.Fatalf("%d quantities, %d nights", len(f.Of), f.Nights)
	}
	for _, q := range f.Of {
		// 1.96·√2·2% = 5.5%
		if q.Relative == nil || *q.Relative < 0.035 || *q.Relative > 0.095 {
			t.Errorf("%s %s: %v", q.Name, q.From, *q.Relative)
		}
	}
	// Few runs know less.
	if two, many := Noise(runs[1:3]).Of[0], f.Of[0]; two.Runs != 2 || many.Runs != 40 {
		t.Errorf("%+v, %+v", two, many)
	}
	if got := Noise(runs[:1]).Of; len(got) != 0 {
		t.Errorf("one run has a noise: %v", got)
	}
	var b strings.Builder
	if err := reports.WriteJSON(&b, f); err != nil {
		t.Fatal(err)
	}
	turned, err := ReadFloor([]byte(`{"schema":"` + FloorSchema + `","of":[{"name":"latency","from":"n9","to":"n10"}]}`))
	if err != nil || turned.Of[0].From != "n10" {
		t.Errorf("a floor of before links had an order: %+v, %v", turned, err)
	}
	back, err := ReadFloor([]byte(b.String()))
	if err != nil || fmt.Sprint(*back.Of[3].Relative) != fmt.Sprint(*f.Of[3].Relative) {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{
		"[]":             "noise floor: an array where an object belongs; calib run --hosts hosts.txt --aa 10 makes one",
		"{":              "calib run --hosts hosts.txt --aa 10 makes one",
		`{"schema":"x"}`: `unknown schema "x"`,
		`{"schema":"calib.noise/1","of":[{"name":"a","absolute":-1}]}`: "a: a noise of -1",
	} {
		if _, err := ReadFloor([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestGateDecidesBySomething: where nothing is measured well enough to decide, a gate does not say that all is well.
func TestGateDecidesBySomething(t *testing.T) {
	shown := func(seed uint64) []Run {
		runs := cluster(seed, 6, 4, 0.01, nil)
		for i := range runs {
			runs[i].Metrics = []params.Metric{{Name: "beta", Unit: "s/B", Value: 1e-9 * float64(100+i),
				Better: params.BetterLower}}
		}
		return runs
	}
	v := Compare(shown(1), shown(2), Options{gate: true})
	if v.Outcome != Inconclusive || !strings.Contains(strings.Join(v.Why, ""), "nothing decides") {
		t.Errorf("%s: %q", v.Outcome, v.Why)
	}
}

// TestGateRareLinks gates runs of which two in four have measured the rate of a link: its absence is chance.
func TestGateRareLinks(t *testing.T) {
	thinned := func(seed uint64) []Run {
		runs := cluster(seed, 6, 4, 0.01, nil)
		for i := range 2 {
			runs[i].Metrics = slices.DeleteFunc(runs[i].Metrics, func(m params.Metric) bool {
				return m.Name == "rate" && m.From == host(0) && m.To == host(1)
			})
		}
		return runs
	}
	s := &stages{runs: [][]Run{thinned(2), thinned(3)}}
	v, err := gateOf(cluster(1, 6, 6, 0.01, nil), s.measure, 4, Options{})
	if err != nil {
		t.Fatal(err)
	}
	note := "in less than nine of ten of the runs of a side, and not compared: rate of n00→n01"
	if v.Outcome != OK || !slices.Contains(v.Notes, note) {
		t.Errorf("%s: %q, notes %q", v.Outcome, texts(v), v.Notes)
	}
}
