package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// listed is what go list says of one package.
type listed struct {
	ImportPath string
	Imports    []string
}

// dependencies returns the whole import graph below the packages, the standard library included.
func dependencies(t *testing.T, goos string, patterns ...string) map[string][]string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list", "-e", "-deps", "-json=ImportPath,Imports"},
		patterns...)...)
	cmd.Env = append(cmd.Environ(), "GOOS="+goos, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%s: %v: %s", cmd, err, exit.Stderr)
		}
		t.Fatalf("%s: %v", cmd, err)
	}
	graph := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return graph
		} else if err != nil {
			t.Fatal(err)
		}
		graph[p.ImportPath] = p.Imports
	}
}

// route returns the shortest chain of imports from a package to another; nil where there is none.
func route(graph map[string][]string, from, to string) []string {
	parent := map[string]string{from: ""}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			var chain []string
			for at := to; at != ""; at = parent[at] {
				chain = append(chain, at)
			}
			slices.Reverse(chain)
			return chain
		}
		for _, next := range graph[queue[0]] {
			if _, seen := parent[next]; !seen {
				parent[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// TestReach: what is offline stays offline, and what reads files does without what makes them, through every library
// used.
func TestReach(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		var patterns []string
		for pkg := range never() {
			patterns = append(patterns, module+"/"+pkg)
		}
		graph := dependencies(t, goos, patterns...)
		for pkg, targets := range never() {
			if len(graph[module+"/"+pkg]) == 0 {
				t.Errorf("%s: go list found no imports of %s", goos, pkg)
			}
			for _, to := range targets {
				if chain := route(graph, module+"/"+pkg, to); chain != nil {
					t.Errorf("%s: %s must not reach %s, as never says; it does by %s", goos, pkg, to, strings.Join(chain, " → "))
				}
			}
		}
	}
}

func TestRoute(t *testing.T) {
	graph := map[string][]string{"a": {"b", "c"}, "b": {"d", "a"}, "c": {"e"}, "d": {"e"}}
	if got := strings.Join(route(graph, "a", "e"), " "); got != "a c e" {
		t.Errorf("a to e: %q", got)
	}
	if got := route(graph, "e", "a"); got != nil {
		t.Errorf("e to a: %v", got)
	}
}
