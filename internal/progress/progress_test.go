package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"
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
		r.Update(float64(i), 14, fmt.Sprintf("slot %d, paired", i))
		if i == 7 {
			r.Note("host h3 died:\x1b[2J its slots are left out")
		}
	}
	for range 3 {
		c.advance(time.Second)
		r.Tick()
	}
	r.Update(14, 14, "slot 14, pingpong")
	r.Phase("fit")
	c.advance(1500 * time.Millisecond)
	r.Update(0.42, 1.7, "hyperbola")
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
		r.Update(float64(i), 10000, "")
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
		l := &live{w: &b, width: func() int { return width }}
		l.show(eventProgress, time.Time{}, State{Phase: "measure", Label: "paired 生命 µ", Done: 3, Total: 9, Elapsed: time.Hour}, "")
		s := strings.TrimPrefix(b.String(), clearLine)
		if got := text.StringWidth(s); got > max(width-1, 1) {
			t.Errorf("width %d: %q has %d columns", width, s, got)
		}
		if strings.ContainsAny(s, "\r\n\x1b") {
			t.Errorf("width %d: %q moves the cursor", width, s)
		}
	}
}

// A steady pace is estimated exactly, however irregular the updates are.
func TestLeftAtSteadyPace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perSecond := rapid.Float64Range(0.01, 1000).Draw(t, "pace")
		var r rate
		var at time.Duration
		for range 20 {
			at += time.Duration(rapid.IntRange(200, 5000).Draw(t, "ms")) * time.Millisecond
			r.observe(at, at.Seconds()*perSecond)
		}
		left, ok := r.left(at, at.Seconds()*perSecond, 1000*perSecond)
		want := 1000 - at.Seconds()
		if !ok || math.Abs(left.Seconds()-want) > 1e-6*want+1e-6 {
			t.Fatalf("left %v %v, want %v s", left, ok, want)
		}
	})
}

// After the pace has changed for two minutes, the estimate has followed.
func TestLeftFollowsThePace(t *testing.T) {
	var r rate
	var at time.Duration
	done := 0.0
	for range 300 {
		at += time.Second
		done += 10
		r.observe(at, done)
	}
	for range 120 {
		at += time.Second
		done++
		r.observe(at, done)
	}
	left, ok := r.left(at, done, done+100)
	if !ok || left < 80*time.Second || left > 100*time.Second {
		t.Errorf("left %v, want nearly 100 s", left)
	}
}

func TestLeftEdges(t *testing.T) {
	seen := func(at time.Duration, done float64) *rate {
		r := &rate{}
		r.observe(at, done)
		return r
	}
	back := seen(5*time.Second, 10)
	back.observe(6*time.Second, 0)
	for _, c := range []struct {
		name        string
		r           *rate
		now         time.Duration
		done, total float64
		want        time.Duration
		ok          bool
	}{
		{"nothing seen", &rate{}, 5 * time.Second, 0, 10, 0, false},
		{"too early", seen(time.Second, 1), time.Second, 1, 10, 0, false},
		{"nothing done yet", seen(5*time.Second, 0), 5 * time.Second, 0, 10, 0, false},
		{"no total", seen(5*time.Second, 5), 5 * time.Second, 5, 0, 0, false},
		{"went back", back, 6 * time.Second, 0, 10, 0, false},
		{"far", seen(5*time.Second, 1e-9), 5 * time.Second, 1e-9, 10, 0, false},
		{"half", seen(5*time.Second, 5), 5 * time.Second, 5, 10, 5 * time.Second, true},
		{"counts down", seen(5*time.Second, 5), 7 * time.Second, 5, 10, 3 * time.Second, true},
		{"overdue", seen(5*time.Second, 5), 20 * time.Second, 5, 10, 0, false},
		{"more than total", seen(5*time.Second, 11), 5 * time.Second, 11, 10, 0, true},
	} {
		if got, ok := c.r.left(c.now, c.done, c.total); got.Round(time.Millisecond) != c.want || ok != c.ok {
			t.Errorf("%s: %v %v, want %v %v", c.name, got, ok, c.want, c.ok)
		}
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
		r.Update(1, 2, "before any phase")
		r.Tick()
		r.Done()
		if b.Len() != 0 {
			t.Errorf("progress without a phase: %q", b.String())
		}
		r.Phase("p")
		clock.advance(time.Minute)
		r.Update(math.NaN(), 1, "")
		r.Update(1, math.Inf(1), "")
		r.Update(-1, 1, "")
		r.Update(5, 0, "no total")
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
			r.Update(float64(i), 8, "x")
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
