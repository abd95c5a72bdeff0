package selfcheck

import (
	"math"
	"slices"
	"strings"
	"testing"

	"calib/internal/netspec"
	"calib/params"
)

const us = 1e-6

// made is a parameter of that value ± half.
func made(v, half float64, unit string) params.Parameter {
	return params.Parameter{Value: &v, CI95: &[2]float64{v - half, v + half}, Unit: unit, Status: params.StatusOK}
}

func run(hosts ...string) *params.Params {
	return &params.Params{Run: params.Run{Hosts: hosts}, Parameters: map[string]params.Parameter{},
		Functions: map[string]params.Function{},
		Network:   &params.Network{Packets: params.Shared, Streams: params.Shared}}
}

// sparc is the network of a run of the true values of sparc1994, slowed.
func sparc(t *testing.T, slowdown float64) (*netspec.Spec, *params.Params) {
	s, err := netspec.Preset("sparc1994", 4)
	if err != nil {
		t.Fatal(err)
	}
	p := run("x", "y", "z", "w")
	for name, v := range map[string]float64{"a": s.Host.A, "a_c": s.Medium.A} {
		p.Parameters[name] = made(v, 1*us, "s")
	}
	p.Parameters["b_c"], p.Parameters["r_inf"] = made(s.Medium.B, 1e-9, "s/B"), made(6e5, 1e3, "B/s")
	p.Parameters["timer_cost"] = made(28e-9, 1e-9, "s")
	for _, b := range []*netspec.Block{&s.Host, &s.Medium} {
		b.A, b.B = b.A*slowdown, b.B*slowdown
	}
	s.Slowdown = slowdown
	return s, p
}

func find(t *testing.T, rows []Row, name string) Row {
	t.Helper()
	i := slices.IndexFunc(rows, func(r Row) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no row %s in %+v", name, rows)
	}
	return rows[i]
}

func TestJudge(t *testing.T) {
	s, p := sparc(t, 10)
	c := run("h0", "h1", "h2", "h3")
	c.Parameters["a"] = made(8600*us, 30*us, "s")
	c.Parameters["a_c"] = made(3470*us, 10*us, "s") // 14 µs off, ±10
	c.Parameters["r_inf"] = made(6.02e4, 1e2, "B/s")
	noInterval := made(9.2*us, 1e-9, "s/B")
	noInterval.CI95, noInterval.Why = nil, "one round only"
	c.Parameters["b_c"] = noInterval
	rows := Judge(s, p, c)
	for name, want := range map[string]Verdict{"a": Back, "a_c": Missed, "b_c": Undetermined, "r_inf": NotPlayed,
		"timer_cost": NotPlayed, "network": Back} {
		if r := find(t, rows, name); r.Verdict != want {
			t.Errorf("%s is %s, want %s: %+v", name, r.Verdict, want, r)
		}
	}
	if r := find(t, rows, "a"); math.Abs(*r.Run-8595.2*us) > 1e-9 || math.Abs(*r.Truth-8595.2*us) > 1e-9 || r.Otherwise {
		t.Errorf("a, 10 times slower: %+v", r)
	}
	if r := find(t, rows, "r_inf"); r.Truth != nil || math.Abs(*r.Run-6e4) > 1e-6 {
		t.Errorf("r_inf, 10 times slower: %+v", r)
	}
	text := Sentence(rows, 10)
	if !strings.HasPrefix(text, "Of 3 results of the copy, 10 times slower, 1 did not come back: a_c.") ||
		!strings.Contains(text, "Not determined: b_c.") {
		t.Error(text)
	}
}

// Where the run has a bound only, a bound of the copy that holds the truth is enough; what the network says otherwise
// is told.
func TestBoundsAndDifferences(t *testing.T) {
	s, p := sparc(t, 1)
	s.Mode = netspec.Switched
	p.Parameters["a_c"] = params.Parameter{Status: params.StatusBound, Bound: &params.Bound{-3 * us, 5 * us}, Unit: "s"}
	p.Parameters["a"] = made(900*us, 1*us, "s") // of a switch a is half of the way: 1032
	c := run("h0", "h1", "h2", "h3")
	c.Network = &params.Network{Packets: params.Unknown}
	c.Parameters["a_c"] = params.Parameter{Status: params.StatusBound, Bound: &params.Bound{-2 * us, 2 * us}, Unit: "s"}
	c.Parameters["a"] = params.Parameter{Status: params.StatusInconsistent, Why: "contradicted", Unit: "s"}
	rows := Judge(s, p, c)
	if r := find(t, rows, "a_c"); r.Verdict != Back || r.Otherwise {
		t.Errorf("a_c: %+v", r)
	}
	if r := find(t, rows, "a"); r.Verdict != Undetermined || !r.Otherwise || r.Why != "contradicted" {
		t.Errorf("a: %+v", r)
	}
	if r := find(t, rows, "network"); r.Verdict != Undetermined || !r.Otherwise {
		t.Errorf("network: %+v", r)
	}
	if text := Sentence(rows, 1); !strings.HasPrefix(text, "Inconclusive: 1 of 3 results") ||
		!strings.Contains(text, "otherwise than the run of: a, network.") {
		t.Error(text)
	}
}

// Hosts and pairs come back by their names.
func TestStructure(t *testing.T) {
	s, p := sparc(t, 1)
	s.Overrides = map[int]netspec.Block{2: {A: 1e-3, B: 2e-6}}
	s.Links = []netspec.Link{{Between: [][]int{{0}, {1}}}, {Between: [][]int{{3}, {0}}}}
	c := run("h0", "h1", "h2", "h3")
	c.Pairs = []params.Pair{{From: "h1", To: "h0", Slow: "slow"}}
	c.Findings = []params.Finding{params.Warnf(params.SlowHost, "").About("h3")}
	rows := Judge(s, p, c)
	for name, want := range map[string]Verdict{"host 2": Missed, "host 3": Missed, "pair 0, 1": Back,
		"pair 0, 3": Undetermined} {
		if r := find(t, rows, name); r.Verdict != want {
			t.Errorf("%s is %s, want %s", name, r.Verdict, want)
		}
	}
	again := run("h0", "h1", "h2", "h3")
	again.Findings = []params.Finding{params.Warnf(params.SlowHost, "").About("h2")}
	rows = Confirm(rows, Judge(s, p, again))
	for _, name := range []string{"host 2", "host 3"} {
		if r := find(t, rows, name); r.Verdict != Back || !r.Again {
			t.Errorf("%s, measured again: %+v", name, r)
		}
	}
}

// What is outside once and not twice does not count; what is outside twice does.
func TestConfirm(t *testing.T) {
	s, p := sparc(t, 1)
	first, second := run("h0", "h1", "h2", "h3"), run("h0", "h1", "h2", "h3")
	for c, v := range map[*params.Params][2]float64{first: {900 * us, 360 * us}, second: {860 * us, 365 * us}} {
		c.Parameters["a"], c.Parameters["a_c"], c.Parameters["b_c"] = made(v[0], us, "s"), made(v[1], us, "s"),
			made(0.92*us, 1e-9, "s/B")
	}
	rows := Confirm(Judge(s, p, first), Judge(s, p, second))
	a, ac := find(t, rows, "a"), find(t, rows, "a_c")
	if a.Verdict != Back || !a.Again || *a.Copy != 860*us || ac.Verdict != Missed || *ac.Copy != 365*us {
		t.Errorf("a %+v, a_c %+v", a, ac)
	}
	if text := Sentence(rows, 1); !strings.Contains(text, "1 did not come back: a_c.") ||
		!strings.Contains(text, "back the second time: a.") {
		t.Error(text)
	}
}

func TestAllBack(t *testing.T) {
	s, p := sparc(t, 1)
	if text := Sentence(Judge(s, p, p), 1); !strings.HasPrefix(text, "All 4 results of the copy came back") {
		t.Error(text)
	}
	if text := Sentence(nil, 1); !strings.HasPrefix(text, "Inconclusive: nothing could be judged") {
		t.Error(text)
	}
}
