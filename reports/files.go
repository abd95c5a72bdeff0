package reports

import (
	"path/filepath"
	"slices"
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

// FilesOf returns the files of the run in dir, and what is worth doing with this result.
func FilesOf(p *params.Params, dir string) (files, next Grid) {
	dir = Clean(dir)
	files = newGrid(Column{"file", KindCode}, Column{"what is in it", KindWords})
	for _, f := range runFiles {
		files.add(filepath.Join(dir, f[0]), f[1])
	}
	next = newGrid(Column{"next", KindCode}, Column{"why", KindWords})
	next.add("calib report "+ShellWord(dir), "read the whole report")
	next.add("calib fit "+ShellWord(dir), "fit again from the same samples, offline: the same bytes come back")
	if p.Run.Plan == "quick" {
		next.add(params.RunCommand+" --plan standard", "narrower intervals than the quick plan gives")
	}
	if _, has := p.Parameters["B_L"]; !has && p.Functions["g_r"].Form != "" {
		next.add(params.MeasureCommand("flood", "gap"), "how many packets a port holds; it overflows one to see, so packets are lost")
	}
	if len(slowHosts(p.Pairs)) > 0 || slices.ContainsFunc(p.Findings, func(f params.Finding) bool { return f.Code == params.SlowHost }) {
		next.add(params.MeasureCommand("pingpong"), "see whether the slow host stays slow")
	}
	return files, next
}

// shortFiles only names the files.
func (p *page) shortFiles(ps *params.Params) {
	_, next := FilesOf(ps, p.Dir)
	var names []string
	for _, f := range runFiles {
		names = append(names, f[0])
	}
	p.line(2, "files in %s: %s", Clean(p.Dir), strings.Join(names, ", "))
	p.WriteByte('\n')
	p.write(next)
}

func (p *page) files(ps *params.Params) {
	files, next := FilesOf(ps, p.Dir)
	p.write(files)
	p.WriteByte('\n')
	p.write(next)
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
