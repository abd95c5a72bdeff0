package reports

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"calib/fit/params"
	"calib/internal/units"
)

// verdict opens a report: what the network behaves like, how far the numbers go, and what stands out.
func (p *page) verdict(ps *params.Params) {
	v := VerdictOf(ps)
	p.line(2, "%s: %s", p.paint(bold, v.Run), v.Scope)
	for _, s := range v.Network {
		if v.Known {
			s = p.paint(bold, s)
		}
		p.line(2, "%s", s)
	}
	p.line(2, "%s", v.Counts)
	for _, s := range v.Outliers {
		p.line(2, "%s", p.paint(red, s))
	}
	for _, s := range v.Clock {
		p.line(2, "%s", s)
	}
}

// counts says how many parameters were found, and how many warnings there are.
func counts(ps *params.Params) string {
	var ok, unknown, bound int
	for _, q := range ps.Parameters {
		switch q.Status {
		case params.StatusOK:
			ok++
		case params.StatusBound:
			bound++
		default:
			unknown++
		}
	}
	text := fmt.Sprintf("%s: %d ok, %d not identifiable", plural(len(ps.Parameters), "parameter"), ok, unknown)
	if bound > 0 {
		text += fmt.Sprintf(", %d with a bound only", bound)
	}
	return fmt.Sprintf("%s; %s.", text, plural(len(groupWarnings(ps)), "warning"))
}

// outliers names the hosts that stand out, and counts the slow pairs that no such host explains.
func outliers(ps *params.Params) []string {
	var out []string
	hosts := slowHosts(ps.Pairs)
	for _, h := range hosts {
		out = append(out, fmt.Sprintf("Host %s stands out: %d of its %d pairs are slow.", Clean(h.name), h.slow, h.pairs))
	}
	if slow := slowPairs(ps.Pairs, hosts); len(slow) > 0 {
		worst := slow[0]
		out = append(out, fmt.Sprintf("%s slow, most of all %s: %s.", pluralAre(len(slow), "pair"),
			Clean(worst.From+" → "+worst.To), Clean(worst.Slow)))
	}
	return out
}

// clocks states what the timer costs, beside every result.
func clocks(ps *params.Params) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(ps.Parameters)) {
		q := ps.Parameters[name]
		if q.Experiment == "clock" && q.Value != nil {
			out = append(out, fmt.Sprintf("Clock: %s, %s = %s.", Clean(q.Label), Clean(name), Format(*q.Value, q.CI95, q.Unit)))
		}
	}
	return out
}

// notes splits the fits' findings, without duplicates, into what the network behaves like and all others.
func notes(ps *params.Params) (kind, other []string) {
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
func (p *page) whereAndNext(ps *params.Params) {
	if p.Dir == "" {
		return
	}
	files, next := FilesOf(ps, p.Dir)
	p.write(grid{Grid: files, wrap: true})
	p.WriteByte('\n')
	p.write(grid{Grid: next, wrap: true})
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
	return units.Grouped(int64(v))
}

// sentence begins s with a capital and ends it with a point.
func sentence(s string) string {
	s = Clean(strings.TrimSpace(s))
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
