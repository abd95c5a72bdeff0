package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/PAPERS.md")

// root is the project's, from here.
const root = "../.."

// docs/PAPERS.md is what the formulas and the stored measurements give.
func TestDocument(t *testing.T) {
	got, err := write(root)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, document)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s is not what the formulas and the stored measurements give; go test ./internal/papers -update rewrites it:\n%s", document, d)
	}
}

func built(t *testing.T) []paper {
	t.Helper()
	m, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	all, err := papers(root, m)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A difference above the paper's own error has a cause, and what cannot be rebuilt has a reason.
func TestCauses(t *testing.T) {
	for _, p := range built(t) {
		for _, r := range p.rows {
			if r.place == "" || r.what == "" || r.how == "" || r.paper.text == "" || math.IsNaN(r.ours.value) {
				t.Errorf("%s: %+v", p.title, r)
			}
			if !r.holds() && r.cause == "" {
				t.Errorf("%s, %s, %s: ours is %g, the paper has %g (± %g of it), and no cause is given", p.title, r.place, r.what, r.ours.value, r.paper.value, r.paper.within)
			}
		}
		for _, m := range p.missing {
			if m.place == "" || m.shows == "" || m.why == "" {
				t.Errorf("%s: %+v", p.title, m)
			}
		}
	}
}

// Every number of published.json stands in a row, with that value, or among those that cannot be rebuilt.
func TestPublishedNumbers(t *testing.T) {
	text, err := os.ReadFile("testdata/published.json")
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(text, &tree); err != nil {
		t.Fatal(err)
	}
	published := leaves("", tree)
	held := map[string]bool{}
	for _, p := range built(t) {
		for _, r := range p.rows {
			if r.golden == "" {
				continue
			}
			held[r.golden] = true
			want, there := published[r.golden]
			if !there {
				t.Errorf("%s, %s: published.json has no %s", r.place, r.what, r.golden)
			}
			if v, isNumber := want.(float64); isNumber && !near(v, r.paper.value) && !near(v, r.paper.value/r.paper.unit.scale) {
				t.Errorf("%s, %s: the row has %s, published.json %g", r.place, r.what, r.paper.text, v)
			}
		}
		for _, m := range p.missing {
			for _, key := range m.golden {
				held[key] = true
				if v, isNumber := published[key].(float64); !isNumber || v != 0 && !strings.Contains(m.shows, strconv.FormatFloat(v, 'g', -1, 64)) &&
					!strings.Contains(m.shows, strconv.FormatFloat(100*v, 'g', -1, 64)) {
					t.Errorf("%s: %q does not show %s = %v", m.place, m.shows, key, published[key])
				}
			}
		}
	}
	for key := range published {
		if !held[key] {
			t.Errorf("%s = %v stands nowhere", key, published[key])
		}
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(a) }

// leaves are the facts of a JSON document by path, without sources, notes and the arguments of examples.
func leaves(path string, v any) map[string]any {
	out := map[string]any{}
	add := func(key string, v any) {
		if key == "source" || strings.HasSuffix(key, "note") || key == "blocks" {
			return
		}
		for k, leaf := range leaves(strings.TrimPrefix(path+"."+key, "."), v) {
			out[k] = leaf
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for key, w := range v {
			add(key, w)
		}
	case []any:
		for i, w := range v {
			add(fmt.Sprint(i), w)
		}
	default:
		out[path] = v
	}
	return out
}

// Every figure and table of the papers stands in a row or among those that cannot be rebuilt.
func TestEveryFigure(t *testing.T) {
	counts := []struct{ figures, tables int }{{21, 0}, {5, 1}, {24, 2}, {11, 4}}
	numbers := regexp.MustCompile(`(?:Figures?|Tables?) [0-9., and]*`)
	single := regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)
	for i, p := range built(t) {
		seen := map[string]bool{}
		var places []string
		for _, r := range p.rows {
			places = append(places, r.place)
		}
		for _, m := range p.missing {
			places = append(places, m.place)
		}
		for _, place := range places {
			for _, found := range numbers.FindAllString(place, -1) {
				for _, n := range single.FindAllString(found, -1) {
					whole, _, _ := strings.Cut(n, ".") // figure 9.1
					seen[found[:1]+whole] = true
				}
			}
		}
		for _, kind := range []struct {
			letter string
			count  int
		}{{"F", counts[i].figures}, {"T", counts[i].tables}} {
			for n := 1; n <= kind.count; n++ {
				if !seen[kind.letter+strconv.Itoa(n)] {
					t.Errorf("%s: %s%d stands nowhere", p.title, kind.letter, n)
				}
			}
		}
	}
}

// Numbers keep the precision that they are printed with.
func TestStated(t *testing.T) {
	for _, c := range []struct {
		s      stated
		value  float64
		within float64
	}{
		{num("859.52", us), 859.52e-6, 0.005 / 859.52},
		{num("925,480", us), 0.92548, 0.5 / 925480},
		{num("0.0796", usByte), 0.0796e-6, 0.00005 / 0.0796},
		{num("3", plain).of("a + b"), 3, 0.5 / 3},
		{num("12", plain).about(0.1), 12, 0.1},
		{atMost("8"), 0.08, 0.005},
	} {
		if !near(c.s.value, c.value) || !near(c.s.within, c.within) {
			t.Errorf("%s: %g within %g, want %g within %g", c.s.text, c.s.value, c.s.within, c.value, c.within)
		}
	}
	r := row{paper: num("0.88", plain), ours: computed(0.884)}
	if !r.holds() || r.difference() != "+0.45%" {
		t.Errorf("0.884 is 0.88 as printed: %s", r.difference())
	}
	r.ours.value = 0.9
	if r.holds() || r.difference() != "**+2.27%**" {
		t.Errorf("0.9 is not 0.88: %s", r.difference())
	}
	r = row{paper: atMost("8"), ours: got{value: 0.05}}
	if !r.holds() || r.difference() != "no larger" {
		t.Errorf("5%% is below 8%%: %s", r.difference())
	}
	r.ours.value = 0.12
	if r.holds() || r.difference() != "**4 points above**" {
		t.Errorf("12%% is above 8%%: %s", r.difference())
	}
}
