package arch

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is how long a line of Go may be, but for texts between backquotes.
const maxColumns = 120

// TestColumns: who reads two files side by side scrolls neither.
func TestColumns(t *testing.T) {
	for _, f := range parsed(t) {
		quoted := map[int]bool{} // lines
		ast.Inspect(f.file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && strings.HasPrefix(text.Value, "`") {
				for l := f.fset.Position(text.Pos()).Line; l <= f.fset.Position(text.End()).Line; l++ {
					quoted[l] = true
				}
			}
			return true
		})
		text, err := os.ReadFile(filepath.Join("..", "..", f.path))
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if n := utf8.RuneCountInString(line); n > maxColumns && !quoted[i+1] && !f.made {
				t.Errorf("%s:%d has %d characters: at most %d", f.path, i+1, n, maxColumns)
			}
		}
	}
}
