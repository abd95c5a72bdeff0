// Package watch follows a network over years: from time to time it has pairs of hosts look at the ways between them,
// keeps what they saw in a store, and says what has changed. A look costs a share of the time of links and processors
// that is given: how long the next one waits follows from what the last one cost.
//
// All of its state is in the store: a watch that is started anew goes on where the last one ended.
package watch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"calib/fit/drift"
	"calib/fit/fault"
	"calib/internal/history"
	"calib/internal/lists"
)

type Config struct {
	Store *history.Store
	Hosts []string
	// Look makes a look while there is more time, of which links have taken some. Pairs are to look again; then those
	// that were not seen for longest, by who sent and who received. Those of a round look together, one by one, or,
	// where that is nil, as they say that they can.
	Look func(ctx context.Context, together *bool, again [][2]int, seen map[[2]int]time.Time,
		more func(took time.Duration) bool) (Sighting, error)
	Every  time.Duration // looks are as far apart at least
	Share  float64       // of the time of a link, and of a processor, that looks may take
	Learn  time.Duration
	Margin float64
	Now    func() time.Time
	Wait   func(context.Context, time.Duration) error
	Tell   func(Event)  // what has happened
	After  func(Status) // after each look
}

type Event struct {
	At     time.Time       `json:"at"`
	Kind   string          `json:"kind"` // slower, over, usual, mark or trouble
	Text   string          `json:"text"`
	Change *history.Change `json:"change,omitempty"`
}

// EventTrouble is of the watch itself.
const EventTrouble = "trouble"

// Status is how things stand after a look.
type Status struct {
	Sighting
	Open     []history.Change
	Learning bool
	Next     time.Duration // to the next look
	Share    float64       // of the time of links that was used, from the first look that was recalled on
	CPUShare float64       // of a processor, by the host that used most; the watch itself is not in it
	Unsaved  int           // looks that are not in the store yet
	// Waited is how long the pair had waited for this look that was not seen for longest, and Within how long one waits
	// at most while its hosts answer, and looks cost what this one did.
	Waited, Within time.Duration
}

const (
	year = 365 * 24 * time.Hour
	day  = 24 * time.Hour
	// recalled is for how long stored looks are the baseline, remembered for how long it is known when pairs were seen,
	// and kept for how long each look stays.
	recalled   = 15 * day
	remembered = 90 * day
	kept       = 30 * day
	// farthest is how far apart looks are at most for what they cost: a fortnight has enough of them for a baseline.
	farthest = 12 * time.Hour
	// longest is how long pairs look, with those that fail, and mostAgain how many look again.
	longest   = 10 * time.Minute
	mostAgain = 32
	// soon is when the next look is at the earliest after one in which something failed.
	soon = time.Minute
	// mostUnsaved bounds the looks that wait for a store.
	mostUnsaved  = 10000
	recentEvents = 1000
	// step is from what difference of two clocks on one was set.
	step = 2 * time.Second
)

type watcher struct {
	Config
	trouble  string // of the last look
	drift    *drift.Watch
	open     []*history.Change
	gone     []*history.Change // open ones of hosts that are watched no more
	machines map[string]string
	recent   []history.Event // marks
	number   int
	together *bool
	unsaved  []history.Watched
	begun    time.Time
	paid     time.Time // until when the looks so far take all of the share
	last     time.Time
	took     time.Duration
	cpu      map[string]time.Duration
	started  time.Time
	seen     map[[2]int]time.Time // by who sent, and who received
	within   time.Duration
	folded   time.Time // the day up to which looks were folded
	full     bool      // the store could not be written
	lost     int       // looks that were dropped meanwhile
}

// Run watches until ctx ends, or a look cannot be tried at all.
func Run(ctx context.Context, c Config) error {
	w := &watcher{Config: c, cpu: map[string]time.Duration{}, seen: map[[2]int]time.Time{}, begun: c.Now()}
	w.started = w.begun
	wait, err := w.recall(ctx)
	if err != nil {
		return err
	}
	for {
		if err = w.Wait(ctx, wait); err == nil {
			wait, err = w.look(ctx)
		}
		if err != nil {
			if failed := w.save(context.WithoutCancel(ctx)); failed != nil {
				w.tell(EventTrouble, fmt.Sprintf("the store cannot be written: %v; looks lost: %d", failed, len(w.unsaved)), nil)
			}
			return err
		}
	}
}

// recall reads what is known, and returns how long to wait for the next look.
func (w *watcher) recall(ctx context.Context) (wait time.Duration, err error) {
	w.machines, err = w.Store.Machines(ctx)
	events, err2 := w.Store.Events(ctx, recentEvents)
	all, err3 := w.Store.Changes(ctx, 0)
	if err = cmp.Or(err, err2, err3); err != nil {
		return 0, err
	}
	w.recent = slices.DeleteFunc(events, func(e history.Event) bool { return e.Kind != history.EventMark })
	var known []drift.Change
	for i := range all {
		c := &all[i]
		if !history.SameCluster(w.Hosts, c.Watched) { // another watch has found it
			continue
		}
		d, watched := w.known(c)
		if watched {
			known = append(known, d)
		}
		switch {
		case c.Over != nil:
		case watched:
			w.open = append(w.open, c)
		default:
			w.gone = append(w.gone, c)
		}
	}
	o := drift.Options{Learn: w.Learn, Margin: w.Margin, Yearly: float64(year / w.Every)}
	w.drift = drift.New(o, known)
	now := w.Now()
	err = w.Store.EachLook(ctx, now.Add(-remembered), func(l history.Look) error {
		w.number = max(w.number, int(l.Number))
		look, s, err := decode(l, w.Hosts)
		if err != nil {
			w.tell(EventTrouble, fmt.Sprintf("look %d is passed over: %v", l.Number, err), nil)
			return nil
		}
		if len(look.Seen) == 0 { // it is of another watch's hosts
			return nil
		}
		at := now.Add(l.At.Sub(now))
		ahead := at.After(now) // the clock was set back
		if !ahead {
			w.note(look.Seen, at)
		}
		if l.Span > 0 || now.Sub(at) > recalled {
			return nil
		}
		w.drift.Recall(look)
		w.together = cmp.Or(s.Together, w.together)
		if ahead {
			return nil
		}
		if at.Before(w.begun) {
			w.begun = at
		}
		w.took += time.Duration(s.Took)
		for _, h := range w.Hosts {
			w.cpu[h] += time.Duration(s.CPU) // of the one with most
		}
		_, next := w.pay(at, max(s.Took, s.CPU))
		wait = max(0, next-now.Sub(at))
		return nil
	})
	return wait, err
}

// known is a stored change for package drift; not one of hosts that are not watched.
func (w *watcher) known(c *history.Change) (out drift.Change, ok bool) {
	out = drift.Change{Since: c.Since, Found: c.Found, Usual: c.Usual, Evidence: c.Evidence}
	hosts := lists.Map(c.Hosts, func(name string) int { return slices.Index(w.Hosts, name) })
	if c.Group { // what is left of it
		hosts = slices.DeleteFunc(hosts, func(h int) bool { return h < 0 })
	}
	if slices.Contains(hosts, -1) || 2*len(hosts) < len(c.Hosts) || c.Group && len(hosts) < 2 {
		return out, false
	}
	if c.Group {
		out.Subject = drift.Group(hosts, c.Quantity, c.Direction)
	} else {
		out.Subject = drift.Network(c.Quantity)
		out.Direction = c.Direction
		copy(out.Hosts[:], hosts)
		if len(hosts) == 2 && c.Quantity != fault.Rate { // another watch may list hosts in another order
			out.Hosts = fault.Pair(hosts[0], hosts[1])
		}
	}
	if c.Over != nil {
		out.Over = *c.Over
	}
	if c.Ratio != nil && c.CI95 != nil {
		out.Ratio, out.CI = *c.Ratio, *c.CI95
	}
	return out, true
}

// look makes a look, judges and stores it, says what it found, and returns how long to wait for the next.
func (w *watcher) look(ctx context.Context) (time.Duration, error) {
	begun := w.Now()
	s, err := w.Look(ctx, w.together, w.again(), w.seen, w.more())
	if err != nil {
		return 0, err
	}
	w.number++
	w.together = s.Together
	s.At = begun
	w.took += s.Took
	for _, m := range s.Hosts {
		w.cpu[m.Name] += m.CPU
	}
	waited := w.waited(begun)
	w.note(s.Seen, begun)
	usual, next := w.pay(begun, int64(max(s.Took, s.cpu())))
	if s.Pass > 0 {
		w.within = time.Duration(s.Pass) * (w.Now().Sub(begun) + next)
	}
	now := w.judge(&s, usual)
	what, _, _ := strings.Cut(s.Trouble, ": ")
	if what != "" && what != w.trouble {
		w.tell(EventTrouble, s.Trouble, nil)
	}
	w.trouble = what
	w.unsaved = append(w.unsaved, now)
	if err := w.save(context.WithoutCancel(ctx)); err != nil && !w.full {
		w.tell(EventTrouble, fmt.Sprintf("what is seen cannot be stored: %v; it is kept in memory, and stored once "+
			"there is room", err), nil)
		w.full = true
	} else if err == nil && w.full {
		w.tell(EventTrouble, fmt.Sprintf("what is seen is stored again; looks lost: %d", w.lost), nil)
		w.full, w.lost = false, 0
	}
	for _, c := range now.Began {
		w.tell(history.EventSlower, c.Says, c)
	}
	for _, c := range now.Ended {
		w.tell(c.Ending(), c.Says, c)
	}
	for _, m := range now.Marks {
		w.tell(history.EventMark, m, nil)
	}
	if after, ok := w.drift.Doubtful(); ok {
		next = min(next, max(soon, after))
	}
	open := lists.Map(w.open, func(c *history.Change) history.Change { return *c })
	cpu := slices.Max(slices.AppendSeq([]time.Duration{0}, maps.Values(w.cpu)))
	w.After(Status{Sighting: s, Open: open, Learning: w.drift.Learning(), Next: next, Share: w.share(w.took, next),
		CPUShare: w.share(cpu, next), Unsaved: len(w.unsaved), Waited: waited, Within: w.within})
	return next, nil
}

// more is for a look: it reports whether there is more time, of which links have taken some.
func (w *watcher) more() func(took time.Duration) bool {
	var begun time.Time
	return func(took time.Duration) bool {
		if begun.IsZero() {
			begun = w.Now() // agents have been started
		}
		return float64(took) < w.Share*float64(farthest) && w.Now().Sub(begun) < longest
	}
}

// judge finds what has changed, and returns what is to be stored. Looks are so far apart.
func (w *watcher) judge(s *Sighting, next time.Duration) (now history.Watched) {
	now.At, now.Machines, now.Ended = s.At, map[string]string{}, w.gone
	for _, c := range w.gone {
		c.Over = &s.At
	}
	w.gone = nil
	now.Marks = append(w.clockSet(s.At), w.marks(s, now.Machines)...)
	mark := func(m string) history.Event { return history.Event{At: s.At, Subject: m} }
	w.recent = append(w.recent, lists.Map(now.Marks, mark)...)
	w.recent = w.recent[max(0, len(w.recent)-recentEvents):]
	w.drift.Yearly = float64(year / next)
	began, ended := w.drift.Add(s.look())
	for _, c := range ended {
		if i := w.index(c); i >= 0 {
			h := w.open[i]
			h.Over, h.Usual = &c.Over, c.Usual
			now.Ended = append(now.Ended, h)
			w.open = slices.Delete(w.open, i, i+1)
		}
	}
	now.Began = lists.Map(began, w.changeOf)
	w.open = append(w.open, now.Began...)
	now.Data = s.encode()
	return now
}

func (w *watcher) tell(kind, text string, c *history.Change) {
	if c != nil { // as it is now: who is told may read it later
		c = new(*c)
	}
	w.Tell(Event{At: w.Now().UTC(), Kind: kind, Text: text, Change: c})
}

// index finds the stored change of one that has ended.
func (w *watcher) index(c drift.Change) int {
	return slices.IndexFunc(w.open, func(h *history.Change) bool {
		known, ok := w.known(h)
		return ok && known.Subject == c.Subject && !h.Since.Before(c.Since)
	})
}

// pay accounts for a look, and returns how long paying for it takes, and how long to wait for the next: what an early
// look has left unpaid is paid later, by waiting up to twice as long.
func (w *watcher) pay(at time.Time, cost int64) (usual, next time.Duration) {
	owed := time.Duration(float64(cost) / w.Share)
	unpaid := min(max(0, w.paid.Sub(at)), farthest)
	w.paid = at.Add(unpaid + owed)
	return max(w.Every, owed), max(w.Every, owed+min(unpaid, owed))
}

// share is that of a time since the first look that is known, until the next.
func (w *watcher) share(of, next time.Duration) float64 {
	return float64(of) / float64(w.Now().Sub(w.begun)+next)
}

// save stores what is not stored yet, and folds the looks of days that are long past.
func (w *watcher) save(ctx context.Context) error {
	for len(w.unsaved) > 0 {
		if err := w.Store.AddLook(ctx, w.unsaved[0]); err != nil {
			if len(w.unsaved) > mostUnsaved {
				w.unsaved, w.lost = w.unsaved[1:], w.lost+1
			}
			return err
		}
		w.unsaved = w.unsaved[1:]
	}
	today := w.Now().UTC().Truncate(day)
	if w.folded.Equal(today) {
		return nil
	}
	if err := w.Store.Fold(ctx, today.Add(-kept), today.Add(2*day), day, fold); err != nil {
		return err
	}
	w.folded = today
	return nil
}
