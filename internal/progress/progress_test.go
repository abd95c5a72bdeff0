package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// fakeClock is a clock that moves when it is told to.
type fakeClock struct{ t time.Time }

func (c *fakeClock) now() time.Time          { return c.t }
func (c *fakeClock) advance(d time.Duration) { c.t = c.t.Add(d) }

func newClock() *fakeClock { return &fakeClock{time.Date(2026, 3, 1, 10, 15, 0, 0, time.UTC)} }

// story is a run of two phases: 12 slots of half a second, a slow one, a note, then fits.
func story(r *Reporter, c *fakeClock) {
	r.Phase("measure")
	for i := 1; i <= 12; i++ {
		c.advance(500 * time.Millisecond)
		r.Update(float64(i), 14, 0, fmt.Sprintf("slot %d, paired", i))
		if i == 7 {
			r.Note("host h3 died:\x1b[2J its slots are left out")
		}
	}
	for range 3 {
		c.advance(time.Second)
		r.Tick()
	}
	r.Update(14, 14, 0, "slot 14, pingpong")
	r.Phase("fit")
	c.advance(1500 * time.Millisecond)
	r.Update(0.42, 1.7, 0, "hyperbola")
	c.advance(61 * time.Minute)
	r.Done()
}

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		name  string
		style Style
	}{{"live.txt", Live}, {"plain.txt", Plain}, {"events.jsonl", Events}, {"quiet.txt", Quiet}} {
		var b bytes.Buffer
		clock := newClock()
		story(New(&b, c.style, clock.now), clock)
		path := filepath.Join("testdata", c.name)
		if *update {
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (run with -update if it is meant):\n%s", c.name, diff)
		}
	}
}

func TestEventsAreJSONAndRare(t *testing.T) {
	var b bytes.Buffer
	clock := newClock()
	r := New(&b, Events, clock.now)
	r.Phase("measure")
	for i := range 10000 {
		clock.advance(time.Millisecond)
		r.Update(float64(i), 10000, 0, "")
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 11 { // the phase, then one each second
		t.Errorf("%d events in 10 s, want 11", len(lines))
	}
	for _, l := range lines {
		if err := json.Unmarshal([]byte(l), &Event{}); err != nil {
			t.Errorf("%v: %s", err, l)
		}
	}
}

func TestLiveLineFits(t *testing.T) {
	for width := 1; width < 70; width++ {
		var b bytes.Buffer
		l := &lines{w: &b, width: func() int { return width }}
		l.show(eventProgress, time.Time{}, State{Phase: "measure", Label: "paired 生命 µ", Done: 3, Total: 9,
			Elapsed: time.Hour}, "")
		s := strings.TrimPrefix(b.String(), clearLine)
		if got := text.StringWidth(s); got > max(width-1, 1) {
			t.Errorf("width %d: %q has %d columns", width, s, got)
		}
		if strings.ContainsAny(s, "\r\n\x1b") {
			t.Errorf("width %d: %q moves the cursor", width, s)
		}
	}
}

// TestLeft: what the time left is said to be, after a report and a wait.
func TestLeft(t *testing.T) {
	for _, c := range []struct {
		name        string
		at          time.Duration // of the report, in the phase
		spent       time.Duration
		done, total float64
		wait        time.Duration
		want        time.Duration
		ok          bool
	}{
		{name: "half", at: 5 * time.Second, done: 5, total: 10, want: 5 * time.Second, ok: true},
		{name: "counts down", at: 5 * time.Second, done: 5, total: 10, wait: 2 * time.Second, want: 3 * time.Second,
			ok: true},
		{name: "over, and not done", at: 5 * time.Second, done: 5, total: 10, wait: 6 * time.Second},
		{name: "begun before the phase", at: 5 * time.Second, spent: 10 * time.Second, done: 5, total: 15,
			want: 20 * time.Second, ok: true},
		{name: "too early", at: time.Second, done: 1, total: 10},
		{name: "later", at: time.Second, done: 1, total: 10, wait: time.Second, want: 8 * time.Second, ok: true},
		{name: "nothing done yet", at: 5 * time.Second, total: 10},
		{name: "no total", at: 5 * time.Second, done: 5},
		{name: "far", at: 5 * time.Second, done: 1e-9, total: 10},
		{name: "done", at: 5 * time.Second, done: 10, total: 10, wait: time.Second, ok: true},
		{name: "more than all", at: 5 * time.Second, done: 11, total: 10, ok: true},
	} {
		clock := newClock()
		r := New(io.Discard, Quiet, clock.now)
		r.Phase("p")
		clock.advance(c.at)
		r.Update(c.done, c.total, c.spent, "")
		clock.advance(c.wait)
		r.Tick()
		if r.tell(eventNote, clock.now(), ""); r.state.Left.Round(time.Millisecond) != c.want || r.state.HasLeft != c.ok {
			t.Errorf("%s: %v %v, want %v %v", c.name, r.state.Left, r.state.HasLeft, c.want, c.ok)
		}
	}
}

// TestLeftIsOfThePhase: an estimate ends with its phase.
func TestLeftIsOfThePhase(t *testing.T) {
	clock := newClock()
	r := New(io.Discard, Quiet, clock.now)
	r.Phase("p")
	clock.advance(5 * time.Second)
	r.Update(5, 10, 0, "")
	r.Phase("q")
	clock.advance(3 * time.Second)
	if r.tell(eventNote, clock.now(), ""); r.state.HasLeft {
		t.Errorf("%v left of a phase of which nothing is known", r.state.Left)
	}
}

func TestClock(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0:00", 7400 * time.Millisecond: "0:07", 59600 * time.Millisecond: "1:00", 3723 * time.Second: "1:02:03",
	} {
		if got := clock(d); got != want {
			t.Errorf("clock(%v) = %s, want %s", d, got, want)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestOddUse(t *testing.T) {
	for _, style := range []Style{Live, Plain, Events} {
		clock := newClock()
		r := New(brokenPipe{}, style, clock.now)
		story(r, clock)
		var b bytes.Buffer
		r = New(&b, style, clock.now)
		r.Update(1, 2, 0, "before any phase")
		r.Tick()
		r.Done()
		if b.Len() != 0 {
			t.Errorf("progress without a phase: %q", b.String())
		}
		r.Phase("p")
		clock.advance(time.Minute)
		r.Update(math.NaN(), 1, 0, "")
		r.Update(1, math.Inf(1), 0, "")
		r.Update(-1, 1, 0, "")
		r.Update(5, 0, 0, "no total")
		r.Done()
		r.Done()
		if s := b.String(); strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.Contains(s, "%") {
			t.Errorf("%q", s)
		}
	}
}

func TestConcurrentUse(t *testing.T) {
	var b bytes.Buffer
	start := newClock().t
	r := New(&b, Events, func() time.Time { return start })
	r.Phase("p")
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			r.Update(float64(i), 8, 0, "x")
			r.Tick()
			r.Note("n")
		})
	}
	wg.Wait()
	r.Done()
	if n := strings.Count(b.String(), "\n"); n != 8+3 {
		t.Errorf("%d lines, want 11:\n%s", n, b.String())
	}
}
