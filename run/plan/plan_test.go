package plan

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"calib/internal/units"

	"calib/bench"
)

func TestParse(t *testing.T) {
	standard, err := Builtin(Standard)
	if err != nil {
		t.Fatal(err)
	}
	for text, change := range map[string]func(*Plan){
		"experiments: [pingpong]\n": func(p *Plan) { p.Experiments, p.Chosen = []string{"pingpong"}, true },
		"name: x\nmax_bytes: 4096\nsizes: 64\n": func(p *Plan) {
			p.Name, p.Limits.MaxBytes, p.Limits.Sizes = "x", 4096, []units.Bytes{64}
		},
		"rounds: {max: 7}\nseed: 18446744073709551615": func(p *Plan) { p.Rounds.Max, p.Seed = 7, 1<<64-1 },
		"budget: 1h30m\nisolate: true\nall_pairs: true\neffort: 0.5\ntarget: 0.1": func(p *Plan) {
			p.Budget, p.Isolate, p.Limits.Effort, p.Target = 5400*units.Second, true, 0.5, 0.1
			p.Limits.Pairs = bench.AllPairs
		},
	} {
		want := standard
		want.Name = "f"
		change(&want)
		got, err := Parse([]byte(text), "f")
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%q: %v (-want +got):\n%s", text, err, d)
		}
	}
}

func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "plan f: the file is empty",
		" \n":                       "the file is empty",
		"name: x\nround: 3\n":       `[2:1] unknown field "round"`,
		"rounds: {min: 1, most: 2}": `unknown field "most"`,
		"rounds: many":              "[1:9]",
		"name: [":                   "[1:7]",
		"seed: -1":                  "[1:7]",
		"effort: high":              "[1:9]",
		"seed: 1\nseed: 2":          `[2:1] mapping key "seed" already defined`,
		"sizes: 1,x":                `sizes: size "x": want digits`,
		"max_bytes: huge":           `max_bytes: size "huge": want digits`,
		"budget: 5":                 `budget: "5": want a time such as 90s, 5m or 1h30m`,
		"budget: soon":              `budget: "soon": want a time`,
		"pairs: square":             `pairs "square": want all, ring or random:K`,
	} {
		_, err := Parse([]byte(text), "f")
		if !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	missing := filepath.Join(t.TempDir(), "no.yaml")
	_, err := Load(missing)
	if !errors.Is(err, ErrPlan) || !errors.Is(err, os.ErrNotExist) ||
		!strings.Contains(err.Error(), "quick, standard, full") {
		t.Errorf("missing file: %v", err)
	}
}

func TestValidate(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		`no experiment "pong" (have pairs, all, some)`: func(p *Plan) { p.Experiments = []string{"pong"} },
		`"all" is listed twice`:                        func(p *Plan) { p.Experiments = []string{"all", "all"} },
		`rounds: min 0, max 20`:                        func(p *Plan) { p.Rounds.Min = 0 },
		`rounds: min 6, max 5`:                         func(p *Plan) { p.Rounds.Max = 5 },
		`rounds: min 6, max 10001`:                     func(p *Plan) { p.Rounds.Max = maxRounds + 1 },
		`target: 1:`:                                   func(p *Plan) { p.Target = 1 },
		`target: -0.1:`:                                func(p *Plan) { p.Target = -0.1 },
		`budget: -1 s:`:                                func(p *Plan) { p.Budget = -units.Second },
		`effort: -1:`:                                  func(p *Plan) { p.Limits.Effort = -1 },
		`max_bytes: -1:`:                               func(p *Plan) { p.Limits.MaxBytes = -1 },
		`sizes: [0B 5B]:`:                              func(p *Plan) { p.Limits.Sizes = []units.Bytes{0, 5} },
		`sizes: [5B 1B]:`:                              func(p *Plan) { p.Limits.Sizes = []units.Bytes{5, 1} },
	} {
		p := testPlan()
		change(&p)
		err := p.Validate(fakes())
		if !errors.Is(err, ErrPlan) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := testPlan().Validate(fakes()); err != nil {
		t.Error(err)
	}
	if err := (Plan{}).Validate(nil); err == nil {
		t.Error("the zero plan is valid")
	}
}

// TestPlanJSON: run.json gives back the plan that was run.
func TestPlanJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := func(what string, lo, hi int64) int64 { return rapid.Int64Range(lo, hi).Draw(t, what) }
		want := Plan{
			Name: rapid.String().Draw(t, "name"),
			Limits: bench.Limits{
				MaxBytes: units.Bytes(n("max", 0, 1<<40)),
				Pairs:    rapid.SampledFrom([]bench.Pairs{0, bench.Ring, 3, bench.AllPairs}).Draw(t, "pairs"),
				Effort:   bench.Effort(n("effort", 0, 100)) / 7,
			},
			Rounds: Rounds{int(n("min", 1, 9)), int(n("most", 1, 99))}, Target: 0.03,
			Budget: units.Nanos(n("budget", 0, 1<<60)), Isolate: rapid.Bool().Draw(t, "isolate"),
			Seed: rapid.Uint64().Draw(t, "seed"),
		}
		for x := n("size", 0, 9); x > 0 && x < 1<<40; x *= n("factor", 2, 999) {
			want.Limits.Sizes = append(want.Limits.Sizes, units.Bytes(x))
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got Plan
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%s (-want +got):\n%s", text, d)
		}
	})
	var p Plan
	if err := json.Unmarshal([]byte(`{"name":"x","budget":"never"}`), &p); err == nil {
		t.Error("a budget that is none was read")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("name: x\nrounds: {min: 1, max: 2}\nsizes: 1..8\nbudget: 5m")
	f.Add("a: &a [*a]")
	f.Add("? \n- :")
	f.Add("experiments: !00000000000 000")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse([]byte(text), "f")
		if err != nil {
			return
		}
		_ = p.Validate(nil)
		again, err := json.Marshal(p)
		if err != nil {
			return // a NaN in the file: Validate has said so
		}
		var back Plan
		if err := json.Unmarshal(again, &back); err != nil {
			t.Fatalf("%s: %v", again, err)
		}
	})
}

// A plan keeps the segment that its schedule was made with, so that a resumed run has the same.
func TestPlanKeepsTheSegment(t *testing.T) {
	p, err := Builtin(Standard)
	if err != nil {
		t.Fatal(err)
	}
	p.Limits.Segment = 8948
	text, err := p.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var q Plan
	if err := q.UnmarshalJSON(text); err != nil || q.Limits.Segment != 8948 {
		t.Errorf("%v: %s gives %d", err, text, q.Limits.Segment)
	}
	p.Limits.Segment = 70_000
	if err := p.Validate(nil); err == nil {
		t.Error("a segment above a packet is accepted")
	}
}
