package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"calib/internal/params"
)

// alikeShown bounds the warnings of one code that are about different hosts.
const alikeShown = 8

// warningGroup is the warnings of one code about the same hosts.
type warningGroup struct {
	code     params.Code
	rank     int      // of how bad they are: the least is the worst
	messages []string // each once
	models   []string // that gave them
}

// worst are the codes of warnings about the run as a whole, the worst first: each makes every number less certain, or
// withholds some. The others follow in the order of the run and its fits.
var worst = []params.Code{
	params.LateWire, params.ManyLeftOut, params.OneRound, params.Contradiction, params.Impossible, params.ModelFailed,
	params.LostSegments, params.SlowHost, params.NegativeAC,
}

// rankOf is the place of a warning among those of p: as in worst, then the others, then those about parameters that are
// not of record.
func rankOf(p *params.Params, f params.Finding) int {
	if _, ok := p.Parameters[f.Subject]; ok && !ofRecord(f.Subject) {
		return len(worst) + 1
	}
	if i := slices.Index(worst, f.Code); i >= 0 {
		return i
	}
	return len(worst)
}

// groupWarnings groups the warnings of the run and of every fit by code, subject and hosts, the worst first.
func groupWarnings(p *params.Params) []warningGroup {
	var out []warningGroup
	index := map[string]int{}
	for _, f := range p.AllFindings(params.Warning) {
		key := fmt.Sprintf("%s %s %q", f.Code, f.Subject, f.Hosts)
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, warningGroup{code: f.Code, rank: rankOf(p, f.Finding)})
		}
		g := &out[i]
		if m := Clean(f.Message); !slices.Contains(g.messages, m) {
			g.messages = append(g.messages, m)
		}
		if m := Clean(f.Model); m != "" && !slices.Contains(g.models, m) {
			g.models = append(g.models, m)
		}
	}
	slices.SortStableFunc(out, func(a, b warningGroup) int { return cmp.Compare(a.rank, b.rank) })
	return out
}

// WarningsOf returns the warnings of the run and of every fit: the first of each kind, how many more there are, and the
// models it concerns. Of many that differ in their hosts alone it returns the first, and counts the others.
func WarningsOf(p *params.Params) []string {
	all := groupWarnings(p)
	total, shown := map[params.Code]int{}, map[params.Code]int{}
	for _, g := range all {
		total[g.code]++
	}
	var out []string
	for _, g := range all {
		if total[g.code] > alikeShown+1 {
			if shown[g.code]++; shown[g.code] == alikeShown+1 {
				out = append(out, fmt.Sprintf("and %d more of this kind (%s), which params.json has", total[g.code]-alikeShown, g.code))
			}
			if shown[g.code] > alikeShown {
				continue
			}
		}
		s := g.messages[0]
		if n := len(g.messages) - 1; n > 0 {
			s += fmt.Sprintf(" (and %d more like it)", n)
		}
		if len(g.models) > 0 {
			s += " [" + strings.Join(g.models, ", ") + "]"
		}
		out = append(out, s)
	}
	return out
}

// elsewhere are the codes of notes that the summary or the reasons beside the parameters state.
var elsewhere = []params.Code{params.OneMachine, params.Provisional, params.ZeroInInterval}

// FindingsOf returns the notes that the summary does not cover, as sentences.
func FindingsOf(p *params.Params) []string {
	var out []string
	for _, f := range p.AllFindings(params.Note) {
		s := sentence(f.Message)
		if !slices.Contains(elsewhere, f.Code) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
