// Package arch keeps calib's shape in tests: who may import whom, that packages are not wired together behind the
// reader's back, and what a user is told to run. Layers that only a document enforces are gone in a year. A failure
// says which rule, and why there is one.
package arch

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "calib"

// Sizes above which advice is given, in lines.
const (
	maxFile    = 300
	maxFunc    = 60
	maxPackage = 3500
	maxCore    = 2500 // bench and fit: what all experiments and all models share
)

// source is one Go file.
type source struct {
	path  string // from the module's root
	pkg   string // its directory, from the module's root
	lines int
	fset  *token.FileSet
	file  *ast.File
	test  bool
	made  bool // generated
}

var (
	lines  = flag.Bool("lines", false, "print how many lines each package has, without tests and generated code")
	advice = flag.Bool("advice", false, "print the files and functions that may be too long to be read at one sitting")
)

// TestLines prints what make lines and make lint ask for. Both are advice: a long file is cut only where there is a
// seam.
func TestLines(t *testing.T) {
	files := parsed(t)
	if *advice {
		writeAdvice(os.Stdout, files)
	}
	if *lines {
		writeLines(os.Stdout, files)
	}
}

// writeLines prints the product's lines by package, and those of packages that only tests use.
func writeLines(w io.Writer, files []source) {
	count, product := map[string]int{}, reached(files)
	for _, f := range files {
		if !f.test && !f.made {
			count[f.pkg] += f.lines
		}
	}
	print := func(of bool, what string) {
		total := 0
		for _, pkg := range slices.Sorted(maps.Keys(count)) {
			if product[pkg] != of {
				continue
			}
			total += count[pkg]
			limit, note := maxPackage, ""
			if pkg == "bench" || pkg == "fit" {
				limit = maxCore
			}
			if count[pkg] > limit {
				note = fmt.Sprintf("  advice: at most %d", limit)
			}
			fmt.Fprintf(w, "%6d  %s%s\n", count[pkg], pkg, note)
		}
		fmt.Fprintf(w, "%6d  %s\n\n", total, what)
	}
	print(true, "lines of the product, without tests and generated code")
	print(false, "lines that only tests use")
}

// reached lists the packages of the product: its commands and all that they import.
func reached(files []source) map[string]bool {
	imports, out := map[string][]string{}, map[string]bool{}
	var next []string
	for _, f := range files {
		if f.test {
			continue
		}
		if f.file.Name.Name == "main" {
			next = append(next, f.pkg)
		}
		for _, spec := range f.file.Imports {
			if pkg, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/"); ours {
				imports[f.pkg] = append(imports[f.pkg], pkg)
			}
		}
	}
	for len(next) > 0 {
		pkg := next[0]
		next = next[1:]
		if !out[pkg] {
			out[pkg] = true
			next = append(next, imports[pkg]...)
		}
	}
	return out
}

// writeAdvice prints the product's files and functions that are long.
func writeAdvice(w io.Writer, files []source) {
	for _, f := range files {
		if f.test || f.made {
			continue
		}
		if f.lines > maxFile {
			fmt.Fprintf(w, "advice: %s has %d lines: a file rarely needs more than %d\n", f.path, f.lines, maxFile)
		}
		for _, d := range f.file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := f.fset.Position(fn.Pos()).Line, f.fset.Position(fn.End()).Line
			if n := to - from + 1; n > maxFunc {
				fmt.Fprintf(w, "advice: %s:%d: %s has %d lines: a function rarely needs more than %d\n", f.path, from, fn.Name.Name,
					n, maxFunc)
			}
		}
	}
}

// sources parses every Go file of the module at root, for all systems: build tags hide no import.
func sources(root string) ([]source, error) {
	var out []source
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") ||
			strings.HasPrefix(d.Name(), "_")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		out = append(out, source{
			path: rel, pkg: filepath.ToSlash(filepath.Dir(rel)), lines: strings.Count(string(text), "\n"), fset: fset,
			file: file,
			test: strings.HasSuffix(rel, "_test.go"), made: ast.IsGenerated(file),
		})
		return nil
	})
	if err == nil && len(out) < 20 {
		err = fmt.Errorf("%d Go files found from %s: the walk has lost the module", len(out), root)
	}
	return out, err
}
