package arch

import (
	"go/ast"
	"testing"
)

// TestNoInit: what exists is listed where it is used, in a slice that a reader can follow.
func TestNoInit(t *testing.T) {
	for _, f := range parsed(t) {
		if f.test || f.made {
			continue
		}
		for _, d := range f.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s:%d: init runs behind the reader's back: register in an explicit slice", f.path,
					f.fset.Position(fn.Pos()).Line)
			}
		}
	}
}
