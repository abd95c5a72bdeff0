package reports

import (
	"slices"
	"strings"

	"calib/params"
)

// nextOf are the commands that fit the run in dir: at most two.
func nextOf(p *params.Params, dir string) (out []string) {
	slow := len(SlowHosts(p)) > 0 || slices.ContainsFunc(p.Findings, func(f params.Finding) bool {
		return f.Code == params.SlowUplink
	})
	// The hosts of calib lab run are gone with it, and those of another tool's output were never given.
	again := !strings.Contains(p.Run.Where, "$CALIB_LAB_") && !imported(p)
	if slow && again {
		out = append(out, p.Command("check"))
	}
	if p.Run.Plan == "quick" && again {
		out = append(out, p.Command("run")+" --plan standard")
	}
	sends, ok := p.Functions["g_s"] // g_r may be missing: it is then taken to be no limit
	switch name := explainable(p); {
	case dir == "":
	case ok && sends.Usable() && p.Functions["g_r"].Usable() && p.Parameters["packet"].Value != nil && exportable(p):
		out = append(out, "calib export --to simgrid "+ShellWord(dir))
	case name != "":
		out = append(out, "calib explain "+name+" "+ShellWord(dir))
	}
	return out[:min(len(out), 2)]
}

// exportable reports whether SimGrid's platform file has what it needs beside the gaps, and not too many hosts.
func exportable(p *params.Params) bool {
	t, measured := p.Functions["T"]
	q, n := p.Parameters["b_c"], len(p.Run.Hosts)
	return measured && t.Usable() && n <= 512 && (n == 2 || q.Value != nil || q.Bound != nil)
}

// explainable is the first number of p that most would ask about; "" is none.
func explainable(p *params.Params) string {
	names := []string{"a_c", "a_prime", "alpha"}
	if len(p.Run.Hosts) < 4 {
		names = names[1:] // fewer than four hosts show no contention
	}
	for _, name := range names {
		if _, ok := p.Parameters[name]; ok {
			return name
		}
	}
	return ""
}

// imported reports whether p was made of another tool's output.
func imported(p *params.Params) bool { return strings.HasPrefix(p.Run.Plan, "imported:") }
