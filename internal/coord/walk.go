package coord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
)

// walker is the state of one walk.
type walker struct {
	Config
	agents []Agent
	result Result
	have   map[int][]dataset.Sample // by slot, of a resumed run
	begun  time.Time
	failed int // slots in a row
}

// Walk measures every round of the schedule on agents, which are indexed as the schedule's hosts. It returns the result
// with the error: ErrNothing, the sink's error, or the reason why every slot fails. An interrupt (ctx) is not an error but
// Result.Interrupted. It ends when the schedule has no more open points, the budget is used, or ctx is done; each slot is
// bounded by its deadline.
func Walk(ctx context.Context, agents []Agent, cfg Config) (*Result, error) {
	w := &walker{Config: cfg, agents: agents, have: map[int][]dataset.Sample{}}
	w.result.Lost = map[int]string{}
	if w.Now == nil {
		w.Now = time.Now
	}
	if w.Recv == 0 {
		w.Recv = DefaultRecv
	}
	for _, s := range cfg.Have {
		w.have[s.Slot] = append(w.have[s.Slot], s)
	}
	w.begun = w.Now()
	err := w.rounds(ctx)
	if ctx.Err() != nil {
		w.result.Interrupted = true
		return &w.result, nil
	}
	if err == nil && w.result.Slots+w.result.Had == 0 {
		err = ErrNothing
		if n := len(w.result.Failures); n > 0 {
			err = fmt.Errorf("%w: %s", ErrNothing, w.result.Failures[n-1].Error)
		}
	}
	return &w.result, err
}

func (w *walker) rounds(ctx context.Context) error {
	total := w.Schedule.Plan.Rounds.Max
	for r := range total {
		slots := w.Schedule.Round(r, w.open)
		if len(slots) == 0 {
			return nil
		}
		w.result.Rounds = r + 1
		for i, s := range slots {
			// The budget ends nothing before every point has been measured once.
			if w.Stopper.Spent(units.Nanos(w.Now().Sub(w.begun))); r > 0 && w.Stopper.Over() {
				w.result.BudgetEnded = true
				return nil
			}
			w.tell(Progress{Round: r, Rounds: total, Slot: i, Slots: len(slots), Exp: s.Exp})
			if err := w.slot(ctx, s); err != nil {
				return err
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

func (w *walker) tell(p Progress) {
	if w.Progress == nil {
		return
	}
	p.Elapsed = w.Now().Sub(w.begun)
	p.Done = (float64(p.Round) + float64(p.Slot)/float64(p.Slots)) / float64(p.Rounds)
	if b := w.Schedule.Plan.Budget; b > 0 {
		p.Done = max(p.Done, min(1, p.Elapsed.Seconds()/b.Seconds()))
	}
	w.Progress(p)
}

func (w *walker) note(format string, args ...any) {
	if w.Note != nil {
		w.Note(fmt.Sprintf(format, args...))
	}
}

// open asks the stopper, and leaves out teams with a lost host.
func (w *walker) open(exp string, team []int, p bench.Point) bool {
	return !w.hasLost(team) && w.Stopper.Open(exp, team, p)
}

func (w *walker) hasLost(team []int) bool {
	for _, h := range team {
		if _, lost := w.result.Lost[h]; lost {
			return true
		}
	}
	return false
}

// slot measures s, or takes it from the resumed run; it tries twice.
func (w *walker) slot(ctx context.Context, s bench.Slot) error {
	if had, ok := w.have[s.ID]; ok {
		w.Stopper.Add(had)
		w.result.Had++
		return nil
	}
	var err error
	for try := range 2 {
		if s.Teams = w.without(s.Teams); len(s.Teams) == 0 {
			break
		}
		var samples []dataset.Sample
		if samples, err = w.run(ctx, s); err == nil {
			return w.keep(samples)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		w.findLost(ctx, s)
		w.note("slot %d (%s), try %d: %v", s.ID, s.Exp, try+1, err)
	}
	w.failed++
	if err == nil {
		err = errors.New("every team has lost a host")
	}
	w.result.Failures = append(w.result.Failures, Failure{s.ID, s.Round, s.Exp, s.Teams, err.Error()})
	if len(w.agents)-len(w.result.Lost) < 2 && len(w.agents) > 1 {
		return fmt.Errorf("fewer than two hosts are left: %w", err)
	}
	if w.failed >= maxConsecutive {
		return fmt.Errorf("%d slots in a row failed, the last with: %w", w.failed, err)
	}
	return nil
}

func (w *walker) keep(samples []dataset.Sample) error {
	if err := w.Sink(samples); err != nil {
		return fmt.Errorf("save slot: %w", err)
	}
	w.Stopper.Add(samples)
	w.result.Slots++
	w.failed = 0
	return nil
}

// without leaves out the teams that have lost a host.
func (w *walker) without(teams [][]int) [][]int {
	var out [][]int
	for _, t := range teams {
		if !w.hasLost(t) {
			out = append(out, t)
		}
	}
	return out
}
