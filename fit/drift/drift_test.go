package drift_test

import (
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"calib/fit/drift"
	"calib/fit/drift/drifttest"
	"calib/fit/fault"
)

const (
	day   = 24 * time.Hour
	every = 3 * time.Minute
)

var begun = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC) // a Monday

// scene is a cluster that is watched.
type scene struct {
	*drifttest.Cluster
	watch        *drift.Watch
	now          time.Time
	every        time.Duration
	began, ended []drift.Change
}

func options(every time.Duration) drift.Options {
	return drift.Options{Learn: day, Margin: 0.005, Yearly: float64(365 * day / every)}
}

// after is a scene of which so much has been seen, without a change.
func after(seen time.Duration, hosts int, seed uint64) *scene {
	return afterRacks(seen, hosts, 0, seed)
}

// afterRacks is a scene of racks of so many hosts.
func afterRacks(seen time.Duration, hosts, rack int, seed uint64) *scene {
	s := &scene{Cluster: drifttest.New(hosts, seed), watch: drift.New(options(every), nil), now: begun, every: every}
	s.Rack = rack
	for ; s.now.Before(begun.Add(seen)); s.now = s.now.Add(every) {
		s.watch.Recall(s.Look(s.now, 6))
	}
	return s
}

// is makes something wrong from now on, or from a later time, for so long.
func (s *scene) is(ratio float64, of drift.Subject, from, lasts time.Duration) {
	at := s.now.Add(from)
	s.Slow = append(s.Slow, drifttest.Slowness{Subject: of, Ratio: ratio, From: at, To: at.Add(lasts)})
}

func (s *scene) play(d time.Duration) {
	for end := s.now.Add(d); s.now.Before(end); s.now = s.now.Add(s.every) {
		began, ended := s.watch.Add(s.Look(s.now, 6))
		s.began, s.ended = append(s.began, began...), append(s.ended, ended...)
	}
}

func subjects(all []drift.Change) (out []drift.Subject) {
	for _, c := range all {
		out = append(out, c.Subject)
	}
	return out
}

func named(s drift.Subject, all []drift.Change) bool {
	return slices.Equal(subjects(all), []drift.Subject{s})
}

// Every change is found within an hour, alone, with when it began and by how much; and it ends when it ends.
func TestChanges(t *testing.T) {
	pair := [2]int{2, 5}
	for name, c := range map[string]struct {
		of    drift.Subject
		ratio float64
	}{
		"host sends":      {drift.Host(3, fault.Rate, fault.Sending), 1.1},
		"host receives":   {drift.Host(3, fault.Rate, fault.Receiving), 1.1},
		"host's latency":  {drift.Host(3, fault.Latency, ""), 1.1},
		"host loses":      {drift.Host(3, fault.Loss, ""), 1e-3},
		"pair's latency":  {drift.Subject{Hosts: pair, Quantity: fault.Latency}, 1.25},
		"pair's rate":     {drift.Subject{Hosts: [2]int{5, 2}, Quantity: fault.Rate}, 1.25},
		"network latency": {drift.Network(fault.Latency), 1.1},
		"network rate":    {drift.Network(fault.Rate), 1.1},
		"network loses":   {drift.Network(fault.Loss), 1e-3},
	} {
		t.Run(name, func(t *testing.T) {
			s := after(4*day, 8, 1)
			s.is(c.ratio, c.of, 2*time.Hour, 4*time.Hour)
			from, to := s.Slow[0].From, s.Slow[0].To
			s.play(12 * time.Hour)
			if !named(c.of, s.began) || !named(c.of, s.ended) {
				t.Fatalf("began %+v, ended %+v", s.began, s.ended)
			}
			b, e := s.began[0], s.ended[0]
			if late := b.Found.Sub(from); late < 0 || late > time.Hour && c.of.Size() > 0 || late > 3*time.Hour {
				t.Errorf("found %v after it began", late)
			}
			if off := b.Since.Sub(from).Abs(); off > 30*time.Minute {
				t.Errorf("since %v, want %v", b.Since, from)
			}
			if off := e.Over.Sub(to).Abs(); off > 30*time.Minute || e.Usual {
				t.Errorf("over %v, want %v", e.Over, to)
			}
			size := math.Log(b.Ratio) / math.Log(c.ratio)
			if size < 0.5 || size > 2 || b.CI[0] > b.Ratio || b.CI[1] < b.Ratio {
				t.Errorf("× %.4g %.4g, want %.4g", b.Ratio, b.CI, c.ratio)
			}
			if len(s.watch.Open()) > 0 {
				t.Errorf("open: %+v", s.watch.Open())
			}
		})
	}
}

// Of racks, a slow uplink is named, and none of the hosts behind it; a host or a pair in a rack is named as anywhere.
func TestRacks(t *testing.T) {
	first, second := []int{0, 1, 2, 3}, []int{4, 5, 6, 7}
	both := func(hosts []int) []drift.Subject {
		return []drift.Subject{drift.Group(hosts, fault.Rate, fault.Receiving),
			drift.Group(hosts, fault.Rate, fault.Sending)}
	}
	latency := drift.Group(second, fault.Latency, "")
	for name, c := range map[string]struct {
		hosts int
		of    []drift.Subject
	}{
		"rate":            {16, both(second)},
		"sending":         {16, both(second)[1:]},
		"receiving":       {16, both(second)[:1]},
		"latency":         {16, []drift.Subject{latency}},
		"two in latency":  {16, []drift.Subject{drift.Group(first, fault.Latency, ""), latency}},
		"two in rate":     {16, append(both(first), both(second)...)},
		"of two, rate":    {8, both(first)},
		"of two, latency": {8, []drift.Subject{drift.Group(first, fault.Latency, "")}},
		"host sends":      {16, []drift.Subject{drift.Host(5, fault.Rate, fault.Sending)}},
		"host's latency":  {16, []drift.Subject{drift.Host(5, fault.Latency, "")}},
		"host and group":  {16, []drift.Subject{latency, drift.Host(5, fault.Latency, "")}},
		"all of a rack": {16, []drift.Subject{drift.Host(4, fault.Latency, ""), drift.Host(5, fault.Latency, ""),
			drift.Host(6, fault.Latency, ""), drift.Host(7, fault.Latency, "")}},
		"pair between": {16, []drift.Subject{{Hosts: [2]int{3, 5}, Quantity: fault.Latency}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := afterRacks(4*day, c.hosts, 4, 1)
			for _, of := range c.of {
				s.is(1.2, of, time.Hour, 4*time.Hour)
			}
			from, to := s.Slow[0].From, s.Slow[0].To
			s.play(12 * time.Hour)
			want := set(c.of)
			if began, ended := set(subjects(s.began)), set(subjects(s.ended)); len(s.began) != len(want) ||
				!maps.Equal(began, want) || len(s.ended) != len(want) || !maps.Equal(ended, want) {
				t.Fatalf("began %+v, ended %+v", s.began, s.ended)
			}
			for i, b := range s.began {
				e := s.ended[i]
				if b.Found.Sub(from) > 2*time.Hour || e.Over.Sub(to).Abs() > 30*time.Minute ||
					b.Ratio < 1.1 || b.Ratio > 1.3 {
					t.Errorf("%+v, over %v", b, e.Over)
				}
			}
		})
	}
}

func set(of []drift.Subject) map[drift.Subject]bool {
	out := map[drift.Subject]bool{}
	for _, s := range of {
		out[s] = true
	}
	return out
}

// An uplink that became faster is no change of those that did not. When all uplinks become slower that is the network.
func TestAllUplinks(t *testing.T) {
	s := afterRacks(4*day, 16, 4, 1)
	s.is(0.8, drift.Group([]int{4, 5, 6, 7}, fault.Latency, ""), time.Hour, 4*time.Hour)
	if s.play(8 * time.Hour); len(s.began) > 0 {
		t.Errorf("faster: %+v", s.began)
	}
	for first := 0; first < 16; first += 4 {
		s.is(1.2, drift.Group([]int{first, first + 1, first + 2, first + 3}, fault.Latency, ""), 0, 4*time.Hour)
	}
	if s.play(8 * time.Hour); !named(drift.Network(fault.Latency), s.began) || len(s.ended) != 1 {
		t.Errorf("all: began %+v, ended %+v", s.began, s.ended)
	}
}

// What is dead is named in its second look, and lives again in the first in which bytes pass.
func TestReach(t *testing.T) {
	pair := drift.Subject{Hosts: [2]int{2, 5}, Quantity: fault.Reach}
	for name, c := range map[string]struct{ of, want drift.Subject }{
		"pair":                             {pair, pair},
		"host":                             {drift.Host(3, fault.Reach, ""), drift.Host(3, fault.Reach, "")},
		"host whose agent does not answer": {drift.Host(3, drifttest.Missing, ""), drift.Host(3, fault.Reach, "")},
		"network":                          {drift.Network(fault.Reach), drift.Network(fault.Reach)},
	} {
		t.Run(name, func(t *testing.T) {
			s := after(2*day, 8, 1)
			s.is(0, c.of, time.Hour, time.Hour)
			from, to := s.Slow[0].From, s.Slow[0].To
			s.play(time.Hour)
			s.play(every)
			wait, most := time.Duration(0), 3*every
			if c.of.Quantity == drifttest.Missing { // it may boot
				wait, most = 10*time.Minute, 5*every
			}
			after, doubt := s.watch.Doubtful()
			if f := s.watch.Failing(); (f != nil) != (c.of.Size() == 2) || !doubt || after != wait || len(s.began) > 0 {
				t.Errorf("after a look: failing %v, doubtful %t after %v, began %v", f, doubt, after, s.began)
			}
			s.play(3 * time.Hour)
			if !named(c.want, s.began) || !named(c.want, s.ended) {
				t.Fatalf("began %+v, ended %+v", s.began, s.ended)
			}
			// A pair is not in every look.
			b, e := s.began[0], s.ended[0]
			_, doubt = s.watch.Doubtful()
			if b.Found.Sub(from) > most || b.Since.Sub(from) > 2*every || e.Over.Sub(to) > 2*every || doubt {
				t.Errorf("found %v after %v, over %v after %v, doubt %t", b.Found, from, e.Over, to, doubt)
			}
		})
	}
}

// What is dead does not live again because more is dead: neither a pair whose host is cut off, nor a host while the
// whole network is.
func TestReachEndsWithLife(t *testing.T) {
	s := after(2*day, 8, 1)
	pair := drift.Subject{Hosts: [2]int{2, 5}, Quantity: fault.Reach}
	s.is(0, pair, time.Hour, 10*time.Hour)
	s.is(0, drift.Host(3, drifttest.Missing, ""), time.Hour, 10*time.Hour)
	s.is(0, drift.Host(2, fault.Reach, ""), 4*time.Hour, time.Hour)
	s.is(0, drift.Network(fault.Reach), 6*time.Hour, time.Hour)
	s.play(9 * time.Hour)
	began := []drift.Subject{pair, drift.Host(3, fault.Reach, ""), drift.Host(2, fault.Reach, ""),
		drift.Network(fault.Reach)}
	if got := subjects(s.began); !slices.Equal(got, began) {
		t.Errorf("began %+v", got)
	}
	if got := subjects(s.ended); !slices.Equal(got, began[2:]) {
		t.Errorf("ended %+v", got)
	}
}

// A fortnight of days, outliers and a weekend has no change, whatever the number of hosts and racks.
func TestHealthy(t *testing.T) {
	for _, c := range []struct {
		hosts, rack int
		seed        uint64
	}{{2, 0, 2}, {3, 0, 2}, {8, 0, 2}, {8, 4, 2}, {16, 4, 1}, {16, 4, 3}} {
		s := afterRacks(0, c.hosts, c.rack, c.seed)
		s.every = 10 * time.Minute
		s.watch = drift.New(options(s.every), nil)
		s.play(day - time.Minute)
		if !s.watch.Learning() {
			t.Error("what is usual was known before a day was seen")
		}
		if s.play(13 * day); len(s.began) > 0 || len(s.ended) > 0 || s.watch.Learning() {
			t.Errorf("%+v: began %+v, ended %+v", c, s.began, s.ended)
		}
	}
}

// Of two hosts, and of three, a slower one is a pair or a host; in any case it is named.
func TestFewHosts(t *testing.T) {
	for hosts, want := range map[int][]drift.Subject{
		2: {drift.Network(fault.Latency)},
		3: {drift.Host(1, fault.Latency, "")},
	} {
		s := after(4*day, hosts, 3)
		s.is(1.2, drift.Host(1, fault.Latency, ""), time.Hour, 3*time.Hour)
		if s.play(6 * time.Hour); !slices.Equal(subjects(s.began), want) || !slices.Equal(subjects(s.ended), want) {
			t.Errorf("%d hosts: began %+v, ended %+v", hosts, s.began, s.ended)
		}
	}
}

// After a week a change is what is usual. The way back is no change, and another change is one.
func TestBecomesUsual(t *testing.T) {
	s := after(0, 8, 4)
	s.every = 15 * time.Minute
	s.watch = drift.New(options(s.every), nil)
	host := drift.Host(6, fault.Latency, "")
	s.is(1.1, host, 5*day, 10*day)
	s.is(1.1, host, 22*day, 2*day)
	s.play(15*day + time.Hour)
	if len(s.began) != 1 || len(s.ended) != 1 || s.ended[0].Subject != host || !s.ended[0].Usual ||
		s.ended[0].Over.Sub(s.ended[0].Since) < 7*day {
		t.Fatalf("began %+v, ended %+v", s.began, s.ended)
	}
	if s.play(7*day - 2*time.Hour); len(s.began) != 1 || len(s.ended) != 1 {
		t.Errorf("back: began %+v, ended %+v", s.began[1:], s.ended[1:])
	}
	if s.play(4 * day); len(s.began) != 2 || len(s.ended) != 2 || s.began[1].Subject != host || s.ended[1].Usual ||
		s.ended[1].Over.Sub(s.Slow[1].To).Abs() > 2*time.Hour {
		t.Errorf("again: began %+v, ended %+v", s.began[1:], s.ended[1:])
	}
}

// A watch that knows the changes and recalls the looks of another one goes on like it. Two runs are equal.
func TestRestored(t *testing.T) {
	var runs [2]*scene
	for i := range runs {
		s := after(0, 4, 5)
		s.every = 10 * time.Minute
		s.watch = drift.New(options(s.every), nil)
		s.is(1.2, drift.Host(1, fault.Latency, ""), 4*day, 2*day)
		s.is(1.2, drift.Host(2, fault.Rate, fault.Sending), 6*day+12*time.Hour, day)
		s.is(0, drift.Subject{Hosts: [2]int{0, 3}, Quantity: fault.Reach}, 5*day+time.Hour, day)
		s.play(5 * day)
		runs[i] = s
	}
	for range 3 { // as days go by, one is stopped and another goes on from what is known
		again := drifttest.New(4, 5)
		again.Slow = runs[1].Slow
		runs[1].watch = drift.New(options(10*time.Minute), runs[1].watch.Open())
		for at := begun; at.Before(runs[1].now); at = at.Add(10 * time.Minute) {
			runs[1].watch.Recall(again.Look(at, 6))
		}
		runs[0].play(day)
		runs[1].play(day)
	}
	want, got := subjects(runs[0].began), subjects(runs[1].began)
	if len(want) != 3 || !slices.Equal(want, got) || !slices.Equal(subjects(runs[0].ended), subjects(runs[1].ended)) {
		t.Errorf("began %+v and %+v\nended %+v and %+v", want, got, subjects(runs[0].ended), subjects(runs[1].ended))
	}
	for i, c := range runs[0].began {
		if i < len(got) && runs[1].began[i].Found.Sub(c.Found).Abs() > time.Hour {
			t.Errorf("%+v, and restored %+v", c, runs[1].began[i])
		}
	}
}

func TestDeterministic(t *testing.T) {
	var runs [2]*scene
	for i := range runs {
		s := after(3*day, 6, 6)
		s.is(1.1, drift.Host(1, fault.Latency, ""), time.Hour, 5*time.Hour)
		s.is(1e-3, drift.Host(4, fault.Loss, ""), 3*time.Hour, 5*time.Hour)
		s.is(0, drift.Host(2, drifttest.Missing, ""), 4*time.Hour, time.Hour)
		s.play(30 * time.Hour)
		runs[i] = s
	}
	if len(runs[0].began) < 3 || !reflect.DeepEqual(runs[0].began, runs[1].began) ||
		!reflect.DeepEqual(runs[0].ended, runs[1].ended) {
		t.Errorf("%+v\n%+v", runs[0].began, runs[1].began)
	}
}

// A clock that is set an hour back or forth, or a day, is no change.
func TestClockStepped(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, time.Hour, -day, 10 * day} {
		s := after(4*day+9*time.Hour, 8, 7)
		s.Load = 0 // what is usual at an hour is another thing
		s.play(time.Hour)
		s.now = s.now.Add(by)
		if s.play(day + 2*time.Hour); len(s.began) > 0 || len(s.ended) > 0 {
			t.Errorf("by %v: began %+v, ended %+v", by, s.began, s.ended)
		}
	}
}

// After a clock is set back by days or years, or a watch has rested, no more looks are kept than ever, what was slow is
// what is usual, and the next change is found.
func TestClockSetBack(t *testing.T) {
	for _, by := range []time.Duration{3 * day, 10 * 365 * day, -20 * day} {
		s := after(0, 8, 8)
		s.every, s.Load = 15*time.Minute, 0
		s.watch = drift.New(options(s.every), nil)
		host := drift.Host(6, fault.Latency, "")
		s.is(1.1, host, 5*day, time.Hour*24*365)
		s.play(6 * day)
		if !named(host, s.began) || len(s.ended) > 0 {
			t.Fatalf("before: began %+v, ended %+v", s.began, s.ended)
		}
		s.now = s.now.Add(-by)
		s.Slow[0].From = s.now
		s.play(30 * time.Minute)
		if !named(host, s.ended) || !s.ended[0].Usual || len(s.watch.Open()) > 0 || s.watch.Learning() != (by != 3*day) {
			t.Errorf("%v back: ended %+v, open %+v, learning %t", by, s.ended, s.watch.Open(), s.watch.Learning())
		}
		s.play(18 * day)
		if most := int(15*day/s.every) + 1; s.watch.Visits() > most || len(s.began) > 1 {
			t.Errorf("%v back: %d looks are kept, want %d at most; began %+v", by, s.watch.Visits(), most, s.began[1:])
		}
		other := drift.Host(2, fault.Rate, fault.Sending)
		s.is(1.1, other, 0, day)
		from := s.now
		s.play(6 * time.Hour)
		if len(s.began) != 2 || s.began[1].Subject != other || s.began[1].Since.Sub(from).Abs() > time.Hour {
			t.Errorf("%v back: began %+v", by, s.began)
		}
	}
}

// Where some loss is usual, a larger one is over when it is as usual again, and a host's loss is found after it.
func TestLossBesideUsualLoss(t *testing.T) {
	s := after(0, 6, 9)
	s.every = 15 * time.Minute
	s.watch = drift.New(options(s.every), nil)
	network, host := drift.Network(fault.Loss), drift.Host(2, fault.Loss, "")
	s.is(1e-2, network, 0, 30*day)
	s.is(1e-2, network, 5*day, 12*time.Hour)
	s.is(0.1, host, 8*day, day)
	s.play(8 * day)
	if !named(network, s.began) || !named(network, s.ended) || s.ended[0].Usual {
		t.Fatalf("began %+v, ended %+v", s.began, s.ended)
	}
	if s.play(day); !slices.Contains(subjects(s.began), host) {
		t.Errorf("began %+v", s.began)
	}
}

// Of two hosts that lose, one after the other, each is named, and not the network. Its loss ends when it does.
func TestTwoHostsLose(t *testing.T) {
	s := after(4*day, 8, 12)
	first, second, network := drift.Host(1, fault.Loss, ""), drift.Host(5, fault.Loss, ""), drift.Network(fault.Loss)
	s.is(0.05, first, 0, 30*day)
	s.is(0.03, second, 6*time.Hour, 30*day)
	s.is(1e-3, network, day, 12*time.Hour)
	s.play(12 * time.Hour)
	if got := subjects(s.began); !slices.Equal(got, []drift.Subject{first, second}) {
		t.Errorf("began %+v", s.began)
	}
	s.play(3 * day)
	if !named(network, s.ended) || len(s.began) != 3 || s.began[2].Ratio > 2e-3 {
		t.Errorf("began %+v, ended %+v", s.began, s.ended)
	}
}

// However long a watch learns, the network is judged too. Where nothing is seen often enough, it never has learnt.
func TestLearnsLong(t *testing.T) {
	s := after(0, 6, 13)
	s.every = 61 * time.Minute // of which 15 days are no multiple
	o := options(s.every)
	o.Learn = 5 * day
	s.watch = drift.New(o, nil)
	s.is(1.5, drift.Network(fault.Latency), 18*day, day)
	if s.play(19 * day); !slices.Contains(subjects(s.began), drift.Network(fault.Latency)) {
		t.Errorf("began %+v", s.began)
	}
	s = after(0, 6, 14)
	s.every = 28 * time.Hour
	s.watch = drift.New(o, nil)
	if s.play(30 * day); !s.watch.Learning() {
		t.Error("learnt of a look a day")
	}
}

// While all hosts but a dead one measure for somebody else, as in a nightly run, the network is not dead.
func TestBusyHostsAreNotDead(t *testing.T) {
	s := after(2*day, 8, 1)
	looks := func(busy int) {
		for range 5 {
			l := drift.Look{At: s.now, Missing: []int{7}, Busy: busy}
			if busy == 0 {
				l = s.Look(s.now, 6)
			}
			began, _ := s.watch.Add(l)
			s.began, s.now = append(s.began, began...), s.now.Add(every)
		}
	}
	host := drift.Host(7, fault.Reach, "")
	if looks(7); !named(host, s.began) {
		t.Errorf("began %+v", s.began)
	}
	s.is(0, drift.Host(7, drifttest.Missing, ""), 0, day)
	looks(0)
	if looks(7); !named(host, s.began) {
		t.Errorf("known to be dead: began %+v", s.began)
	}
}
