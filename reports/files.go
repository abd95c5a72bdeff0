package reports

import (
	"path/filepath"
	"strings"

	"calib/internal/params"
)

// runFiles are the files of a run directory, and what is in them.
var runFiles = [][2]string{
	{"params.json", "the parameters, for programs"},
	{"report.html", "the report with figures, for a browser; it needs no network"},
	{"report.txt", "the whole report as text, with residuals per size"},
	{"samples.jsonl", "every raw timing"},
	{"run.json", "plan, seed, hosts and environment of the run"},
	{"log.jsonl", "what happened when"},
}

// FilesOf returns the files of the run in dir, and the commands that fit its result.
func FilesOf(p *params.Params, dir string) (files Grid, next []string) {
	dir = Clean(dir)
	files = newGrid(Column{"file", KindCode}, Column{"what is in it", KindWords})
	for _, f := range runFiles {
		files.add(filepath.Join(dir, f[0]), f[1])
	}
	return files, nextOf(p, dir)
}

// ShellWord quotes s for a shell where that is needed.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_./:@%+,=", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
