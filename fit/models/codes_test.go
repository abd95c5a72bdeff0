package models

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every code and every quantity is in its table of docs/FORMATS.md, with a meaning, and is used by a model, by package fit,
// by the codec or by a command. A code that is used once has no constant.
func TestCodesAndQuantities(t *testing.T) {
	source := constants(t)
	used := productSource(t)
	for _, m := range regexp.MustCompile(`(?:Warnf|Notef|Warn|Note)\("([a-z0-9-]+)"`).FindAllStringSubmatch(used, -1) {
		source["Code"][m[1]] = m[1]
	}
	for kind, title := range map[string]string{"Code": "code", "Quantity": "quantity"} {
		rows := documented(t, title)
		if len(source[kind]) == 0 || len(rows) != len(source[kind]) {
			t.Errorf("%d values of type %s, %d rows in the table", len(source[kind]), kind, len(rows))
		}
		for name, value := range source[kind] {
			if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(value) {
				t.Errorf("%s is %q: want words in lower case joined by hyphens", name, value)
			}
			if row := documentedAs(t, title, value); len(row) == 0 || len(row[len(row)-1]) < 10 || strings.HasSuffix(row[len(row)-1], ".") {
				t.Errorf("%s (%s): row %q of docs/FORMATS.md", name, value, row)
			}
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(used) {
				t.Errorf("%s is used by no model, no command and not by the codec", name)
			}
		}
	}
	for _, row := range documented(t, "code") {
		if levels := row[1]; levels != "warning" && levels != "note" && levels != "warning, note" {
			t.Errorf("%s: levels %q", row[0], levels)
		}
	}
}

// constants lists the string constants of package params by type and name.
func constants(t *testing.T) map[string]map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../internal/params/codes.go", nil, 0)
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
	for _, root := range []string{"../../fit", "../../internal/params", "../../predict", "../../run", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case e.IsDir() && e.Name() == "testdata":
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
