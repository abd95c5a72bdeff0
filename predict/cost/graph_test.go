package cost

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"calib/params"
)

const dir = "../../examples/graphs/"

func load(t *testing.T, name string) Reduced {
	t.Helper()
	g, err := LoadGraph(dir+name+".yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return g.Reduce()
}

// The paper's own examples, section 2 and 3, with its parameters of section 4.
func TestPaper(t *testing.T) {
	const aW, bW, aC, bC, aL = 859.52e-6, 1.42e-6, 345.6e-6, 0.92e-6, 16e-6
	for _, c := range []struct {
		name  string
		a, b  float64
		rules string
	}{
		{"workstation", 550e-6, 0.9e-6, "1 1"},
		{"parallel", 2, 2, "2"},
		{"three-messages", aW + 3*aC + 2*aW, max(bW, bC*3500/1000, bW*1500/1000), "3 3 1"},
		{"broadcast-tree", 8*aW + 3*aC + 3*aL, 2*max(bC, bW) + max(2*bC, bW) + 2*max(3*bC, bW), "1 1 1 1 3 1 3 1 3 1 1 1 4"},
		{"global-operation", 19*aW + 4*aC + 4*aL, 19*bW + 4*bC, "1 1 1"},
	} {
		r := load(t, c.name)
		near(t, c.name+": a", r.Path.A, c.a)
		near(t, c.name+": b", r.Path.B, c.b)
		var rules []string
		for _, s := range r.Steps {
			rules = append(rules, string(rune('0'+s.Rule)))
			if s.String() == "" || s.Result == "" {
				t.Errorf("%s: %+v", c.name, s)
			}
		}
		if got := strings.Join(rules, " "); got != c.rules {
			t.Errorf("%s: rules %s, want %s", c.name, got, c.rules)
		}
	}
}

// Every example is a graph, and every file in the folder is in TestPaper.
func TestExamples(t *testing.T) {
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 5 {
		t.Fatalf("%d examples (%v), want the 5 of TestPaper", len(files), err)
	}
}

// Figure 8: short messages cost the blocks at the ends, long ones what their primitives wait for.
func TestTimes(t *testing.T) {
	r := load(t, "three-messages")
	short, long := r.Times(0), r.Times(1e9)
	near(t, "T_c of no bytes", short.Communication, r.Path.A)
	near(t, "T_s of no bytes", short.Ends.Send, r.First.A)
	near(t, "T_s of no bytes, not preemptive", short.Ends.SendBlocking, r.First.A)
	near(t, "T_r of no bytes", short.Ends.Receive, r.Last.A)
	for what, c := range map[string][2]float64{
		"T_c": {long.Communication, r.Path.B}, "T_s": {long.Ends.Send, r.First.B},
		"T_s, not preemptive": {long.Ends.SendBlocking, r.Path.B},
		"T_r":                 {long.Ends.Receive, r.Last.B}, "T_r, not preemptive": {long.Ends.ReceiveBlocking, r.Path.B},
	} {
		if got := c[0] / 1e9; math.Abs(got/c[1]-1) > 1e-5 {
			t.Errorf("%s of long messages takes %g s/B, want %g", what, got, c[1])
		}
	}
	if load(t, "broadcast-tree").Times(1).Ends != nil {
		t.Error("a broadcast has no single sender and receiver")
	}
}

// T_s and T_r are never above T_c, and a preemptive primitive never takes longer than one that is not.
func TestTimesInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) node {
			return node{name: name, Block: params.Block{
				A: rapid.Float64Range(0, 1).Draw(t, name+".a"), B: rapid.Float64Range(0, 1e-3).Draw(t, name+".b")}}
		}
		r := (&Graph{Path: &node{Serial: []node{draw("first"), draw("network"), draw("last")}}}).Reduce()
		v := r.Times(rapid.Float64Range(0, 1e7).Draw(t, "bytes"))
		const slack = 1 + 1e-9
		if v.Ends.Send > v.Ends.SendBlocking*slack || v.Ends.Receive > v.Ends.ReceiveBlocking*slack ||
			v.Ends.SendBlocking > v.Communication*slack || v.Ends.ReceiveBlocking > v.Communication*slack {
			t.Fatalf("%+v %+v", v, v.Ends)
		}
	})
}

// What a parameter file knows may be used by name, and the file's own blocks come first.
func TestKnownBlocks(t *testing.T) {
	known := map[string]params.Block{"host": {A: 1, B: 2}, "network": {A: 3, B: 4}}
	g, err := parseGraph([]byte("blocks: {network: {a: 5, b: 6}}\npath: {serial: [host, network]}\n"), known)
	if err != nil {
		t.Fatal(err)
	}
	if got := g.Reduce().Path; got != (params.Block{A: 6, B: 6}) || known["network"].A != 3 {
		t.Errorf("%+v, known %+v", got, known)
	}
}

func TestErrors(t *testing.T) {
	const head = "blocks: {x: {a: 1, b: 1}}\nmessages: {m: 10, n: 5}\nmessage: m\n"
	for text, want := range map[string]string{
		"":                                   "want path",
		"paht: x\n":                          "paht",
		head + "path: y\n":                   `path: no block "y" (have x)`,
		head + "path: {serial: []}\n":        "path.serial: want a list",
		head + "path: {serial: [x, y]}\n":    `path.serial[1]: no block "y"`,
		head + "path: 5\n":                   `path: no block "5"`,
		head + "path: {serial: [x], n: 1}\n": `unknown field "n"`,
		head + "path: {serial: [x], dependent: 3}\n":                         `"3" where true or false belongs`,
		head + "path: {serial: [x], times: 1.5}\n":                           "times: 1.5, want a whole number",
		head + "path: {serial: [{serial: [x], times: 101}], times: 100}\n":   "path.serial[0].serial: times: 101, want",
		head + "path: {serial: [x], parallel: [x]}\n":                        "path: want the name of a block",
		head + "path: {concurrent: x}\n":                                     `want a list with "m" in it`,
		head + "path: {concurrent: x, messages: [n]}\n":                      `want a list with "m" in it`,
		head + "path: {concurrent: x, messages: [m, o]}\n":                   `no message "o" (have m, n)`,
		head + "path: {concurrent: x, messages: [m, m]}\n":                   "named twice",
		head + "path: {a: 1, c: 2}\n":                                        `unknown field "c"`,
		head + "path: {a: -1, b: 2}\n":                                       "not a communication block",
		head + "small: x\n":                                                  "want path, or both small and large",
		head + "path: x\nsmall: x\nlarge: x\n":                               "want path, or both small and large",
		"blocks: {x: {a: -1, b: 1}}\npath: x\n":                              "blocks: x: ",
		"blocks: {x: {a: 1, b: 1}}\nmessages: {m: 0}\nmessage: m\npath: x\n": "messages: m: 0 B",
		"blocks: {x: {a: 1, b: 1}}\nmessages: {m: 1}\npath: x\n":             `message: "", want one of messages (m)`,
	} {
		if _, err := parseGraph([]byte(text), nil); !errors.Is(err, ErrGraph) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// Whatever Parse accepts can be reduced to a block.
func FuzzParse(f *testing.F) {
	files, err := os.ReadDir(dir)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range files {
		text, err := os.ReadFile(dir + e.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		g, err := parseGraph(text, nil)
		if err != nil {
			return
		}
		if r := g.Reduce(); r.Path.A < 0 || r.Path.B < 0 {
			t.Errorf("%+v", r)
		}
	})
}
