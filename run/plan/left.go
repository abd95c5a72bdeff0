package plan

import (
	"fmt"
	"strings"

	"calib/internal/dataset/names"
	"calib/internal/units"
)

// LeftOut is what a budget has no room for.
type LeftOut struct {
	Experiment string
	// What says how the experiment was made thinner; empty where it is left out as a whole.
	What []string
	// Time is what all of it would take in the least rounds, Kept what is planned of it.
	Time, Kept units.Nanos
}

// account keeps what was left out.
func (s *Schedule) account(all, kept []*draft) {
	rounds := s.roundsOf(timeOf(kept))
	for _, d := range all {
		l := LeftOut{Experiment: d.exp.Name, Time: d.time * units.Nanos(s.Plan.Rounds.Min)}
		if i := find(kept, l.Experiment); i >= 0 {
			if l.What = kept[i].lost(d, rounds); len(l.What) == 0 {
				continue
			}
			l.Kept = min(l.Time, kept[i].time*units.Nanos(s.Rounds))
		}
		s.Left = append(s.Left, l)
	}
}

// lost says what the draft has less of than whole has, in so many rounds.
func (d *draft) lost(whole *draft, rounds float64) []string {
	var out []string
	before, now := whole.values(names.FactorBytes), d.values(names.FactorBytes)
	if len(now) > 0 && now[len(now)-1] < before[len(before)-1] {
		out = append(out, "messages to "+units.Bytes(now[len(now)-1]).String())
	}
	if len(now) < len(before) {
		out = append(out, fmt.Sprintf("%d of %d sizes", len(now), len(before)))
	}
	for _, factor := range counts {
		if before, now := whole.values(factor), d.values(factor); len(now) < len(before) {
			out = append(out, fmt.Sprintf("%s %s of %d", factor, strings.Trim(fmt.Sprint(now), "[]"), len(before)))
		}
	}
	if len(out) == 0 && len(d.points) < len(whole.points) {
		out = append(out, fmt.Sprintf("%d of %d points", len(d.points), len(whole.points)))
	}
	rare, teams := 0, 1.0
	for i := range d.points {
		p := &d.points[i]
		if rounds/float64(p.every) < float64(d.plan.Rounds.Min) {
			rare++
		}
		teams = min(teams, float64(p.n)/float64(len(p.sets)))
	}
	if teams*rounds < float64(d.plan.Rounds.Min) && teams < 1 {
		out = append(out, fmt.Sprintf("%.2g%% of the teams in a round, others in each", 100*teams))
	}
	if rare > 0 && rounds >= float64(d.plan.Rounds.Min) {
		out = append(out, fmt.Sprintf("%s in fewer than %d rounds", units.Plural(rare, "point"), d.plan.Rounds.Min))
	}
	return out
}
