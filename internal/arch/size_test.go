package arch

import (
	"go/ast"
	"testing"
)

// A file below maxFile lines and a function below maxFunc can be read at one sitting.
const (
	maxFile = 300
	maxFunc = 60
)

func TestSizes(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || f.made {
			continue
		}
		if f.lines >= maxFile {
			t.Errorf("%s: %d lines, want fewer than %d: a file has one reason to change; split it", f.path, f.lines, maxFile)
		}
		for _, d := range f.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := f.fset.Position(fn.Pos()).Line, f.fset.Position(fn.End()).Line
			if n := to - from + 1; n >= maxFunc {
				t.Errorf("%s:%d: %s has %d lines, want fewer than %d: name its parts", f.path, from, fn.Name.Name, n, maxFunc)
			}
		}
	}
}

// TestNoInit: what exists is listed where it is used, in a slice that a reader can follow.
func TestNoInit(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || f.made {
			continue
		}
		for _, d := range f.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s:%d: init runs behind the reader's back: register in an explicit slice", f.path, f.fset.Position(fn.Pos()).Line)
			}
		}
	}
}
