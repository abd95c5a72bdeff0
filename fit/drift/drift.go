// Package drift says what has become slower than it was, by how much, and since when: a network, the ways between a
// group of hosts and all others, a host or a pair. It reads looks at pairs, as fault does, and measures nothing.
//
// The baseline is of the looks of the last fortnight. A look gives values: of the network what its pairs take over
// their baseline, at this hour of the day; of a group what its ways to others take over those within; of a host what
// its pairs take over the network and the groups; of a pair what it takes over its hosts. The rank of a value among
// those of the baseline is a p-value. Powers of it are e-values (Vovk, Wang 2021). The Shiryaev-Roberts sum
// M → (1 + M)·e adds their products from each look on. Without a change it exceeds c once in c looks at most, on
// average (e-detectors: Shin, Ramdas, Rinaldo 2022). Values in a row may be alike, as while a job runs. Then the
// baseline itself reaches more evidence than chance would, and the limit is higher by that factor. Days differ, and a
// fortnight has few of them: the network counts as slower by what exceeds their scatter at that hour.
package drift

import (
	"cmp"
	"math"
	"slices"
	"time"

	"calib/fit/fault"
	"calib/fit/resample"
	"calib/internal/lists"
)

// Look is what was seen of pairs at one time.
type Look struct {
	At      time.Time
	Seen    []fault.Seen
	Missing []int // hosts whose agents did not answer
	Busy    int   // hosts that answered, and could not look
}

// None is no host, of a Subject.
const None = -1

// Subject is what may have changed: the network where Hosts are None, a host where the second is, or else a pair. Of
// the rate of a pair, the first host sends; of that of a host or a group, Direction says whether it does.
type Subject struct {
	Hosts     [2]int
	Quantity  string // as fault's
	Direction string
	Group     string // its hosts, each as a rune: subjects can be compared; "" where it is none
}

// Network and Host are subjects.
func Network(quantity string) Subject {
	return Subject{Hosts: [2]int{None, None}, Quantity: quantity}
}

func Host(h int, quantity, direction string) Subject {
	return Subject{Hosts: [2]int{h, None}, Quantity: quantity, Direction: direction}
}

// Size is how many hosts a subject names: of the network none, of a group Many.
func (s Subject) Size() int {
	if s.Group != "" {
		return Many
	}
	return lists.Count(s.Hosts[:], func(h int) bool { return h != None })
}

// covers reports whether what is seen of two hosts is seen of s.
func (s Subject) covers(a, b int) bool {
	switch s.Size() {
	case 0:
		return true
	case 1:
		return s.Hosts[0] == a || s.Hosts[0] == b
	case Many:
		return s.In(a) != s.In(b)
	}
	return fault.Pair(s.Hosts[0], s.Hosts[1]) == fault.Pair(a, b)
}

// Change is a subject that is slower than it was.
type Change struct {
	Subject
	Since, Found, Over time.Time // Over is zero while it lasts
	// Usual says that it has lasted so long that it is what is usual now.
	Usual    bool
	Ratio    float64    // times what was usual; of Loss, the share of segments that are sent again; +Inf of Reach
	CI       [2]float64 // 95%
	Evidence float64    // powers of ten by which chance is unlikely to show this within so long
}

func (c Change) open() bool { return c.Over.IsZero() }

// Options say how looks are judged: at most one alarm a year is false.
type Options struct {
	Learn  time.Duration // how long the usual is learnt before changes are looked for
	Margin float64       // by how much slower does not matter
	Yearly float64       // looks in a year
}

const (
	day = 24 * time.Hour
	// The baseline is of a fortnight. After a week a change becomes part of it.
	fortnight = 14 * day
	week      = 7 * day
	// least is of how many values the usual consists.
	least = 20
)

// Watch follows the looks at a network.
type Watch struct {
	Options
	*index
	visits  []visit
	usual   *usual
	track   map[Subject]*tracker
	backs   map[Subject]*tracker  // of what has become usual
	changes []Change              // open ones, and those of the last fortnight
	failing map[Subject]time.Time // since when
	doubt   time.Duration         // as Doubtful returns it; negative is none
}

// New is a watch that knows of changes before: what another has found in the last fortnight, open or over.
func New(o Options, known []Change) *Watch {
	x := &index{number: map[Subject]int32{}}
	for _, quantity := range append(quantities[:], fault.Loss) {
		x.of(Network(quantity))
	}
	return &Watch{Options: o, index: x, track: map[Subject]*tracker{}, backs: map[Subject]*tracker{},
		changes: slices.Clone(known), failing: map[Subject]time.Time{}, doubt: -1}
}

// Learning reports whether too little was seen to say what is usual.
func (w *Watch) Learning() bool { return w.usual == nil || len(w.usual.of) == 0 }

// Recall adds a look of before, which is not judged.
func (w *Watch) Recall(l Look) { w.visits = append(w.visits, w.visit(l)) }

// Add judges a look. Looks come in their order; a clock that was set back by up to a day is no harm but that the usual
// is of other hours. It returns the changes that began, and those that ended or have become usual.
func (w *Watch) Add(l Look) (began, ended []Change) {
	w.Recall(l)
	n := len(w.visits)
	v := w.visits[n-1]
	if n > 1 && old(w.visits[n-2].at, v.at) {
		w.usual = nil
		clear(w.track)
		clear(w.backs)
	}
	w.visits = slices.DeleteFunc(w.visits, func(o visit) bool { return old(o.at, v.at) })
	w.changes = slices.DeleteFunc(w.changes, func(c Change) bool { return !c.open() && old(c.Over, v.at) })
	settled := w.settle(v.at)
	began, ended = w.reach(l)
	ended = append(settled, ended...)
	if w.due(v.at) {
		w.usual = w.learn(v.at)
	}
	if w.usual == nil {
		return began, ended
	}
	w.usual.slow = map[int32]bool{}
	for _, c := range w.changes {
		if c.open() && c.Size() > 0 && c.Quantity != fault.Reach {
			w.usual.slow[w.of(c.Subject)] = true
		}
	}
	values := w.usual.values(v)
	slices.SortFunc(values, func(a, b reading) int { return coarse(w.subjects[a.subject], w.subjects[b.subject]) })
	var sizes [Many + 1]float64
	for _, r := range values {
		sizes[w.subjects[r.subject].Size()]++
	}
	for _, r := range values {
		s := w.subjects[r.subject]
		of := w.usual.of[s]
		if of == nil {
			continue
		}
		x := r.value - of.centre
		switch c := w.current(s); {
		case c != nil && w.lasts(c, of, x, v.at):
		case c != nil:
			ended = append(ended, *c)
			delete(w.track, s)
		case w.explained(s):
			delete(w.track, s)
		default:
			if c, found := w.slower(s, of, x, v.at, sizes[s.Size()]); found {
				began = append(began, c)
				w.changes = append(w.changes, c)
			}
		}
	}
	return began, ended
}

// old reports whether a time is too long ago for the usual. One that is yet to come, by more than a day, is of a clock
// that was set back since.
func old(t, now time.Time) bool { return now.Sub(t) > fortnight+day || t.Sub(now) > day }

// settle ends the changes that have lasted for a week: they are what is usual. Of a change of before the clock was set
// back, nobody knows how long it lasts.
func (w *Watch) settle(at time.Time) (ended []Change) {
	for i := range w.changes {
		c := &w.changes[i]
		if !c.open() || c.Quantity == fault.Reach || !old(c.Since, at) && at.Sub(c.Since) < week {
			continue
		}
		if c.Over, c.Usual = at, true; c.Since.After(at) {
			c.Since = at
		}
		delete(w.track, c.Subject)
		ended = append(ended, *c)
		if w.usual != nil {
			w.usual.made = time.Time{} // is learnt anew
		}
	}
	return ended
}

// current is the open change of a subject; nil where there is none.
func (w *Watch) current(s Subject) *Change {
	i := slices.IndexFunc(w.changes, func(c Change) bool { return c.open() && c.Subject == s })
	if i < 0 {
		return nil
	}
	return &w.changes[i]
}

// slower adds a value of a subject, less the usual, to the evidence, and returns the change that this proves. A look
// has so many values of subjects of its size.
func (w *Watch) slower(s Subject, of *sample, x float64, at time.Time, values float64) (c Change, found bool) {
	if i := slices.IndexFunc(w.changes, func(c Change) bool { return c.Usual && c.Subject == s }); i >= 0 {
		w.returns(&w.changes[i], of, x, at)
	}
	t := tracked(w.track, s)
	t.add(of.p(x-of.offset(at)), at)
	kinds := 3. // of subjects, which share the false alarms
	if w.usual.uplink != nil {
		kinds++
	}
	if t.evidence() < of.tough*math.Log(kinds*values*w.Yearly) {
		return c, false
	}
	delete(w.track, s)
	c = Change{Subject: s, Since: t.since(), Found: at, Evidence: t.evidence() / math.Ln10}
	w.measure(&c, of)
	least := 1 + w.Margin/2
	if s.Quantity == fault.Loss {
		least = 0
	}
	return c, c.CI[0] > least
}

// coarse orders the network before groups, these before hosts, and hosts before pairs: who explains before who is
// explained.
func coarse(a, b Subject) int {
	place := [...]int{1: 2, 2: 3, Many: 1} // by size
	return cmp.Or(cmp.Compare(place[a.Size()], place[b.Size()]), slices.Compare(a.Hosts[:], b.Hosts[:]),
		cmp.Compare(a.Group, b.Group), cmp.Compare(a.Quantity, b.Quantity), cmp.Compare(a.Direction, b.Direction))
}

// explained reports whether an open change of a host, or of the network, is enough to know of s.
func (w *Watch) explained(s Subject) bool {
	return slices.ContainsFunc(w.changes, func(c Change) bool {
		switch {
		case !c.open():
			return false
		case c.Quantity == fault.Reach:
			return c.Size() > 0 && c.covers(s.Hosts[0], s.Hosts[1])
		case c.Size() == 1 && s.Size() == 2:
			return c.covers(s.Hosts[0], s.Hosts[1])
		}
		return c.Size() == 0 && c.Quantity == s.Quantity && (s.Quantity == fault.Loss || s.Size() == Many)
	})
}

// lasts reports whether a change that is open still does: it ends where values tell that half of it is gone.
func (w *Watch) lasts(c *Change, of *sample, x float64, at time.Time) bool {
	t := tracked(w.track, c.Subject)
	if !w.back(t, c, of, x-math.Log(c.Ratio)/2, at) {
		return true
	}
	c.Over = t.since()
	return false
}

// returns sees whether a change that had become usual is over: then its time was the exception.
func (w *Watch) returns(c *Change, of *sample, x float64, at time.Time) {
	t := tracked(w.backs, c.Subject)
	if w.back(t, c, of, x+math.Log(c.Ratio)/2, at) {
		c.Over, c.Usual, w.usual.made = t.since(), false, time.Time{}
		delete(w.backs, c.Subject)
	}
}

// back reports whether at least half of a change is gone; x is the value, less half of the change. Losses are counts:
// an eighth of the change is held against a half of it, by Poisson's likelihood ratio.
func (w *Watch) back(t *tracker, c *Change, of *sample, x float64, at time.Time) bool {
	if c.Quantity == fault.Loss {
		before, _ := resample.Share(w.lost(c, time.Time{}, c.Since))
		more := max(0, c.Ratio-before)
		low, half := c.Ratio-more*7/8, c.Ratio-more/2
		again, segments := w.lost(c, at, later)
		t.addLog(float64(segments)*(half-low)-float64(again)*math.Log(half/low), at)
	} else {
		t.add(of.below(x), at)
	}
	return t.evidence() >= backAgain
}

func tracked(by map[Subject]*tracker, s Subject) *tracker {
	if by[s] == nil {
		by[s] = &tracker{}
	}
	return by[s]
}

// later is after all looks.
var later = time.Unix(1<<40, 0)

// lost counts the segments of a subject from a time until another, and those that were sent again, without what others
// are known to lose.
func (w *Watch) lost(c *Change, since, until time.Time) (again, segments int64) {
	for _, v := range slices.Backward(w.visits) {
		if v.at.Before(since) {
			break
		}
		if !v.at.Before(until) {
			continue
		}
		for _, o := range v.obs {
			if c.covers(int(o.from), int(o.to)) && !w.usual.explains(o.loss, w.of(c.Subject)) {
				again, segments = again+int64(o.again), segments+int64(o.segments)
			}
		}
	}
	return again, segments
}

// backAgain is the evidence from which a change has ended: once in ten thousand values it may be taken to have.
const backAgain = 9.2

// measure sets by how much a subject is slower since it is.
func (w *Watch) measure(c *Change, of *sample) {
	if c.Quantity == fault.Loss {
		c.Ratio, c.CI = resample.Share(w.lost(c, c.Since, later))
		return
	}
	var all []float64
	for _, v := range slices.Backward(w.visits) {
		if v.at.Before(c.Since) {
			break
		}
		for _, r := range w.usual.values(v) {
			if w.subjects[r.subject] == c.Subject {
				all = append(all, r.value-of.centre)
			}
		}
	}
	if len(all) > 0 {
		c.Ratio, c.CI = fault.Times(all)
	}
}
