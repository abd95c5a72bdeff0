//go:build harness

package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCounts counts what people meet: commands, flags, helps, files and pages. -calib names the builds, the old one
// first.
func TestCounts(t *testing.T) {
	p := &table{name: "counts"}
	rows := map[string][]string{}
	var order []string
	for _, calib := range builds(t) {
		p.header += " | " + buildOf(t, calib)
		for _, c := range counted(t, calib) {
			if rows[c.what] == nil {
				order = append(order, c.what)
			}
			rows[c.what] = append(rows[c.what], fmt.Sprint(c.n))
		}
	}
	p.header = "what" + p.header
	for _, what := range order {
		p.add(t, "| "+what+" | "+strings.Join(rows[what], " | ")+" |")
	}
	p.save(t)
}

type count struct {
	what string
	n    int
}

var flagRow = regexp.MustCompile(`(?m)^ +(--[a-z][a-z-]*)`)

func counted(t *testing.T, calib string) []count {
	t.Helper()
	run := func(args ...string) string { return ran(t, append([]string{calib}, args...)...) }
	top, all, helps, widest, flagRows := 0, 0, 0, 0, 0
	flags := map[string]bool{}
	var walk func(path ...string)
	walk = func(path ...string) {
		help := run(append(path, "--help")...)
		for line := range strings.Lines(help) {
			helps++
			widest = max(widest, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
		}
		for _, f := range flagRow.FindAllStringSubmatch(help, -1) {
			flagRows++
			flags[f[1]] = true
		}
		for name := range strings.Lines(run(append(path, "--generate-bash-completion")...)) {
			name, _, _ = strings.Cut(strings.TrimSpace(name), ":")
			if name == "" || name == "help" || strings.HasPrefix(name, "-") {
				continue
			}
			if all++; len(path) == 0 {
				top++
			}
			walk(append(slices.Clone(path), name)...)
		}
	}
	walk()
	dir := filepath.Join(t.TempDir(), "run")
	run("run", "--sim", "sparc1994:8", "--seed", "3", "--quiet", "--out", dir)
	size := func(name string) int {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return int(info.Size() / 1000)
	}
	build := buildOf(t, calib)
	words := func(what ...string) (words, bytes int) {
		list := append([]string{"git", "ls-tree", "-r", "--name-only", build, "--"}, what...)
		for name := range strings.Lines(ran(t, list...)) {
			name = strings.TrimSpace(name)
			if !strings.HasSuffix(name, ".md") || strings.HasPrefix(name, "docs/results/") {
				continue
			}
			text := ran(t, "git", "show", build+":"+name)
			words, bytes = words+len(strings.Fields(text)), bytes+len(text)
		}
		return words, bytes
	}
	readme, readmeBytes := words("README.md")
	docs, docsBytes := words("docs")
	return []count{{"commands at the top", top}, {"commands in all", all}, {"flags by name", len(flags)},
		{"rows of flags in all helps", flagRows}, {"lines of all helps", helps}, {"widest line of a help, columns", widest},
		{"lines of calib run --help", strings.Count(run("run", "--help"), "\n")},
		{"params.json of a standard run of 8 hosts, kB", size("params.json")}, {"its report.html, kB", size("report.html")},
		{"words of README.md", readme}, {"its bytes", readmeBytes}, {"words of docs, without results", docs},
		{"their bytes", docsBytes}}
}
