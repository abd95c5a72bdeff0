package measuring

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"calib/internal/needs"
)

const prometheusExamples = "../../../../examples/prometheus/"

// expressions are those of the dashboard, with values for its variables, and of its variables.
func expressions(t *testing.T) (out []string) {
	t.Helper()
	text, err := os.ReadFile(prometheusExamples + "dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	type target struct{ Expr string }
	var board struct {
		SchemaVersion int
		Annotations   struct{ List []struct{ Target target } }
		Templating    struct {
			List []struct{ Type, Query any }
		}
		Panels []struct {
			ID      int
			GridPos struct{ X, Y, W, H int }
			Targets []target
		}
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	if board.SchemaVersion < 39 || len(board.Panels) < 10 {
		t.Errorf("schema version %d, %d panels", board.SchemaVersion, len(board.Panels))
	}
	for _, a := range board.Annotations.List {
		out = append(out, a.Target.Expr)
	}
	for _, v := range board.Templating.List {
		if q, ok := v.Query.(map[string]any); ok {
			query, _ := q["query"].(string)
			vector, _, _ := strings.Cut(strings.TrimPrefix(query, "label_values("), ",")
			out = append(out, vector)
		}
	}
	taken, ids := map[[2]int]int{}, map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || len(p.Targets) == 0 {
			t.Errorf("panel %d is there twice, or asks for nothing", p.ID)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := taken[[2]int{x, y}]; other != 0 || x >= 24 {
					t.Fatalf("panels %d and %d overlap, or are too wide", other, p.ID)
				}
				taken[[2]int{x, y}] = p.ID
			}
		}
		for _, q := range p.Targets {
			out = append(out, q.Expr)
		}
	}
	for i, e := range out {
		out[i] = strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*", "$host", ".*").Replace(e)
		if e == "" || strings.Contains(out[i], "$") {
			t.Errorf("expression %q is empty, or has an unknown variable", e)
		}
	}
	return out
}

// namesIn are the names of metrics in an expression: words with a line below, outside of quotes, that are no functions.
func namesIn(expr string) (out []string) {
	expr = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(expr, "")
	for _, m := range regexp.MustCompile(`\b([a-z]+(?:_[a-z0-9]+)+)\b *(\(?)`).FindAllStringSubmatch(expr, -1) {
		if m[2] == "" {
			out = append(out, m[1])
		}
	}
	return out
}

// TestExamplesServed: the dashboard, and the alerts on a watch, ask for nothing that --listen does not serve; and
// Prometheus can read what the dashboard asks for.
func TestExamplesServed(t *testing.T) {
	all := expressions(t)
	families, err := watched(t).gatherer().Gather()
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, f := range families {
		served[f.GetName()] = true
	}
	type rule struct {
		Record string `yaml:"record,omitempty"`
		Expr   string `yaml:"expr"`
	}
	type group struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	}
	type file struct {
		Groups []group `yaml:"groups"`
	}
	board := group{Name: "dashboard"}
	for _, e := range all {
		board.Rules = append(board.Rules, rule{"dashboard:rule", e})
	}
	text, err := os.ReadFile(prometheusExamples + "rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var alerts file
	if err := yaml.Unmarshal(text, &alerts); err != nil {
		t.Fatal(err)
	}
	for _, g := range append(alerts.Groups, board) {
		for _, r := range g.Rules {
			asked := namesIn(r.Expr)
			if len(asked) == 0 {
				t.Errorf("%s: %s asks for nothing", g.Name, r.Expr)
			}
			for _, name := range asked {
				if !served[name] && g.Name != "calib" { // those of a run's file
					t.Errorf("%s: %s is not served, for %s", g.Name, name, r.Expr)
				}
			}
		}
	}
	text, err = yaml.Marshal(file{[]group{board}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(needs.Program(t, "promtool"), "check", "rules", "--lint=none", path).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
