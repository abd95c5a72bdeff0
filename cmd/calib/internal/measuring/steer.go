package measuring

import (
	"fmt"
	"slices"
	"strings"

	"calib/bench"
	"calib/cmd/calib/internal/command"
	"calib/fit"
	"calib/internal/dataset"
	"calib/internal/spend"
	"calib/internal/units"
)

// steering chooses the points of the rounds after the least by what the intervals of wanted parameters need, and ends the run when
// all are narrow enough. It keeps the samples of the experiments that these parameters are read from.
type steering struct {
	judge    *spend.Judge
	schedule *bench.Schedule
	most     units.Nanos // what a round may take: as long as one with all points
	reads    []string    // experiments
	data     *dataset.Dataset
	rounds   map[string]int // that gave a point's samples, by experiment and point
	states   []spend.State
	log      func(string)
}

// targetsOf are the targets that a user named, or those of a run that has looked at its network.
func (d *detail) targetsOf(all []string) (spend.Targets, error) {
	if d.Targets == "" {
		if !d.Plan.Limits.Path.Known() {
			return nil, nil
		}
		return spend.DefaultTargets(all), nil
	}
	t, err := spend.ParseTargets(d.Targets, spend.Known())
	if err == nil {
		err = t.Check(all)
	}
	if err != nil {
		return nil, command.Usagef("--%w", err)
	}
	return t, nil
}

// newSteering returns nil where there is no target, or no round after the least.
func (j *job) newSteering(s *bench.Schedule, hosts []dataset.Host) (*steering, error) {
	var measured []string
	forecast := s.Estimate()
	for _, e := range forecast.ByExp {
		measured = append(measured, e.Name)
	}
	targets, err := j.detail.targetsOf(measured)
	if err != nil || len(targets) == 0 || s.Plan.Rounds.Max <= s.Rounds {
		return nil, err
	}
	run := j.dir.Run()
	t := &steering{
		judge: spend.NewJudge(targets, fit.Settings{}, s.Plan.Seed), schedule: s, most: forecast.Round,
		reads: targets.Experiments(), rounds: map[string]int{},
		data: &dataset.Dataset{Header: dataset.Header{Run: run.ID, Seed: run.Seed, Plan: run.Plan, Hosts: hosts}},
		log:  func(text string) { j.log.Info(text) },
	}
	t.add(j.have)
	return t, nil
}

// add takes the samples of slots.
func (t *steering) add(samples []dataset.Sample) {
	seen := map[string]bool{}
	for i := range samples {
		s := &samples[i]
		if key := fmt.Sprintf("%d %s %s", s.Slot, s.Exp, s.Point.Key()); !seen[key] {
			seen[key] = true
			t.rounds[s.Exp+" "+s.Point.Key()]++
		}
		if slices.Contains(t.reads, s.Exp) {
			t.data.Samples = append(t.data.Samples, *s)
		}
	}
}

// round is coord.Config.Steer. Every point is kept until the least rounds are measured, and where the
// intervals cannot be computed. Where the forecast had room for fewer than the least, and there is time, there are more of them.
func (t *steering) round(r int, left units.Nanos) (func(bench.TeamPoint) bool, bool) {
	all := func(bench.TeamPoint) bool { return true }
	if r < t.schedule.Rounds-1 || r == 0 {
		return all, false
	}
	states, err := t.judge.Look(t.data, r-1)
	if err != nil {
		t.log(fmt.Sprintf("look at the intervals after round %d: %v", r, err))
	}
	t.states = states
	t.log(fmt.Sprintf("after round %d: %s", r, t.text()))
	if r < t.least() {
		return all, false
	}
	if spend.Done(states) {
		return nil, true
	}
	var points []bench.TeamPoint
	var candidates []spend.Candidate
	t.schedule.Round(r, func(p bench.TeamPoint) bool {
		points = append(points, p)
		candidates = append(candidates, spend.Candidate{
			Exp: p.Exp, Point: p.Point, Team: p.Team[0], Cost: t.schedule.CostOf(p), Rounds: t.rounds[p.Exp+" "+p.Point.Key()],
		})
		return true
	})
	least, most := t.timeOf(r, left)
	keep := t.judge.Next(candidates, least, most)
	kept := map[string]bool{}
	for i, p := range points {
		if keep[i] {
			kept[pointKey(p)] = true
		}
	}
	return func(p bench.TeamPoint) bool { return kept[pointKey(p)] }, false
}

// least is how many rounds measure every point.
func (t *steering) least() int { return max(t.schedule.Rounds, t.schedule.Plan.Rounds.Min) }

// timeOf is how long round r is to take, with so much of the budget left: at most as long as one that measures every point; at least little
// at first, for what gains most, and the more of what is left the nearer the last round that there may be, or some of the budget would remain.
func (t *steering) timeOf(r int, left units.Nanos) (least, most units.Nanos) {
	first, last := t.least(), t.schedule.Plan.Rounds.Max
	share := float64(r-first+1) / float64(last-first) / float64(last-r)
	most = min(left, t.most)
	return min(units.Nanos(share*float64(left)), most), most
}

func pointKey(p bench.TeamPoint) string { return fmt.Sprint(p.Exp, p.Point.Key(), p.Team) }

// text says how far the targets are met.
func (t *steering) text() string {
	var out []string
	for _, s := range t.states {
		out = append(out, s.String())
	}
	return strings.Join(out, "; ")
}
