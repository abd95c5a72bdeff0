package watch

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"calib/fit/drift"
	"calib/fit/fault"
	"calib/internal/history"
)

const every = 3 * time.Minute

var monday = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// world is a network and a clock of which a test knows everything.
type world struct {
	hosts  []string
	now    time.Time
	end    time.Time
	rng    *rand.Rand
	change func(w *world, s *Sighting)
	events []Event
	status Status
	looks  int
}

var errOver = errors.New("over")

func newWorld(hosts int) *world {
	w := &world{now: monday, rng: rand.New(rand.NewPCG(1, 2))}
	for h := range hosts {
		w.hosts = append(w.hosts, fmt.Sprintf("n%d", h))
	}
	return w
}

func (w *world) look(_ context.Context, together *bool, again [][2]int, _ map[[2]int]time.Time,
	_ func(time.Duration) bool) (Sighting, error) {
	number := w.looks
	w.looks++
	s := Sighting{Took: 20 * time.Millisecond, Together: together}
	for _, h := range w.hosts {
		s.Hosts = append(s.Hosts, Machine{Name: h, Boot: "b", Env: map[string]string{"kernel": "6.1"},
			CPU: 40 * time.Millisecond})
	}
	n := len(w.hosts) - 1
	pairs := again
	for r := number * 6; r < number*6+6; r++ {
		pairs = append(pairs, [2]int{r % n, n})
		for i := 1; 2*i <= n; i++ {
			pairs = append(pairs, [2]int{(r + i) % n, (r - i + n) % n})
		}
	}
	for k, p := range pairs {
		if k%2 == 1 {
			p[0], p[1] = p[1], p[0]
		}
		s.Seen = append(s.Seen, fault.Seen{From: p[0], To: p[1], Latency: 50e-6 * math.Exp(0.01*w.rng.NormFloat64()),
			PerByte: 1e-9 * math.Exp(0.01*w.rng.NormFloat64()), Segments: 500})
	}
	if w.change != nil {
		w.change(w, &s)
	}
	return s, nil
}

// watch runs a watch on a store for so long.
func (w *world) watch(t *testing.T, store string, long time.Duration) {
	t.Helper()
	s, err := history.Open(t.Context(), store, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w.end = w.now.Add(long)
	err = Run(t.Context(), Config{Store: s, Hosts: w.hosts, Look: w.look, Every: every, Share: 0.001,
		Learn: 24 * time.Hour, Margin: 0.005, Now: func() time.Time { return w.now },
		Wait: func(_ context.Context, d time.Duration) error {
			if w.now = w.now.Add(d); w.now.Before(w.end) {
				return nil
			}
			w.now = w.end
			return errOver
		}, Tell: func(e Event) { w.events = append(w.events, e) }, After: func(s Status) { w.status = s }})
	if !errors.Is(err, errOver) {
		t.Fatal(err)
	}
}

func (w *world) said(kind string) (out []string) {
	for _, e := range w.events {
		if e.Kind == kind {
			out = append(out, e.Text)
		}
	}
	return out
}

func changes(t *testing.T, store string) []history.Change {
	t.Helper()
	s, err := history.Open(t.Context(), store, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Changes(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// slower makes what a host sends take so many times as long.
func slower(s *Sighting, host int, times float64) {
	for i := range s.Seen {
		if s.Seen[i].From == host {
			s.Seen[i].PerByte *= times
		}
	}
}

// TestChangeIsKept: a slow host is named within an hour, told and stored once, over a restart, and ends.
func TestChangeIsKept(t *testing.T) {
	w, store := newWorld(8), filepath.Join(t.TempDir(), "h.db")
	bad := monday.Add(30 * time.Hour)
	w.change = func(w *world, s *Sighting) {
		if !w.now.Before(bad) && w.now.Before(bad.Add(6*time.Hour)) {
			slower(s, 3, 1.1)
		}
	}
	w.watch(t, store, 31*time.Hour)
	all := changes(t, store)
	if len(all) != 1 || !slices.Equal(all[0].Hosts, []string{"n3"}) || all[0].Direction != fault.Sending ||
		all[0].Over != nil || all[0].Since.Sub(bad).Abs() > 15*time.Minute ||
		*all[0].Ratio < 1.05 || *all[0].Ratio > 1.15 {
		t.Fatalf("%+v, events %v", all, w.events)
	}
	w.watch(t, store, 8*time.Hour)
	all = changes(t, store)
	if len(all) != 1 || all[0].Over == nil || all[0].Over.Sub(bad.Add(6*time.Hour)).Abs() > 15*time.Minute {
		t.Errorf("%+v", all)
	}
	if n, m := len(w.said(history.EventSlower)), len(w.said(history.EventOver)); n != 1 || m != 1 {
		t.Errorf("told %d beginnings and %d ends: %v", n, m, w.events)
	}
	if len(w.status.Open) > 0 || w.status.Learning {
		t.Errorf("%+v", w.status)
	}
}

// TestOwnChanges: a watch of other hosts with the same store neither takes over what is slow nor ends it. One of more
// hosts, or of fewer, does take it over.
func TestOwnChanges(t *testing.T) {
	w, store := newWorld(8), filepath.Join(t.TempDir(), "h.db")
	bad := monday.Add(30 * time.Hour)
	w.change = func(w *world, s *Sighting) {
		if !w.now.Before(bad) && w.now.Before(bad.Add(6*time.Hour)) {
			slower(s, 3, 1.1)
		}
		for i := range s.Seen {
			s.Seen[i].Failed = w.now.After(bad.Add(2 * time.Hour))
		}
	}
	w.watch(t, store, 33*time.Hour)
	lasting := func() (out []string) {
		for _, c := range changes(t, store) {
			if c.Over == nil {
				out = append(out, c.Quantity+" "+strings.Join(c.Hosts, ","))
			}
		}
		return out
	}
	want := []string{"rate n3", "reach "}
	if got := lasting(); !slices.Equal(got, want) {
		t.Fatalf("%q, events %v", got, w.events)
	}

	others := newWorld(4)
	others.hosts, others.now = []string{"m0", "m1", "m2", "m3"}, w.now
	others.watch(t, store, time.Hour)
	if got := lasting(); !slices.Equal(got, want) || len(others.events) > 0 || len(others.status.Open) > 0 {
		t.Errorf("%q, events %v, open %v", got, others.events, others.status.Open)
	}

	w.hosts = append(w.hosts, "n8", "n9")
	if w.watch(t, store, time.Hour); len(w.status.Open) != 2 {
		t.Errorf("with more hosts: open %v", w.status.Open)
	}
	w.hosts, w.change = w.hosts[:6], nil
	if w.watch(t, store, time.Hour); len(w.status.Open) != 0 || len(lasting()) != 0 {
		t.Errorf("with fewer hosts: open %v, events %v", w.status.Open, w.events)
	}
}

// TestBounds: a look may take so much of the links and so long that looks are no further apart than 12 h, and last for
// ten minutes. Of many failing pairs some look again, by turns.
func TestBounds(t *testing.T) {
	w := &watcher{Config: Config{Share: 0.001, Learn: time.Hour, Every: every}}
	now := monday
	w.Now = func() time.Time { return now }
	more := w.more()
	if !more(0) || !more(43*time.Second) || more(44*time.Second) {
		t.Error("want a look that takes up to 43.2 s of the links")
	}
	if now = now.Add(9 * time.Minute); !more(0) {
		t.Error("ended too early")
	}
	if now = now.Add(time.Minute); more(0) {
		t.Error("did not end")
	}

	w.drift = drift.New(drift.Options{Learn: day}, nil)
	l := drift.Look{At: monday}
	for b := range 20 {
		for a := range b {
			l.Seen = append(l.Seen, fault.Seen{From: a, To: b, Failed: a < 4})
		}
	}
	w.drift.Add(l)
	seen := map[[2]int]int{}
	failing := len(w.drift.Failing())
	for range failing {
		pairs := w.again()
		if w.number++; len(pairs) != mostAgain {
			t.Fatalf("%d look again", len(pairs))
		}
		for _, p := range pairs {
			seen[p]++
		}
	}
	for p, n := range seen {
		if n != mostAgain || len(seen) != failing {
			t.Fatalf("%v %d times, %d of %d pairs", p, n, len(seen), failing)
		}
	}
}

// TestGroupIsKept: where the uplink of a rack is slow, the rack is named, over a restart, and no host.
func TestGroupIsKept(t *testing.T) {
	w, store := newWorld(8), filepath.Join(t.TempDir(), "h.db")
	bad := monday.Add(30 * time.Hour)
	w.change = func(w *world, s *Sighting) {
		for i := range s.Seen {
			o := &s.Seen[i]
			if o.From/4 != o.To/4 {
				o.Latency *= 1.5
			}
			if o.From < 4 && o.To >= 4 && !w.now.Before(bad) && w.now.Before(bad.Add(6*time.Hour)) {
				o.PerByte *= 1.2
			}
		}
	}
	w.watch(t, store, 31*time.Hour)
	all := changes(t, store)
	if len(all) != 1 || !all[0].Group || !slices.Equal(all[0].Hosts, w.hosts[:4]) || all[0].Over != nil ||
		all[0].Direction != fault.Sending ||
		!strings.HasPrefix(all[0].Says, "what crosses n[0-3] (4 hosts): a byte in sending takes 1.") {
		t.Fatalf("%+v, events %v", all, w.events)
	}
	w.watch(t, store, 8*time.Hour)
	all = changes(t, store)
	if len(all) != 1 || all[0].Over == nil || all[0].Over.Sub(bad.Add(6*time.Hour)).Abs() > 15*time.Minute {
		t.Errorf("%+v", all)
	}
}

// TestShare: what looks cost decides how far apart they are.
func TestShare(t *testing.T) {
	w, store := newWorld(4), filepath.Join(t.TempDir(), "h.db")
	w.change = func(_ *world, s *Sighting) { s.Took, s.Hosts[2].CPU = 300*time.Millisecond, 600*time.Millisecond }
	w.watch(t, store, 24*time.Hour)
	if w.looks != 144 || math.Abs(w.status.CPUShare-0.001) > 1e-6 || math.Abs(w.status.Share-0.0005) > 1e-6 ||
		w.status.Next != 10*time.Minute {
		t.Errorf("%d looks, shares %g and %g, next in %v", w.looks, w.status.Share, w.status.CPUShare, w.status.Next)
	}
}

// TestShareOverTime: looks that come early, after one in which something failed, are paid for by later ones. A watch
// that is started again neither looks at once nor forgets what was used.
func TestShareOverTime(t *testing.T) {
	w, store := newWorld(6), filepath.Join(t.TempDir(), "h.db")
	shortest, last := day, time.Time{}
	w.change = func(w *world, s *Sighting) {
		s.Took = 600 * time.Millisecond // of ten minutes
		for i, o := range s.Seen {
			s.Seen[i].Failed = w.looks%5 == 0 && fault.Pair(o.From, o.To) == [2]int{1, 4}
		}
		shortest, last = min(shortest, w.now.Sub(last)), w.now
	}
	w.watch(t, store, 48*time.Hour)
	if w.looks < 270 || w.looks > 288 || w.status.Share > 0.001 || shortest != time.Minute {
		t.Errorf("%d looks, share %g, as near as %v", w.looks, w.status.Share, shortest)
	}
	for range 20 {
		w.watch(t, store, time.Minute)
	}
	w.watch(t, store, time.Hour)
	if w.looks < 276 || w.looks > 296 || w.status.Share > 0.001 || w.status.Share < 0.00095 || len(w.events) > 0 {
		t.Errorf("%d looks, share %g, events %v", w.looks, w.status.Share, w.events)
	}
}

// TestWaited: how long a pair has waited is known over a restart, also by medians of days; one that was never seen
// waits since the start.
func TestWaited(t *testing.T) {
	w, store := newWorld(4), filepath.Join(t.TempDir(), "h.db")
	w.watch(t, store, 10*time.Minute)
	if w.status.Waited != every || w.status.Within != 0 {
		t.Errorf("waited %v, within %v", w.status.Waited, w.status.Within)
	}
	w.change = func(w *world, s *Sighting) {
		s.Seen = slices.DeleteFunc(s.Seen, func(o fault.Seen) bool { return fault.Pair(o.From, o.To) == [2]int{1, 2} })
		s.Pass, w.now = 3, w.now.Add(time.Minute)
	}
	w.watch(t, store, time.Hour)
	if w.status.Waited < 58*time.Minute || w.status.Waited > 62*time.Minute ||
		w.status.Within != 3*(every+time.Minute) {
		t.Errorf("waited %v, within %v", w.status.Waited, w.status.Within)
	}
	w.now = monday.Add(80 * day)
	w.watch(t, store, time.Hour)
	w.watch(t, store, time.Hour)
	if w.status.Waited < 80*day || w.status.Waited > 81*day {
		t.Errorf("waited %v", w.status.Waited)
	}
	w.hosts = append(w.hosts, "n4", "n5")
	w.change = func(_ *world, s *Sighting) {
		s.Seen = slices.DeleteFunc(s.Seen, func(o fault.Seen) bool { return fault.Pair(o.From, o.To) == [2]int{0, 4} })
	}
	w.watch(t, store, time.Hour)
	if w.status.Waited < 50*time.Minute || w.status.Waited > time.Hour {
		t.Errorf("waited %v for a pair that was never seen", w.status.Waited)
	}
}

// TestKeepsTogether: a watch that is started again looks as it did before.
func TestKeepsTogether(t *testing.T) {
	w, store, yes := newWorld(4), filepath.Join(t.TempDir(), "h.db"), true
	asked := 0
	w.change = func(_ *world, s *Sighting) {
		if s.Together == nil {
			asked, s.Together = asked+1, &yes
		}
	}
	for range 3 {
		w.watch(t, store, time.Hour)
	}
	if asked != 1 || w.status.Together == nil || !*w.status.Together {
		t.Errorf("asked %d times, is %v", asked, w.status.Together)
	}
}

// TestDead: a dead pair is told after two looks, a minute apart, and its end; a host that measures for somebody else is
// not dead.
func TestDead(t *testing.T) {
	w, store := newWorld(6), filepath.Join(t.TempDir(), "h.db")
	from := monday.Add(time.Hour)
	w.change = func(w *world, s *Sighting) {
		for i := range s.Seen {
			o := &s.Seen[i]
			o.Failed = w.now.After(from) && w.now.Before(from.Add(time.Hour)) &&
				fault.Pair(o.From, o.To) == [2]int{1, 4}
		}
		if w.now.After(from) {
			s.Hosts[5].Lost, s.Hosts[5].Busy = "busy", true
		}
	}
	w.watch(t, store, 3*time.Hour)
	all := changes(t, store)
	if len(all) != 1 || !slices.Equal(all[0].Hosts, []string{"n1", "n4"}) || all[0].Quantity != fault.Reach ||
		all[0].Ratio != nil || all[0].Found.Sub(from) > 8*time.Minute || all[0].Over == nil {
		t.Errorf("%+v", all)
	}
	said := w.said(history.EventSlower)
	if len(said) != 1 || !strings.HasPrefix(said[0], "pair n1 – n4: nothing comes through") {
		t.Error(said)
	}
}

// TestReboot: a host that boots within ten minutes is a mark and no change. One that does not come back is dead.
func TestReboot(t *testing.T) {
	w, store := newWorld(6), filepath.Join(t.TempDir(), "h.db")
	boots, dies := monday.Add(time.Hour), monday.Add(3*time.Hour)
	w.change = func(w *world, s *Sighting) {
		away := func(h int, from time.Time, long time.Duration) bool {
			if w.now.Before(from) || !w.now.Before(from.Add(long)) {
				return false
			}
			s.Hosts[h].Lost, s.Hosts[h].Env = "ssh: connection timed out", nil
			s.Seen = slices.DeleteFunc(s.Seen, func(o fault.Seen) bool { return o.From == h || o.To == h })
			return true
		}
		if !away(2, boots, 9*time.Minute) && w.now.After(boots) {
			s.Hosts[2].Boot = "c"
		}
		away(4, dies, time.Hour)
	}
	w.watch(t, store, 2*time.Hour)
	if len(w.events) != 1 || w.events[0].Text != "n2 was booted" {
		t.Errorf("events %v", w.events)
	}
	w.watch(t, store, 3*time.Hour)
	all := changes(t, store)
	if len(all) != 1 || !slices.Equal(all[0].Hosts, []string{"n4"}) || all[0].Found.Sub(dies) > 14*time.Minute ||
		all[0].Over == nil {
		t.Errorf("%+v", all)
	}
}

// TestMarks: a boot, another kernel and a clock that was set are marks, not changes. A change at about that time names
// them.
func TestMarks(t *testing.T) {
	w, store := newWorld(8), filepath.Join(t.TempDir(), "h.db")
	update := monday.Add(30 * time.Hour)
	w.change = func(w *world, s *Sighting) {
		if !w.now.Before(update) {
			s.Hosts[2].Boot, s.Hosts[2].Env = "c", map[string]string{"kernel": "6.2"}
			slower(s, 2, 1.1)
		}
	}
	w.watch(t, store, 34*time.Hour)
	want := []string{"n2 was booted", `n2: kernel was "6.1", is "6.2"`}
	if got := w.said(history.EventMark); !slices.Equal(got, want) {
		t.Error(got)
	}
	all := changes(t, store)
	if len(all) != 1 || !strings.Contains(all[0].Says, `about then: n2: kernel was "6.1", is "6.2"`) {
		t.Errorf("%+v", all)
	}
}

// TestClockSet: the wall clock and the time that passed tell that somebody has set the clock.
func TestClockSet(t *testing.T) {
	w := &watcher{}
	now := time.Now()
	if m := append(w.clockSet(now), w.clockSet(now.Add(time.Hour))...); m != nil {
		t.Error(m)
	}
	for _, by := range []time.Duration{3 * time.Hour, -90 * time.Second, time.Second} {
		w.last = now
		var want []string
		if by.Abs() > step {
			want = []string{fmt.Sprintf("the clock of the watching host was set by %v", by)}
		}
		if m := w.clockSet(passed(now.Add(by+time.Minute), -by)); !slices.Equal(m, want) {
			t.Errorf("%q, want %q", m, want)
		}
	}
	w.last = now.Add(-time.Hour).Round(0) // without the monotonic clock they cannot be told apart
	if m := w.clockSet(now); m != nil {
		t.Error(m)
	}
}

// passed is a time at which so much more has passed, by the monotonic clock, which only the system sets otherwise: the
// second word of a time.
func passed(t time.Time, more time.Duration) time.Time {
	*(*int64)(unsafe.Add(unsafe.Pointer(&t), unsafe.Sizeof(uint64(0)))) += int64(more)
	return t
}

// TestStoreFails: what cannot be stored waits, and is stored when it can be.
func TestStoreFails(t *testing.T) {
	w, store := newWorld(4), filepath.Join(t.TempDir(), "h.db")
	w.watch(t, store, time.Hour)
	s, err := history.Open(t.Context(), store, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := &watcher{Config: Config{Store: s, Now: func() time.Time { return w.now }}}
	ended, cancel := context.WithCancel(t.Context())
	cancel() // as a full disk does, it makes each change fail
	for i := range 5 {
		l := history.Look{At: w.now.Add(time.Duration(i)), Data: []byte{}}
		x.unsaved = append(x.unsaved, history.Watched{Look: l})
		if err := x.save(ended); err == nil || len(x.unsaved) != i+1 {
			t.Fatalf("%d wait: %v", len(x.unsaved), err)
		}
	}
	for len(x.unsaved) <= mostUnsaved {
		x.unsaved = append(x.unsaved, x.unsaved[0])
	}
	if err := x.save(ended); err == nil || len(x.unsaved) != mostUnsaved || x.lost != 1 {
		t.Errorf("%d wait, %d lost: %v", len(x.unsaved), x.lost, err)
	}
	x.unsaved = x.unsaved[:5]
	if err := x.save(t.Context()); err != nil || len(x.unsaved) != 0 {
		t.Errorf("%d wait: %v", len(x.unsaved), err)
	}
	n := 0
	err = s.EachLook(t.Context(), time.Time{}, func(history.Look) error { n++; return nil })
	if err != nil || n != 25 {
		t.Errorf("%d looks, want 20 and 5: %v", n, err)
	}
}

// A look that cannot be read, as of another build, does not keep the others of its day from being folded.
func TestFoldPassesOver(t *testing.T) {
	good := (&stored{Hosts: []string{"a", "b"}, Seen: [][6]int64{{0, 1, 5, 6, 7, 8}}}).pack()
	data := fold([]history.Look{{Data: []byte("damaged")}, {Data: good}})
	if s, err := unpack(data); err != nil || len(s.Seen) != 1 || s.Seen[0][2] != 5 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestFold: looks of more than 30 days ago become one a day, with the medians of pairs.
func TestFold(t *testing.T) {
	w, store := newWorld(4), filepath.Join(t.TempDir(), "h.db")
	w.watch(t, store, 40*time.Hour)
	w.now = monday.Add(35 * 24 * time.Hour)
	w.watch(t, store, time.Hour)
	s, err := history.Open(t.Context(), store, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var spans []time.Duration
	err = s.EachLook(t.Context(), time.Time{}, func(l history.Look) error {
		look, _, err := decode(l, w.hosts)
		if err != nil {
			return err
		}
		if spans = append(spans, l.Span); l.Span > 0 {
			if len(look.Seen) < 6 {
				t.Errorf("%d ways, want 6 or more", len(look.Seen))
			}
			for _, o := range look.Seen {
				if math.Abs(o.Latency-50e-6) > 1e-6 || math.Abs(o.PerByte-1e-9) > 2e-11 || o.Segments < 50000 {
					t.Errorf("%+v", o)
				}
			}
		}
		return nil
	})
	if err != nil || len(spans) != 22 || spans[0] != day || spans[1] != day || spans[2] != 0 {
		t.Errorf("%v %v", spans, err)
	}
	var times []time.Time
	err = Each(t.Context(), s, monday.Add(day), func(at time.Time, hosts []string, seen []fault.Seen) {
		times = append(times, at)
		if !slices.Equal(hosts, w.hosts) || len(seen) < 6 || math.Abs(seen[0].Latency-50e-6) > 5e-6 {
			t.Errorf("%v: of %q %+v", at, hosts, seen)
		}
	})
	if err != nil || len(times) != 21 || times[0] != monday.Add(day) || times[1].Before(monday.Add(35*day)) {
		t.Errorf("%v %v", times, err)
	}
}

// TestFoldAfterSetBack: looks of a clock that was set back by years are folded with those that were stored since.
func TestFoldAfterSetBack(t *testing.T) {
	w, store := newWorld(4), filepath.Join(t.TempDir(), "h.db")
	w.now = monday.Add(10 * year)
	w.watch(t, store, time.Hour)
	raw := func() (n int) {
		s, err := history.Open(t.Context(), store, false)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		err = s.EachLook(t.Context(), monday.Add(9*year), func(l history.Look) error {
			if l.Span == 0 {
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	w.now = monday
	w.watch(t, store, time.Hour)
	if n := raw(); n != 20 { // else a clock that is wrong for a moment would cost the baseline
		t.Errorf("%d looks of before, want 20", n)
	}
	w.now = monday.Add(kept + day)
	w.watch(t, store, time.Hour)
	if n := raw(); n != 0 {
		t.Errorf("%d looks were not folded", n)
	}
}

// merge merges a store with another.
func merge(t *testing.T, store, other string) {
	t.Helper()
	to, err1 := history.Open(t.Context(), store, true)
	from, err2 := history.Open(t.Context(), other, false)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	defer to.Close()
	defer from.Close()
	if _, err := to.Merge(t.Context(), from); err != nil {
		t.Fatal(err)
	}
}

// TestMerged: a watch of the same hosts, in whatever order, goes on with the baseline of another's store. One of other
// hosts learns for itself.
func TestMerged(t *testing.T) {
	w, dir := newWorld(8), t.TempDir()
	store, copied := filepath.Join(dir, "h.db"), filepath.Join(dir, "i.db")
	w.watch(t, store, 31*time.Hour)
	merge(t, copied, store)

	others := newWorld(4)
	others.hosts, others.now = []string{"m0", "m1", "m2", "m3"}, w.now
	others.watch(t, copied, time.Hour)
	if !others.status.Learning || len(others.events) > 0 {
		t.Errorf("%+v, events %v", others.status, others.events)
	}
	slices.Reverse(w.hosts)
	w.watch(t, copied, time.Hour)
	if w.status.Learning || len(w.events) > 0 {
		t.Errorf("%+v, events %v", w.status, w.events)
	}
}

// FuzzUnpack: no bytes in a store make the reader fall over, and what it reads is packed to the same again.
func FuzzUnpack(f *testing.F) {
	f.Add((&stored{Hosts: []string{"a", "b"}, Seen: [][6]int64{{0, 1, 5, 6, 7, 8}}}).pack())
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := unpack(b)
		if err != nil {
			return
		}
		if other, err := unpack(s.pack()); err != nil || len(other.Seen) != len(s.Seen) {
			t.Errorf("%v: %v, %v", s, other, err)
		}
	})
}

// TestSize: a year of 100 hosts, looks of 30 days and medians of 335, takes less than 500 MB.
func TestSize(t *testing.T) {
	w, path := newWorld(100), filepath.Join(t.TempDir(), "h.db")
	s, err := history.Open(t.Context(), path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const looks = 40
	pages := func(wanted func(history.Look) bool) (bytes float64) {
		err := s.EachLook(t.Context(), time.Time{}, func(l history.Look) error {
			if wanted(l) {
				bytes += float64(len(l.Data)) * 4096 / 4000 // what is left of pages is lost
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	for i := range looks {
		seen, err := w.look(t.Context(), nil, nil, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		at := monday.Add(time.Duration(i) * every)
		if err := s.AddLook(t.Context(), history.Watched{Look: history.Look{At: at, Data: seen.encode()}}); err != nil {
			t.Fatal(err)
		}
	}
	raw := pages(func(history.Look) bool { return true }) / looks * float64(day/every)
	if err := s.Fold(t.Context(), monday.Add(day), monday.Add(year), day, fold); err != nil {
		t.Fatal(err)
	}
	folded := pages(func(l history.Look) bool { return l.Span == day })
	year := 30*raw + 335*folded
	t.Logf("%.2f MB a day of looks, %.2f MB a day of medians, %.0f MB a year", raw/1e6, folded/1e6, year/1e6)
	if year > 500e6 || folded < 30e3 {
		t.Errorf("%.0f MB a year", year/1e6)
	}
}

// TestGroupLosesAHost: what is slow of a group stays so when one of its hosts is watched no more.
func TestGroupLosesAHost(t *testing.T) {
	w, store := newWorld(8), filepath.Join(t.TempDir(), "h.db")
	bad := monday.Add(30 * time.Hour)
	w.change = func(w *world, s *Sighting) {
		half := len(w.hosts) / 2
		for i := range s.Seen {
			o := &s.Seen[i]
			if o.From/half != o.To/half {
				o.Latency *= 1.5
				if !w.now.Before(bad) {
					o.PerByte *= 1.2
				}
			}
		}
	}
	w.watch(t, store, 31*time.Hour)
	w.hosts = w.hosts[1:7]
	w.watch(t, store, time.Hour)
	all := changes(t, store)
	if len(all) == 0 || !all[0].Group || slices.ContainsFunc(all, func(c history.Change) bool { return c.Over != nil }) {
		t.Errorf("%+v, events %v", all, w.events)
	}
}

// TestAdaptive: what a driver sets by itself is no mark.
func TestAdaptive(t *testing.T) {
	w := &watcher{machines: map[string]string{}}
	for i, c := range []struct {
		adaptive, usecs string
		marks           int
	}{{"1", "8", 0}, {"1", "64", 0}, {"0", "32", 1}, {"0", "8", 1}} {
		s := &Sighting{Hosts: []Machine{{Name: "n1", Env: map[string]string{"nic.coalesce.adaptive_rx": c.adaptive,
			"nic.coalesce.rx_usecs": c.usecs}}}}
		if got := w.marks(s, map[string]string{}); len(got) != c.marks {
			t.Errorf("look %d: marks %q", i, got)
		}
	}
}
