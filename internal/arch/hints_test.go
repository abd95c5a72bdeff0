package arch

import (
	"go/ast"
	"go/token"
	"regexp"
	"testing"
)

// unfinished is a command that a user is told to run and that says neither on which hosts nor all of the rest.
var unfinished = regexp.MustCompile(`calib [a-z]+[^.;:]* …|calib run --(only|plan|sizes|budget|congestion|keep)`)

// A command that calib prints is one that works as it is printed.
func TestCommandsAreWhole(t *testing.T) {
	for _, f := range parsed(t) {
		if f.test || f.pkg == "internal/benchcmp" { // its labels say what was measured
			continue
		}
		ast.Inspect(f.file, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && unfinished.MatchString(text.Value) {
				t.Errorf("%s prints %s: not a whole command (params.Measure makes one)", f.pkg, text.Value)
			}
			return true
		})
	}
}
