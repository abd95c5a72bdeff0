// Package coord walks a schedule over agents. It decides when a slot starts, how long it may take, what happens when an
// agent goes away, and when to stop; it measures nothing itself and knows neither sockets nor files. Samples leave it
// one whole slot at a time, through Config.Sink, so that whatever dies, what was measured is kept.
//
// A slot that fails is tried once more. A host whose agent no longer answers is lost for the rest of the run: teams
// with it are left out and the run ends as partial. Where all agents answer, the hosts of the slot pass a byte to each
// other in pairs: the host or link that the failing pairs have in common is left out, and tried again later. Coord
// never waits for an agent beyond its slot's deadline, nor for a slot beyond the end of the budget.
package coord

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/run/plan"
)

// Agent is one host's agent. Every call returns soon after its context has ended, whatever became of the host: a walk
// waits for all it has called.
type Agent interface {
	// Hello asks who it is, with a closer look where that may take longer. It is also how coord finds out whether an
	// agent still answers.
	Hello(ctx context.Context, closer bool) (dataset.Host, error)
	// Prepare takes the agent for a run and tells it the peers and tickets.
	Prepare(ctx context.Context, s plane.Session) error
	// Run does the agent's part of a slot and returns its samples.
	Run(ctx context.Context, t bench.Task) ([]dataset.Sample, error)
	// Close releases the agent; one that was started for this run ends.
	Close() error
}

type Config struct {
	Run      string
	Names    []string // of the hosts, for messages
	Schedule *plan.Schedule
	// Steering ends the walk when its targets are met, and chooses the experiments of rounds; nil: every round has all
	// of them.
	Steering *plan.Steering
	Deadline func(bench.Slot) units.Nanos // longest time of a slot of which nothing is known
	Sink     func([]dataset.Sample) error // stores a finished slot; an error ends the walk
	Have     []dataset.Sample             // already measured, of a resumed run
	// Spent is how long a probe has taken before: it counts for the budget.
	Spent    units.Nanos
	Progress func(Progress)
	// Slot is called after each slot, measured or given up, with the time that all its tries took.
	Slot func(s bench.Slot, took time.Duration)
	Note func(string) // receives what a user should know at once
}

// Recv bounds the silence of a peer inside a slot, but for that of a large team on a slow path.
const Recv = 20 * units.Second

// helloTimeout bounds the question whether an agent still answers.
const helloTimeout = 5 * time.Second

// maxConsecutive failed slots end a walk: something is wrong with all of it.
const maxConsecutive = 3

var ErrNothing = errors.New("nothing was measured")

type Progress struct {
	Round int
	Exp   string      // "" at the end
	Done  float64     // share of the whole, 0..1, assuming every round is needed; 1 at the end and not before
	Spent units.Nanos // time until now, with that of a probe before
}

type Result struct {
	Slots       int               // measured now
	Had         int               // measured before, by the run that was resumed
	Rounds      int               // begun
	Failures    []dataset.Failure // of slots, and of hosts and links that were left out for a while
	Lost        map[int]string    // host index → why; at the end
	Cut         map[Link]string   // links left out at the end, and why
	TargetsMet  bool              // Config.Steering has ended it
	Interrupted bool
}

// Partial reports whether something that was planned is missing.
func (r *Result) Partial() bool { return len(r.Failures)+len(r.Lost)+len(r.Cut) > 0 }

// Issuer makes the tickets of one run. The key of a pair is derived from one secret that never leaves the coordinator,
// so that a thousand hosts do not need half a million stored keys; it is random, not part of what the seed repeats.
type Issuer struct {
	secret  [32]byte
	most    units.Bytes
	expires int64
}

// NewIssuer returns an issuer of tickets for at most that many bytes a pair, until a time.
func NewIssuer(most units.Bytes, expires time.Time) *Issuer {
	i := &Issuer{most: most, expires: expires.Unix()}
	rand.Read(i.secret[:]) // which never fails
	return i
}

// For returns the tickets of host self with each of the n hosts.
func (i *Issuer) For(self, n int) []plane.Ticket {
	out := make([]plane.Ticket, 0, n-1)
	mac := hmac.New(sha256.New, i.secret[:])
	var pair []byte
	for other := range n {
		if other == self {
			continue
		}
		t := plane.Ticket{A: min(self, other), B: max(self, other), MaxBytes: i.most, Expires: i.expires}
		pair = strconv.AppendInt(pair[:0], int64(t.A), 10)
		pair = strconv.AppendInt(append(pair, '-'), int64(t.B), 10)
		mac.Reset()
		mac.Write(pair) // a hash never fails
		mac.Sum(t.Key[:0])
		out = append(out, t)
	}
	return out
}

// Prepare takes every agent for the run, at most atOnce at a time, and gives each the peers and its own tickets. It
// returns one error for each agent that refused, by index, nil where it did not.
func Prepare(ctx context.Context, agents []Agent, s plane.Session, tickets *Issuer, atOnce int) []error {
	return Each(agents, atOnce, func(i int, a Agent) error {
		mine := s
		mine.Self, mine.Tickets = i, tickets.For(i, len(agents))
		if err := a.Prepare(ctx, mine); err != nil {
			return fmt.Errorf("prepare %s: %w", s.Peers[i].Name, err)
		}
		return nil
	})
}

// CloseAll releases every agent, at most atOnce at a time.
func CloseAll(agents []Agent, atOnce int) error {
	return errors.Join(Each(agents, atOnce, func(_ int, a Agent) error { return a.Close() })...)
}

// Each calls f for every one of all, at most atOnce at a time, or all at once where that is negative. It returns what
// each call gave, by index, when all have returned.
func Each[T, R any](all []T, atOnce int, f func(i int, one T) R) []R {
	out := make([]R, len(all))
	var calls errgroup.Group
	calls.SetLimit(atOnce)
	for i, one := range all {
		calls.Go(func() error {
			out[i] = f(i, one)
			return nil
		})
	}
	_ = calls.Wait() // which has no error
	return out
}

const (
	// grace is what an agent gets beyond the slot's deadline to say why it failed.
	grace = 3 * time.Second
	// settle is how long the other ranks go on after the first has failed: theirs may be the failure that says more.
	settle = 500 * time.Millisecond
)

// errSlotOver is why a call is given up whose agent did not end the slot itself.
var errSlotOver = errors.New("the agent has not answered, long after the deadline of the measurement")

// run does one slot of the walk.
func (w *walker) run(ctx context.Context, s bench.Slot, allowed units.Nanos) ([]dataset.Sample, error) {
	recv := Recv
	for _, team := range s.Teams { // the last rank waits until the clocks of all others are compared
		recv = max(recv, 2*w.Schedule.Limits.Path.Synchronising(len(team)))
	}
	samples, err := together(ctx, w.agents, s.Teams, bench.Task{
		Run: w.Run, Slot: s.ID, Round: s.Round, Exp: s.Exp, Points: s.Points, Reps: float64(s.Effort),
		Epoch: w.Schedule.Epoch(s.Round), Deadline: allowed, Recv: min(recv, allowed),
	})
	if err != nil {
		return nil, fmt.Errorf("slot %d: %s: %w", s.ID, s.Exp, err)
	}
	return samples, nil
}

// slotError is what the ranks of a slot failed with, those apart that were only told to end.
type slotError struct {
	errs  []error // in the order of teams and ranks
	hosts []int   // of the teams in which a rank failed
}

// errorsShown bounds the errors that the text of a slotError lists.
const errorsShown = 3

func (e *slotError) Error() string {
	var texts []string
	for _, err := range e.errs {
		if text := err.Error(); !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if n := len(texts) - errorsShown; n > 0 {
		texts = append(texts[:errorsShown], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(texts, "; ")
}

// Unwrap makes errors.Is see every rank's.
func (e *slotError) Unwrap() []error { return e.errs }

// together does a task on some teams at once and returns the samples ordered by team and rank. Where a rank fails, the
// error is a *slotError.
func together(ctx context.Context, agents []Agent, teams [][]int, task bench.Task) (all []dataset.Sample, err error) {
	got, errs := perform(ctx, agents, teams, task, settle)
	if err := failedSlot(teams, errs); err != nil {
		return nil, err
	}
	for _, team := range got {
		all = append(all, slices.Concat(team...)...)
	}
	return all, nil
}

// perform does a task on some teams at once, and returns what came of it by team and rank; of the task, team and rank
// are filled in. It ends for everyone when a rank has failed, and a time has passed since.
func perform(ctx context.Context, agents []Agent, teams [][]int, task bench.Task, settle time.Duration) (
	got [][][]dataset.Sample, errs [][]error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(task.Deadline)+grace, errSlotOver)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var wg sync.WaitGroup
	var once sync.Once
	got, errs = make([][][]dataset.Sample, len(teams)), make([][]error, len(teams))
	for i, team := range teams {
		got[i], errs[i] = make([][]dataset.Sample, len(team)), make([]error, len(team))
		for rank, host := range team {
			t := task
			t.Team, t.Rank = team, rank
			wg.Go(func() {
				if got[i][rank], errs[i][rank] = agents[host].Run(ctx, t); errs[i][rank] != nil {
					once.Do(func() { time.AfterFunc(settle, func() { end(errOther) }) })
				}
			})
		}
	}
	wg.Wait()
	return got, errs
}

// errOther is why a rank was ended that had not failed itself.
var errOther = errors.New("ended because another rank failed")

// failedSlot collects the ranks' errors; nil where there is none.
func failedSlot(teams [][]int, errs [][]error) error {
	var own, told slotError
	for i, team := range teams {
		failed := false
		for _, err := range errs[i] {
			switch {
			case err == nil:
			case errors.Is(err, errOther) || errors.Is(err, context.Canceled):
				told.errs = append(told.errs, err)
			default:
				own.errs, failed = append(own.errs, err), true
			}
		}
		if failed {
			own.hosts = append(own.hosts, team...)
		}
	}
	switch {
	case len(own.errs) > 0:
		return &own
	case len(told.errs) > 0:
		return &told
	}
	return nil
}

// findLost asks every agent of a failed slot whether it still answers, and reports whether one does not. After an
// interrupt no agent counts as lost.
func (w *walker) findLost(interrupt context.Context, s bench.Slot) bool {
	ctx, cancel := context.WithTimeoutCause(interrupt, helloTimeout, errNoHello)
	defer cancel()
	hosts, before := slices.Concat(s.Teams...), len(w.result.Lost)
	errs := Each(hosts, -1, func(_, h int) error {
		_, err := w.agents[h].Hello(ctx, false)
		return err
	})
	for i, err := range errs {
		if err != nil && interrupt.Err() == nil {
			w.result.Lost[hosts[i]] = err.Error()
		}
	}
	return len(w.result.Lost) > before
}

var errNoHello = fmt.Errorf("its agent does not answer within %v: it has ended, is stopped, or is cut off",
	helloTimeout)
