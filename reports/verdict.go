package reports

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"calib/fit"
)

// verdict opens a report: what the network behaves like, how far the numbers go, and what stands out.
func (p *page) verdict(ps *fit.Params) {
	r := ps.Run
	p.line(2, "%s: %s, plan %s, seed %d, %s, %s.", p.paint(bold, clean(r.ID)), plural(len(r.Hosts), "host"), clean(r.Plan),
		r.Seed, plural(r.Rounds, "round"), plural(r.Timings, "timing"))
	kind, _ := notes(ps)
	for _, n := range kind {
		if strings.HasPrefix(n, "behaves like") {
			n = "the network " + n
		}
		p.line(2, "%s", p.paint(bold, sentence(n)))
	}
	if len(kind) == 0 {
		p.line(2, "Whether the network behaves like a switch or a shared medium is not known: that takes the experiment "+
			"paired on four hosts or more.")
	}
	var ok, unknown, bound int
	for _, q := range ps.Parameters {
		switch q.Status {
		case fit.StatusOK:
			ok++
		case fit.StatusBound:
			bound++
		default:
			unknown++
		}
	}
	text := fmt.Sprintf("%s: %d ok, %d not identifiable", plural(len(ps.Parameters), "parameter"), ok, unknown)
	if bound > 0 {
		text += fmt.Sprintf(", %d with a bound only", bound)
	}
	p.line(2, "%s; %s.", text, plural(len(groupWarnings(ps)), "warning"))
	p.outliers(ps)
	p.clock(ps)
}

// outliers names the hosts that stand out, and counts the slow pairs that no such host explains.
func (p *page) outliers(ps *fit.Params) {
	hosts := slowHosts(ps.Pairs)
	for _, h := range hosts {
		p.line(2, "%s", p.paint(red, fmt.Sprintf("Host %s stands out: %d of its %d pairs are slow.", clean(h.name), h.slow, h.pairs)))
	}
	if slow := slowPairs(ps.Pairs, hosts); len(slow) > 0 {
		worst := slow[0]
		p.line(2, "%s", p.paint(red, fmt.Sprintf("%s slow, most of all %s: %s.", pluralAre(len(slow), "pair"),
			clean(worst.From+" → "+worst.To), clean(worst.Slow))))
	}
}

// clock states what the timer costs, beside every result.
func (p *page) clock(ps *fit.Params) {
	for _, name := range slices.Sorted(maps.Keys(ps.Parameters)) {
		q := ps.Parameters[name]
		if q.Experiment == "clock" && q.Value != nil {
			p.line(2, "Clock: %s, %s = %s.", clean(q.Label), clean(name), Format(*q.Value, q.CI95, q.Unit))
		}
	}
}

// notes splits the fits' findings, without duplicates, into what the network behaves like and all others.
func notes(ps *fit.Params) (kind, other []string) {
	seen := map[string]bool{}
	for _, f := range ps.Fits {
		for _, n := range f.Notes {
			switch {
			case seen[n]:
			case strings.Contains(n, "behaves like"):
				kind = append(kind, n)
			default:
				other = append(other, n)
			}
			seen[n] = true
		}
	}
	return kind, other
}

// whereAndNext ends a report: the files, and what is worth doing with this result.
func (p *page) whereAndNext(ps *fit.Params) {
	if p.Dir == "" {
		return
	}
	dir := clean(p.Dir)
	g := grid{header: []string{"file", "what is in it"}, wrap: true}
	g.add(filepath.Join(dir, "params.json"), "the parameters, for programs")
	g.add(filepath.Join(dir, "report.txt"), "the whole report, with residuals per size")
	g.add(filepath.Join(dir, "samples.jsonl"), "every raw timing")
	g.add(filepath.Join(dir, "run.json"), "plan, seed, hosts and environment of the run")
	g.add(filepath.Join(dir, "log.jsonl"), "what happened when")
	p.write(g)
	p.WriteByte('\n')
	g = grid{header: []string{"next", "why"}, wrap: true}
	g.add("calib report "+shellWord(dir), "read the whole report")
	g.add("calib fit "+shellWord(dir), "fit again from the same samples, offline: the same bytes come back")
	if ps.Run.Plan == "quick" {
		g.add("calib run --plan standard …", "narrower intervals than the quick plan gives")
	}
	if _, has := ps.Parameters["B_L"]; !has && ps.Functions["g_r"].Form != "" {
		g.add("calib run --only flood …", "how many packets a port holds; it overflows one to see, so packets are lost")
	}
	if len(slowHosts(ps.Pairs)) > 0 {
		g.add("calib run --only pingpong …", "see whether the slow host stays slow")
	}
	p.write(g)
}

// shellWord quotes s for a shell where that is needed.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_./:@%+,=", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// plural prints "1 warning", "3 warnings", "12,000 timings".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(float64(n)) + " " + what + "s"
}

func pluralAre(n int, what string) string {
	if n == 1 {
		return plural(n, what) + " is"
	}
	return plural(n, what) + " are"
}

// count prints a whole number with thousands apart, and any other with four digits.
func count(v float64) string {
	if v != float64(int64(v)) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	s := strconv.FormatInt(int64(v), 10)
	sign := ""
	if s[0] == '-' {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// sentence begins s with a capital and ends it with a point.
func sentence(s string) string {
	s = clean(strings.TrimSpace(s))
	if s == "" {
		return s
	}
	r := []rune(s)
	if len(r) > 1 && r[0] >= 'a' && r[0] <= 'z' && r[1] >= 'a' && r[1] <= 'z' {
		r[0] += 'A' - 'a'
	}
	s = string(r)
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}
