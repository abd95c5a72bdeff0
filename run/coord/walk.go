package coord

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/run/plan"
)

type walker struct {
	Config
	agents []Agent
	result Result
	have   map[int][]dataset.Sample // by slot, of a resumed run
	begun  time.Time
	pace   *plan.Pace
	failed int // slots in a row
	// away are the hosts left out of which the agent answers, since when. They, and cut links, are tried again at next,
	// and then after the double of wait.
	away map[int]time.Time
	next time.Time
	wait time.Duration
}

// Walk measures every round of the schedule on agents, which are indexed as the schedule's hosts. It returns the result
// with the error: ErrNothing, the sink's error, or the reason why every slot fails. An interrupt (ctx) is not an error
// but Result.Interrupted. It ends when the targets are met, rounds or budget are used, or ctx is done. Each slot is
// bounded by what it is expected to take, and all of them by the budget and a tenth of it (last).
func Walk(ctx context.Context, agents []Agent, cfg Config) (*Result, error) {
	w := &walker{Config: cfg, agents: agents, have: map[int][]dataset.Sample{}}
	w.result.Lost, w.result.Cut, w.away = map[int]string{}, map[Link]string{}, map[int]time.Time{}
	for _, s := range cfg.Have {
		w.have[s.Slot] = append(w.have[s.Slot], s)
	}
	w.begun = time.Now().Add(-time.Duration(cfg.Spent))
	w.pace = plan.NewPace(cfg.Schedule)
	err := w.measureRounds(ctx)
	switch {
	case err != nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		w.result.Interrupted, err = true, nil
	case err == nil && w.measured() == 0:
		err = w.nothing()
	case err == nil:
		w.Progress(Progress{Round: w.result.Rounds - 1, Done: 1, Spent: w.spent()})
	}
	return &w.result, err
}

// nothing is the error of a walk without a result.
func (w *walker) nothing() error {
	if n := len(w.result.Failures); n > 0 {
		return fmt.Errorf("%w: %s", ErrNothing, w.result.Failures[n-1].Error)
	}
	if w.ended() {
		return fmt.Errorf("%w: the budget of %v has ended; give more time (--budget), or measure less "+
			"(--only)", ErrNothing, time.Duration(w.Schedule.Plan.Budget))
	}
	return ErrNothing
}

func (w *walker) measureRounds(ctx context.Context) error {
	lastHad, empty := 0, 0 // last round of which a resumed run has samples; rounds in a row without a slot
	for slot := range w.have {
		lastHad = max(lastHad, slot/w.Schedule.Slots())
	}
	for r := range w.Schedule.MaxRounds() {
		if w.over() {
			return nil
		}
		part := func(string) bool { return true }
		if w.Steering != nil && r >= lastHad {
			if part, w.result.TargetsMet = w.Steering.Round(r, w.spent()); w.result.TargetsMet {
				return nil
			}
		}
		w.Schedule.Last(w.gone())
		choose := func() []bench.Slot {
			return w.pace.Round(r, func(exp string, team []int) bool { return part(exp) && w.usable(team) })
		}
		slots := choose()
		for len(slots) == 0 && w.await(ctx, r) {
			slots = choose()
		}
		if r < lastHad && r >= w.Schedule.Rounds { // what the run that is resumed did not choose stays so
			slots = slices.DeleteFunc(slots, func(s bench.Slot) bool { _, had := w.have[s.ID]; return !had })
		}
		more, err := w.round(ctx, r, slots)
		if err != nil {
			return err
		}
		if empty++; more {
			empty = 0
		} else if empty > w.Schedule.MaxEmpty() {
			return nil // nothing is left that can be measured, or that there is time for
		}
	}
	return nil
}

// round measures those slots of a round that there is time for. It reports whether it measured one, or had some and
// skipped none.
func (w *walker) round(ctx context.Context, r int, all []bench.Slot) (more bool, err error) {
	slots := w.pace.Begin(r, all, w.spent())
	skipped, before := len(slots) < len(all), w.measured()
	for i, s := range slots {
		if w.over() {
			return false, nil
		}
		w.visit(ctx, s)
		if _, had := w.have[s.ID]; !had && !w.pace.Fits(s, w.spent()) && w.measured() > 0 {
			skipped = true
			continue
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
		p := Progress{Round: r, Exp: s.Exp, Spent: w.spent()}
		p.Done = w.pace.Done(r, slots[i:], float64(i)/float64(len(slots)), p.Spent)
		w.Progress(p)
		w.result.Rounds = r + 1
		if err := w.slot(ctx, s); err != nil {
			return false, err
		}
	}
	return len(all) > 0 && !skipped || w.measured() > before, nil
}

// usable reports whether a team has no host that was lost, and no two hosts between which the link is cut.
func (w *walker) usable(team []int) bool {
	for i, h := range team {
		if _, lost := w.result.Lost[h]; lost {
			return false
		}
		if len(w.result.Cut) == 0 {
			continue
		}
		for _, other := range team[:i] {
			if _, cut := w.result.Cut[linkOf(h, other)]; cut {
				return false
			}
		}
	}
	return true
}

// gone are the hosts that are lost, and one end of each link that is cut: the hosts without which most can still be
// measured.
func (w *walker) gone() []int {
	out := slices.Collect(maps.Keys(w.result.Lost))
	for l := range w.result.Cut {
		out = append(out, l[1])
	}
	return out
}

// slot measures s, except the teams that a resumed run has measured already. A slot of which every team has lost a host
// is skipped: Result.Lost says why.
func (w *walker) slot(ctx context.Context, s bench.Slot) error {
	if had, ok := w.have[s.ID]; ok {
		w.add(s, had)
		if s.Teams = missing(s.Teams, had); len(s.Teams) == 0 {
			w.result.Had++
			return nil
		}
	}
	if s.Teams = lists.Where(s.Teams, w.usable); len(s.Teams) == 0 {
		return nil
	}
	begun, lost := time.Now(), len(w.result.Lost)+len(w.result.Cut)
	samples, err := w.measure(ctx, s)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	w.Slot(s, time.Since(begun))
	if err != nil && w.ended() && w.measured() > 0 {
		return nil // the end of the budget has cut it off
	}
	if err == nil {
		err = w.save(s, samples)
	} else {
		err = w.fail(s, err, len(w.result.Lost)+len(w.result.Cut) > lost)
	}
	if err == nil && len(w.agents) > 1 && len(w.agents)-len(w.result.Lost) < 2 {
		first := slices.Min(slices.Collect(maps.Keys(w.result.Lost)))
		err = fmt.Errorf("fewer than two hosts are left, one was lost with: %s (calib doctor says what is "+
			"wrong)", w.result.Lost[first])
	}
	return err
}

// measure tries s at most twice, the second time without what was found missing. Where nothing was, the slot may only
// have taken longer than expected: the second time it may take longer.
func (w *walker) measure(ctx context.Context, s bench.Slot) (samples []dataset.Sample, err error) {
	for try := 1; try <= 2; try++ {
		if s.Teams = lists.Where(s.Teams, w.usable); len(s.Teams) == 0 {
			break
		}
		begun, allowed := time.Now(), w.allowed(s)
		if samples, err = w.run(ctx, s, allowed); err == nil {
			w.pace.Took(s, units.Nanos(time.Since(begun))) // without a try that failed
			return samples, nil
		}
		if ctx.Err() != nil {
			break
		}
		took := units.Nanos(time.Since(begun))
		w.Note(fmt.Sprintf("%v (try %d of 2)", err, try))
		var failed *slotError
		switch {
		case w.findLost(ctx, s), errors.As(err, &failed) && w.check(ctx, s, failed.hosts):
		case took >= allowed:
			w.pace.Took(s, took)
		}
		if ctx.Err() != nil || w.ended() {
			break
		}
	}
	return nil, err
}

// fail records that s could not be measured. Failures in a row end the walk, except those that a lost host or a cut
// link explains.
func (w *walker) fail(s bench.Slot, err error, explained bool) error {
	w.result.Failures = append(w.result.Failures, dataset.Failure{Slot: &s.ID, Error: err.Error()})
	if !explained {
		w.failed++
	}
	if w.failed >= maxConsecutive {
		return fmt.Errorf("%d measurements in a row failed, the last with: %w", w.failed, err)
	}
	return nil
}

func (w *walker) save(s bench.Slot, samples []dataset.Sample) error {
	if err := w.Sink(samples); err != nil {
		return fmt.Errorf("save slot: %w", err)
	}
	w.add(s, samples)
	w.result.Slots++
	w.failed = 0
	return nil
}

func (w *walker) add(s bench.Slot, samples []dataset.Sample) {
	w.pace.Measured(s)
	if w.Steering != nil {
		w.Steering.Add(samples)
	}
}

func missing(teams [][]int, had []dataset.Sample) [][]int {
	seen := map[int]bool{}
	for i := range had {
		for _, h := range had[i].Ranks {
			seen[h] = true
		}
	}
	return lists.Where(teams, func(t []int) bool {
		return !slices.ContainsFunc(t, func(h int) bool { return seen[h] })
	})
}

const (
	// overrun is by what share of the budget the walk may end late.
	overrun = 0.1
	// minOverrun is what the first slot gets where the budget is smaller than it.
	minOverrun = 2 * units.Second
	// A slot may take lenience times what is expected of it, and patience more: a connection that loses packets stands
	// still for a second or two.
	lenience = 6
	patience = 3 * units.Second
	// minSlot is what a slot gets near the end of the budget. An agent needs some time to begin and to fail.
	minSlot = 500 * units.Millisecond
)

// measured is how many slots have samples, with those of before a resume.
func (w *walker) measured() int { return w.result.Slots + w.result.Had }

func (w *walker) spent() units.Nanos { return units.Nanos(time.Since(w.begun)) }

// last is what is left until the walk ends whatever is under way.
func (w *walker) last() units.Nanos {
	b := w.Schedule.Plan.Budget
	if b <= 0 {
		return math.MaxInt64
	}
	return b + max(units.Nanos(overrun*float64(b)), minOverrun) - w.spent()
}

// ended reports whether no slot can be measured any more.
func (w *walker) ended() bool { return w.last() < minSlot }

// over reports whether the budget ends the walk. Until something is measured it may be used up to its last bound.
func (w *walker) over() bool { return w.overAfter(0) }

// overAfter reports whether the budget ends the walk, once a time has passed.
func (w *walker) overAfter(wait time.Duration) bool {
	if w.measured() == 0 {
		return w.last()-units.Nanos(wait) < minSlot
	}
	b := w.Schedule.Plan.Budget
	return b > 0 && w.spent()+units.Nanos(wait) >= b
}

// allowed is how long a slot may take: by what is expected of it where the network is known, and never beyond the last
// bound.
func (w *walker) allowed(s bench.Slot) units.Nanos {
	most := w.Deadline(s)
	if w.Schedule.Limits.Path.Known() {
		most = min(most, patience+lenience*w.pace.Expect(s))
	}
	return max(min(most, w.last()), minSlot)
}
