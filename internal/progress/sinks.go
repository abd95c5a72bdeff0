package progress

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"calib/internal/units"
)

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
		parts = append(parts, left(s)+" left,")
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

// left prints the time left: 3:10, or 1:20 to 3:10 where the phase may end sooner, or up to 3:10 where that may be at
// once.
func left(s State) string {
	least, most := clock(s.Least), clock(s.Left)
	switch {
	case !s.MayEnd || least == most:
		return most
	case least == clock(0):
		return "up to " + most
	}
	return least + " to " + most
}

// counts prints "17 of 240" where the work is counted in whole steps.
func counts(s State) string {
	if s.Total <= 0 || s.Done != math.Trunc(s.Done) || s.Total != math.Trunc(s.Total) {
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

// Names of events.
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
	// Least is up to Left: the phase may end then already. It is absent where it may not.
	Least   *float64 `json:"left_least_s,omitempty"`
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
		if s.MayEnd {
			ev.Least = tenths(s.Least)
		}
	}
	if event != eventPhase && event != eventNote {
		ev.Elapsed = tenths(s.Elapsed)
		if s.Total > 0 {
			done, total, pc := s.Done, s.Total, math.Floor(1000*min(s.Done/s.Total, 1))/10
			ev.Done, ev.Total, ev.Percent = &done, &total, &pc
		}
	}
	b, err := json.Marshal(ev)
	if err != nil {
		return // strings and finite numbers always marshal
	}
	e.w.Write(append(b, '\n'))
}

func tenths(d time.Duration) *float64 {
	v := math.Round(d.Seconds()*10) / 10
	return &v
}
