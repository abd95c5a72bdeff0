package params_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"calib/fit/fittest"
	"calib/internal/params"
)

// Every constant of a code and of a quantity is in its table once, with a meaning, and is used by a model, by package
// fit, by the codec or by a command.
func TestCodesAndQuantities(t *testing.T) {
	source := constants(t)
	used := productSource(t)
	for _, kind := range []struct {
		name string
		rows map[string]string // meaning by value
		n    int
	}{
		{"Code", meanings(fittest.Codes, func(m fittest.CodeMeaning) (string, string) { return string(m.Code), m.Meaning }), len(fittest.Codes)},
		{"Quantity", meanings(fittest.Quantities, func(m fittest.QuantityMeaning) (string, string) { return string(m.Quantity), m.Meaning }),
			len(fittest.Quantities)},
	} {
		if len(source[kind.name]) == 0 || len(kind.rows) != len(source[kind.name]) || kind.n != len(kind.rows) {
			t.Errorf("%d constants of type %s, %d rows in the table, %d of them different", len(source[kind.name]), kind.name, kind.n,
				len(kind.rows))
		}
		for name, value := range source[kind.name] {
			if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(value) {
				t.Errorf("%s is %q: want words in lower case joined by hyphens", name, value)
			}
			if m := kind.rows[value]; len(m) < 10 || strings.HasSuffix(m, ".") || strings.Contains(m, "|") {
				t.Errorf("%s (%s): meaning %q", name, value, m)
			}
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(used) {
				t.Errorf("%s is used by no model, no command and not by the codec", name)
			}
		}
	}
	for _, m := range fittest.Codes {
		if len(m.Levels) == 0 || len(slices.Compact(slices.Clone(m.Levels))) != len(m.Levels) {
			t.Errorf("%s: levels %v", m.Code, m.Levels)
		}
		for _, l := range m.Levels {
			if l != params.Warning && l != params.Note {
				t.Errorf("%s: level %q", m.Code, l)
			}
		}
	}
}

func meanings[T any](table []T, row func(T) (value, meaning string)) map[string]string {
	out := map[string]string{}
	for _, m := range table {
		value, meaning := row(m)
		out[value] = meaning
	}
	return out
}

// constants lists the string constants of this package by type and name.
func constants(t *testing.T) map[string]map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || v.Type == nil || len(v.Values) != 1 {
			return true
		}
		kind, isIdent := v.Type.(*ast.Ident)
		text, isText := v.Values[0].(*ast.BasicLit)
		if isIdent && isText && text.Kind == token.STRING {
			if out[kind.Name] == nil {
				out[kind.Name] = map[string]string{}
			}
			out[kind.Name][v.Names[0].Name] = strings.Trim(text.Value, `"`)
		}
		return true
	})
	return out
}

// productSource is the text of what records findings and series: package fit and those below it, and the commands;
// without tests, fixtures and the tables themselves.
func productSource(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, root := range []string{"../../fit", ".", "../../predict", "../../run", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && (e.Name() == "fittest" || e.Name() == "testdata"):
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || e.Name() == "codes.go":
				return nil
			}
			text, err := os.ReadFile(path)
			b.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// docs/FORMATS.md holds the tables as they are.
func TestFormatsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/FORMATS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range strings.Split(fittest.Markdown(), "\n\n") {
		if !strings.Contains(string(text), strings.TrimSpace(table)) {
			t.Errorf("docs/FORMATS.md does not hold this table as it is; write it there:\n%s", table)
		}
	}
	if !strings.Contains(string(text), "`"+params.Schema+"`") {
		t.Errorf("docs/FORMATS.md does not name %s", params.Schema)
	}
}
