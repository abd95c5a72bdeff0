// Package progress shows how far a long command is: one live line on a terminal, plain lines or JSON events otherwise, nothing
// when asked to be quiet.
//
// The time left is computed from the observed rate and not from the plan's forecast. Older observations count less, so that the
// estimate follows a network that becomes faster or slower, but is not upset by one slow slot. No estimate is shown before there
// is one.
package progress

import (
	"io"
	"math"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

const (
	liveEvery  = 100 * time.Millisecond // between two drawings of the live line
	eventEvery = time.Second            // between two progress events
	plainEvery = 30 * time.Second       // between two lines of progress in a file
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
	rate    rate
	open    bool // a phase is under way
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
}

// sink is one way to show progress: it is told each event, by its name, with the phase's state then. message is that of a note.
// The state of eventDone is that of all phases.
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

// New returns a reporter that writes to w. The width of a terminal is asked of w where w is a file. now is the clock, time.Now
// outside tests.
func New(w io.Writer, style Style, now func() time.Time) *Reporter {
	r := &Reporter{now: now, every: eventEvery}
	switch style {
	case Quiet:
		r.out = func(string, time.Time, State, string) {}
	case Live:
		l := &live{w: w, width: func() int { return Width(w) }}
		r.out, r.every = l.show, liveEvery
	case Plain:
		r.out, r.every = plain{w}.show, plainEvery
	case Events:
		r.out = events{w}.show
	}
	return r
}

// IsTerminal reports whether f is a terminal.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Width returns the columns of the terminal w, 80 where they are not known.
func Width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
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
	r.rate = rate{}
	r.state = State{Phase: name}
	r.out(eventPhase, now, r.state, "")
}

// Update reports that done of total are done, in any unit, and what is under way now (label). The total may grow; a total of 0 or less shows no percentage. The last state of a phase is always shown when it ends.
func (r *Reporter) Update(done, total float64, label string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open || !sensible(done) || !sensible(total) {
		return
	}
	now := r.now()
	r.rate.observe(now.Sub(r.started), done)
	r.state.Done, r.state.Total, r.state.Label = done, total, label
	r.show(now)
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

// at brings the state's times up to now.
func (r *Reporter) at(now time.Time) {
	if r.open {
		r.state.Elapsed = now.Sub(r.started)
		r.state.Left, r.state.HasLeft = r.rate.left(r.state.Elapsed, r.state.Done, r.state.Total)
	}
}
