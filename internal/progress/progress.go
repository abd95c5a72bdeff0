// Package progress shows how far a long command is: one live line on a terminal, plain lines or JSON events otherwise,
// nothing when asked to be quiet.
//
// The time left follows from the time spent and the share that is done: whoever knows that some of the work takes
// longer counts it as more. It counts down between two reports. No estimate is shown before there is one.
package progress

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
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
	open    bool      // a phase is under way
}

type State struct {
	Phase   string
	Label   string
	Done    float64
	Total   float64
	Elapsed time.Duration
	Left    time.Duration // meaningful if HasLeft
	HasLeft bool
}

// sink is one way to show progress: it is told each event, by its name, with the phase's state then. message is that of
// a note. The state of eventDone is that of all phases.
type sink func(event string, at time.Time, s State, message string)

type Style int

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
	r.state, r.end = State{Phase: name}, time.Time{}
	r.tell(eventPhase, now, "")
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
	left := (total/done - 1) * cmp.Or(spent, now.Sub(r.started)).Seconds()
	if done > 0 && total > 0 && left < maxLeft.Seconds() {
		r.end = now.Add(time.Duration(max(0, left) * float64(time.Second)))
	}
	r.show(now)
}

func sensible(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// Tick shows the time that has passed. Call it about once a second during a long slot.
func (r *Reporter) Tick() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.show(r.now())
}

// Note prints a message once, between the progress.
func (r *Reporter) Note(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tell(eventNote, r.now(), message)
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
		r.tell(eventPhaseDone, now, "")
		r.open = false
	}
}

// show draws the state, if the last drawing is long enough ago.
func (r *Reporter) show(now time.Time) {
	if r.open && now.Sub(r.drawn) >= r.every {
		r.drawn = now
		r.tell(eventProgress, now, "")
	}
}

// tell gives the sink an event, with the state's times as they are now. There is no estimate when the time left is over
// and the work is not: nobody knows how long it still takes.
func (r *Reporter) tell(event string, now time.Time, message string) {
	if s := &r.state; r.open {
		s.Elapsed = now.Sub(r.started)
		left := r.end.Sub(now)
		s.HasLeft = !r.end.IsZero() && s.Elapsed >= learnTime && (left >= 0 || s.Done >= s.Total)
		if s.Left = 0; s.HasLeft {
			s.Left = max(0, left)
		}
	}
	r.out(event, now, r.state, message)
}

// lines are those of text: of each phase its state now and then, and how long it took; and the notes. On a terminal the
// state is one line, drawn over itself.
type lines struct {
	w     io.Writer
	width func() int // of the terminal; nil is none
	drawn bool       // the line is on the screen
}

const clearLine = "\r\x1b[K"

func (l *lines) show(event string, _ time.Time, s State, message string) {
	switch drawn := l.drawn; {
	case event == eventProgress, event == eventPhase && l.width != nil:
		l.draw(s)
	case event == eventNote:
		l.print(units.OneLine(message) + "\n")
		if drawn {
			l.draw(s)
		}
	case event == eventPhaseDone:
		done := units.OneLine(s.Phase) + ":"
		if c := counts(s); c != "" {
			done += " " + c
		}
		l.print(done + " in " + clock(s.Elapsed) + "\n")
	case event == eventDone:
		l.print("")
	}
}

func (l *lines) draw(s State) {
	if l.width == nil {
		io.WriteString(l.w, line(s)+"\n")
		return
	}
	// One column is left free: a full line wraps on some terminals, and then cannot be drawn over.
	io.WriteString(l.w, clearLine+text.Snip(line(s), max(l.width()-1, 1), "…"))
	l.drawn = true
}

// print writes s where the line was.
func (l *lines) print(s string) {
	if l.drawn {
		io.WriteString(l.w, clearLine)
	}
	io.WriteString(l.w, s)
	l.drawn = false
}

// line is a state in words, the most wanted first: a narrow terminal cuts off its end.
func line(s State) string {
	parts := []string{units.OneLine(s.Phase) + ":"}
	if s.Total > 0 {
		parts = append(parts, fmt.Sprintf("%3d%%", percent(s)))
	}
	if s.HasLeft {
		parts = append(parts, clock(s.Left)+" left,")
	}
	if s.Elapsed > 0 {
		parts = append(parts, clock(s.Elapsed)+" gone,")
	}
	if c := counts(s); c != "" {
		parts = append(parts, c+",")
	}
	if s.Label != "" {
		parts = append(parts, units.OneLine(s.Label))
	}
	return strings.TrimSuffix(strings.Join(parts, " "), ",")
}

// counts prints "17 of 240" where the work is counted in whole steps; a total of 1 is of shares.
func counts(s State) string {
	if s.Total <= 1 || s.Done != math.Trunc(s.Done) || s.Total != math.Trunc(s.Total) {
		return ""
	}
	return fmt.Sprintf("%.0f of %.0f", s.Done, s.Total)
}

// percent is rounded down: 100 means done.
func percent(s State) int { return int(min(100*s.Done/s.Total, 100)) }

// clock prints a time as 0:07, 12:34 or 1:02:03.
func clock(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

const (
	eventPhase     = "phase" // a phase begins
	eventProgress  = "progress"
	eventNote      = "note"
	eventPhaseDone = "phase-done"
	eventDone      = "done" // with all phases
)

// Event is one line of progress for programs. Times are in seconds.
type Event struct {
	Event   string   `json:"event"`
	Time    string   `json:"time"` // RFC 3339
	Phase   string   `json:"phase,omitempty"`
	Label   string   `json:"label,omitempty"`
	Done    *float64 `json:"done,omitempty"`
	Total   *float64 `json:"total,omitempty"`
	Percent *float64 `json:"percent,omitempty"`
	Elapsed *float64 `json:"elapsed_s,omitempty"`
	Left    *float64 `json:"left_s,omitempty"` // absent while there is no estimate
	Message string   `json:"message,omitempty"`
}

// events writes one Event on each line.
type events struct{ w io.Writer }

func (e events) show(event string, at time.Time, s State, message string) {
	ev := Event{Event: event, Time: at.UTC().Format(time.RFC3339Nano), Phase: s.Phase, Message: message}
	if event == eventProgress {
		ev.Label = s.Label
		if s.HasLeft {
			ev.Left = tenths(s.Left)
		}
	}
	if event != eventPhase && event != eventNote {
		ev.Elapsed = tenths(s.Elapsed)
		if s.Total > 0 {
			ev.Done, ev.Total = &s.Done, &s.Total
			ev.Percent = new(math.Floor(1000*min(s.Done/s.Total, 1)) / 10)
		}
	}
	_ = json.NewEncoder(e.w).Encode(ev)
}

func tenths(d time.Duration) *float64 { return new(math.Round(d.Seconds()*10) / 10) }
