package glossary

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/reference/glossary.md")

func TestLookup(t *testing.T) {
	for name, want := range map[string]string{"a_c": "a_c", "b_connections_2": "b_connections_2", "C_n_16KiB": "C_n_M",
		"nagle_cost_100B_2w": "nagle_cost_x_ww", "g_s.c0": "g_s", "L": "L", "L_cluster.l0": "L_cluster", "C_n": "C_n",
		"t_tr": "t_tr"} {
		if n, ok := All().Lookup(name); !ok || !slices.Contains(n.Names, want) {
			t.Errorf("%s: %v, %v, want the entry of %s", name, n.Names, ok, want)
		}
	}
	for name, want := range map[string]string{"r_inf": "B/s", "beta": "s/B", "fragment_gain_16KiB": "1", "a_c": "s"} {
		if n, ok := All().Lookup(name); !ok || n.Unit != want {
			t.Errorf("%s: unit %q, want %q", name, n.Unit, want)
		}
	}
	if n, ok := All().Lookup("nothing"); ok {
		t.Errorf("nothing is %v", n)
	}
}

// Every number is in a few sentences, names its unit, and comes from an experiment that the glossary has.
func TestEntries(t *testing.T) {
	g, seen := All(), map[string]bool{}
	for _, n := range g.Numbers {
		if units := strings.Count(n.Unit, ", ") + 1; units > 1 && units != len(n.Names) {
			t.Errorf("%v: %d units", n.Names, units)
		}
		if n.Unit == "" || n.Is == "" || g.Experiments[n.Needs()[0]].How == "" || strings.Count(n.Is, ". ") > 2 {
			t.Errorf("%v: %+v", n.Names, n)
		}
		for _, name := range n.Names {
			if seen[name] {
				t.Errorf("%s stands twice", name)
			}
			seen[name] = true
		}
	}
	for name, e := range g.Experiments {
		if e.Narrow == "" {
			t.Errorf("experiment %s: what narrows its intervals is missing", name)
		}
	}
}

// docs/reference/glossary.md is what glossary.yaml says: go test ./internal/glossary -update writes it.
func TestGlossaryPage(t *testing.T) {
	const path = "../../docs/reference/glossary.md"
	if *update {
		if err := os.WriteFile(path, []byte(page(All())), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != page(All()) {
		t.Errorf("%s is not that of glossary.yaml (%v): run this test with -update", path, err)
	}
}

func page(g Glossary) string {
	var b strings.Builder
	b.WriteString("# What numbers and words mean\n\n`calib explain NAME [RUN]` prints an entry, with the value of a " +
		"run. M stands for a size such as 64KiB.\n" +
		"How experiments measure: [experiments.md](experiments.md).\n" +
		"\n## Numbers\n\n| name | unit | from | what it is | source |\n|---|---|---|---|---|\n")
	for _, n := range g.Numbers {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", strings.Join(n.Names, "`, `"), n.Unit, n.From, n.Is, n.Source)
	}
	b.WriteString("\n## Words\n\n| word | what it means |\n|---|---|\n")
	for _, word := range slices.Sorted(maps.Keys(g.Words)) {
		fmt.Fprintf(&b, "| %s | %s |\n", word, g.Words[word])
	}
	return b.String()
}
