package names

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// docs/FORMATS.md says what every name means, once, and has no other name.
func TestNamesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/FORMATS.md")
	if err != nil {
		t.Fatal(err)
	}
	for title, c := range map[string]struct {
		column int
		prefix string
	}{"exp": {0, ""}, "phase": {1, "Phase"}, "point": {0, "Factor"}, "aux": {0, "Aux"}} {
		var want []string
		for name, value := range constants(t) {
			if special := slices.ContainsFunc([]string{"Phase", "Factor", "Aux"}, func(p string) bool { return strings.HasPrefix(name, p) }); c.prefix != "" && strings.HasPrefix(name, c.prefix) || c.prefix == "" && !special {
				want = append(want, value)
			}
		}
		slices.Sort(want)
		first := map[string]string{"phase": "exp"}[title]
		if first == "" {
			first = title
		}
		_, table, _ := strings.Cut(string(text), "\n| "+first+" | ")
		table, _, _ = strings.Cut(table, "\n\n")
		var got []string
		rows := strings.Split(table, "\n")[2:]
		slices.Sort(rows)
		if n := len(slices.Compact(slices.Clone(rows))); n != len(rows) {
			t.Errorf("%s: %d rows are there twice", title, len(rows)-n)
		}
		for _, row := range rows {
			if cell := strings.TrimSpace(strings.Split(row, "|")[c.column+1]); cell != "" {
				got = append(got, cell)
			}
		}
		slices.Sort(got)
		if title == "exp" || title == "phase" {
			got = slices.Compact(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: docs/FORMATS.md has %v, the package %v", title, got, want)
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
