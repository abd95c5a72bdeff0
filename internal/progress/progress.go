// Package progress shows how far a long command is: one live line on a terminal, plain lines or JSON events otherwise,
// nothing when asked to be quiet.
//
// The time left follows from the time spent and the share that is done: whoever knows that some of the work takes
// longer counts it as more. It counts down between two reports. No estimate is shown before there is one.
package progress

import (
	"cmp"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"calib/internal/units"
)

const (
	liveEvery  = 100 * time.Millisecond // between two drawings of the live line
	eventEvery = time.Second            // between two progress events
	plainEvery = 30 * time.Second       // between two lines of progress in a file

	learnTime = 2 * time.Second  // of a phase before an estimate is shown
	maxLeft   = 1000 * time.Hour // an estimate beyond this is no estimate
)

// Reporter shows the progress of one command. Its methods may be called from any goroutine. Errors of the writer are
// ignored: progress that nobody can see must not stop a measurement.
type Reporter struct {
	mu    sync.Mutex
	out   sink
	now   func() time.Time
	every time.Duration

	started time.Time // of the phase
	first   time.Time // of the first phase
	drawn   time.Time // last time the sink was given a state
	state   State
	end     time.Time // of the phase, as expected; zero is not known
	early   time.Time // before end, if the phase may end then; zero otherwise
	open    bool      // a phase is under way
}

// State is the progress of a phase at one moment.
type State struct {
	Phase   string
	Label   string
	Done    float64
	Total   float64
	Elapsed time.Duration
	Left    time.Duration // meaningful if HasLeft
	HasLeft bool
	Least   time.Duration // up to Left, meaningful if MayEnd: the phase may end then already
	MayEnd  bool
}

// sink is one way to show progress: it is told each event, by its name, with the phase's state then. message is that of
// a note. The state of eventDone is that of all phases.
type sink func(event string, at time.Time, s State, message string)

// Style is a way to show progress.
type Style int

// Styles.
const (
	Quiet  Style = iota
	Live         // one line of a terminal, drawn over itself
	Plain        // lines of text, for a file
	Events       // JSON, one Event on each line, for programs
)

// New returns a reporter that writes to w. The width of a terminal is asked of w where w is a file. now is the clock,
// time.Now outside tests.
func New(w io.Writer, style Style, now func() time.Time) *Reporter {
	r := &Reporter{now: now, every: eventEvery}
	switch style {
	case Quiet:
		r.out = func(string, time.Time, State, string) {}
	case Live:
		l := &lines{w: units.RawWriter(w), width: func() int { return Width(w) }}
		r.out, r.every = l.show, liveEvery
	case Plain:
		r.out, r.every = (&lines{w: w}).show, plainEvery
	case Events:
		r.out = events{w}.show
	}
	return r
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Width returns the columns of the terminal w, 80 where they are not known.
func Width(w io.Writer) int {
	if f, ok := units.RawWriter(w).(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return 80
}

// Phase ends the phase before and begins the next.
func (r *Reporter) Phase(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.endPhase(now)
	if r.first.IsZero() {
		r.first = now
	}
	r.started, r.drawn, r.open = now, now, true
	r.state, r.end, r.early = State{Phase: name}, time.Time{}, time.Time{}
	r.out(eventPhase, now, r.state, "")
}

// Update reports that done of total are done, in any unit, after the time spent, and what is under way now (label). The
// total may grow; a total of 0 shows no percentage. 0 spent stands for the phase's own time. The last state of a phase
// is always shown when it ends.
func (r *Reporter) Update(done, total float64, spent time.Duration, label string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open || !sensible(done) || !sensible(total) {
		return
	}
	now := r.now()
	r.state.Done, r.state.Total, r.state.Label = done, total, label
	r.end = time.Time{}
	if left := (total/done - 1) * cmp.Or(spent, now.Sub(r.started)).Seconds(); done > 0 && total > 0 && left < maxLeft.Seconds() {
		r.end = now.Add(time.Duration(max(0, left) * float64(time.Second)))
	}
	r.show(now)
}

// MayEnd says that the phase may be over after the time left already, because its goal may be reached then. A negative
// one takes it back.
func (r *Reporter) MayEnd(left time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.early = r.now().Add(left); left < 0 {
		r.early = time.Time{}
	}
}

func sensible(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// Tick shows the time that has passed. Call it about once a second during a long slot.
func (r *Reporter) Tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open {
		r.show(r.now())
	}
}

// Note prints a message once, between the progress.
func (r *Reporter) Note(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.at(now)
	r.out(eventNote, now, r.state, message)
}

// Done ends the last phase and the reporter.
func (r *Reporter) Done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	r.endPhase(now)
	if !r.first.IsZero() {
		r.out(eventDone, now, State{Elapsed: now.Sub(r.first)}, "")
		r.first = time.Time{}
	}
}

func (r *Reporter) endPhase(now time.Time) {
	if r.open {
		r.at(now)
		r.out(eventPhaseDone, now, r.state, "")
		r.open = false
	}
}

// show draws the state, if the last drawing is long enough ago.
func (r *Reporter) show(now time.Time) {
	if now.Sub(r.drawn) < r.every {
		return
	}
	r.drawn = now
	r.at(now)
	r.out(eventProgress, now, r.state, "")
}

// at brings the state's times up to now. There is no estimate when the time left is over and the work is not: nobody
// knows how long it still takes.
func (r *Reporter) at(now time.Time) {
	if !r.open {
		return
	}
	r.state.Elapsed = now.Sub(r.started)
	left := r.end.Sub(now)
	r.state.HasLeft = !r.end.IsZero() && r.state.Elapsed >= learnTime && (left >= 0 || r.state.Done >= r.state.Total)
	if r.state.Left = 0; r.state.HasLeft {
		r.state.Left = max(0, left)
	}
	r.state.Least, r.state.MayEnd = min(r.state.Left, max(0, r.early.Sub(now))), r.state.HasLeft && !r.early.IsZero()
}
