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

	"calib/internal/glossary"
	"calib/params"
)

// Every code and every quantity is in formats.yaml of package glossary, with a meaning, and is used by a model, by
// package fit, by the codec or by a command. A code that is used once has no constant.
func TestCodesAndQuantities(t *testing.T) {
	source := constants(t)
	used := productSource(t)
	for _, m := range regexp.MustCompile(`(?:Warnf|Notef|Warn|Note)\("([a-z0-9-]+)"`).FindAllStringSubmatch(used, -1) {
		source["Code"][m[1]] = m[1]
	}
	known := map[string]map[string]string{"Code": {}, "Quantity": {}}
	for code, f := range glossary.Files().Findings {
		known["Code"][code] = f.Is
		for _, level := range f.Levels {
			if level != string(params.Warning) && level != string(params.Note) {
				t.Errorf("%s: level %q", code, level)
			}
		}
	}
	for quantity, q := range glossary.Files().Quantities {
		known["Quantity"][quantity] = q.Is
	}
	for kind, meaning := range known {
		if len(source[kind]) == 0 || len(meaning) != len(source[kind]) {
			t.Errorf("%d values of type %s, %d in formats.yaml", len(source[kind]), kind, len(meaning))
		}
		for name, value := range source[kind] {
			if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(value) {
				t.Errorf("%s is %q: want words in lower case joined by hyphens", name, value)
			}
			if is := meaning[value]; len(is) < 10 || strings.HasSuffix(is, ".") {
				t.Errorf("%s (%s): %q in formats.yaml", name, value, is)
			}
			if !regexp.MustCompile(`\b` + name + `\b`).MatchString(used) {
				t.Errorf("%s is used by no model, no command and not by the codec", name)
			}
		}
	}
}

// constants lists the string constants of package params by type and name.
func constants(t *testing.T) map[string]map[string]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../params/codes.go", nil, 0)
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
	for _, root := range []string{"../../fit", "../../params", "../../predict", "../../run", "../../cmd"} {
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
