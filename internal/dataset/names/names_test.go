package names

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"calib/internal/glossary"
)

// formats.yaml of package glossary says what every name means, and has no other name.
func TestNamesAreDocumented(t *testing.T) {
	known, want := map[string][]string{}, map[string][]string{}
	for exp, phases := range glossary.Files().Phases {
		known["experiment"] = append(known["experiment"], exp)
		for phase := range phases {
			if phase != "" && !slices.Contains(known["Phase"], phase) {
				known["Phase"] = append(known["Phase"], phase)
			}
		}
	}
	known["Factor"] = slices.Collect(maps.Keys(glossary.Files().Factors))
	known["Aux"] = slices.Collect(maps.Keys(glossary.Files().Aux))
	for name, value := range constants(t) {
		kind := "experiment"
		for _, k := range []string{"Phase", "Factor", "Aux"} {
			if strings.HasPrefix(name, k) {
				kind = k
			}
		}
		want[kind] = append(want[kind], value)
	}
	for kind := range want {
		slices.Sort(known[kind])
		slices.Sort(want[kind])
		if !slices.Equal(known[kind], want[kind]) {
			t.Errorf("%s: formats.yaml has %v, the package %v", kind, known[kind], want[kind])
		}
	}
}

// constants are the names of this package's string constants, and their values.
func constants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			if lit, ok := v.Values[0].(*ast.BasicLit); ok && lit.Kind == token.STRING {
				out[v.Names[0].Name], _ = strconv.Unquote(lit.Value)
			}
		}
		return true
	})
	return out
}
