package coord

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/units"
)

const (
	// checkDeadline bounds an exchange of a byte between two hosts: a connection whose first two packets were lost
	// still opens.
	checkDeadline = 4 * units.Second
	// checkTime is after how long no other pairs are tried. It may lie beyond the end of the budget: who is missing is
	// named in any case.
	checkTime = 10 * time.Second
	// minChecked is how many hosts are tried with each other where there are so many: with a third and a fourth, a
	// host is told from a link.
	minChecked = 4
	// A host or link that was left out is tried again after firstVisit, and then after twice as long each time.
	firstVisit = 10 * time.Second
	// Where nothing can be measured without what was left out, a run waits for it, each time no longer than longestWait.
	longestWait = 4 * firstVisit
)

// check looks for what a failed slot has in common: it has the hosts of its failed teams pass a byte to each other, in
// pairs that change. Hosts and links that cannot are left out. It reports whether it found any.
func (w *walker) check(ctx context.Context, s bench.Slot, hosts []int) bool {
	hosts = w.enough(hosts)
	until := time.Now().Add(checkTime)
	var all []tried
	var found named
	for _, step := range bench.Colouring(len(hosts)) {
		var pairs []Link
		for _, p := range step {
			l := linkOf(hosts[p[0]], hosts[p[1]])
			if w.usable(l[:]) && !slices.Contains(found.hosts, l[0]) && !slices.Contains(found.hosts, l[1]) {
				pairs = append(pairs, l)
			}
		}
		all = append(all, w.try(ctx, s, pairs)...)
		found = blame(all)
		if ctx.Err() != nil || time.Now().After(until) {
			break
		}
	}
	if ctx.Err() != nil {
		return false
	}
	if found.most {
		w.Note(fmt.Sprintf("most pairs of the hosts %s cannot exchange a byte within %v (%v): calib doctor says what is "+
			"wrong with the network between them", w.list(hosts), time.Duration(checkDeadline), whyFailed(all, nil)))
		return false
	}
	for _, h := range found.hosts {
		why := "its agent answers, but it is cut off on the data network: no byte came through to or from " +
			w.list(failedWith(all, h))
		w.result.Lost[h], w.away[h] = why, time.Now()
		w.visitAfter(firstVisit)
		w.Note(fmt.Sprintf("going on without host %s: %s", w.Names[h], why))
	}
	for _, l := range found.links {
		w.result.Cut[l] = fmt.Sprintf("no byte came through: %v; neither host is known to be at fault (try calib doctor)",
			whyFailed(all, &l))
		w.visitAfter(firstVisit)
		w.Note(fmt.Sprintf("going on without the link between %s: %s", w.list(l[:]), w.result.Cut[l]))
	}
	return len(found.hosts)+len(found.links) > 0
}

// enough adds hosts that are still there until a host can be told from a link.
func (w *walker) enough(hosts []int) []int {
	hosts = lists.Where(hosts, func(h int) bool { return w.usable([]int{h}) })
	for h := 0; h < len(w.agents) && len(hosts) < minChecked; h++ {
		if w.usable([]int{h}) && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// try has disjoint pairs exchange a byte, all at once and each for itself. What the end of the walk cuts off is not in
// the result.
func (w *walker) try(ctx context.Context, s bench.Slot, pairs []Link) []tried {
	out := Each(pairs, -1, func(_ int, p Link) tried {
		samples, err := together(ctx, w.agents, [][]int{p[:]}, bench.Task{
			Run: w.Run, Slot: s.ID, Round: s.Round, Exp: names.Probe, Points: []bench.Point{{names.FactorBytes: 0}},
			Epoch: w.Schedule.Epoch(s.Round), Deadline: checkDeadline, Recv: checkDeadline,
		})
		again := slices.ContainsFunc(samples, func(s dataset.Sample) bool { return s.Has(dataset.FlagRetrans) })
		return tried{p, err, again}
	})
	if ctx.Err() != nil {
		return nil
	}
	return out
}

// failedWith lists the hosts with which an exchange of h failed.
func failedWith(all []tried, h int) []int {
	seen := map[int]bool{}
	for _, t := range all {
		if i := slices.Index(t.Link[:], h); i >= 0 && t.err != nil {
			seen[t.Link[1-i]] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// whyFailed is the first error, of a link or of any; nil where there was none.
func whyFailed(all []tried, of *Link) error {
	for _, t := range all {
		if t.err != nil && (of == nil || t.Link == *of) {
			return t.err
		}
	}
	return nil
}

// visit tries again, from time to time, the hosts and links that were left out, and takes back those that are there.
func (w *walker) visit(ctx context.Context, s bench.Slot) {
	if len(w.away)+len(w.result.Cut) == 0 || time.Now().Before(w.next) {
		return
	}
	good := lists.Where(lists.Upto(len(w.agents)), func(h int) bool { return w.result.Lost[h] == "" })
	var pairs []Link
	taken := map[int]bool{}
	add := func(l Link) {
		if !taken[l[0]] && !taken[l[1]] {
			taken[l[0]], taken[l[1]] = true, true
			pairs = append(pairs, l)
		}
	}
	for _, h := range slices.Sorted(maps.Keys(w.away)) {
		i := slices.IndexFunc(good, func(g int) bool {
			_, cut := w.result.Cut[linkOf(h, g)]
			return !cut && !taken[g]
		})
		if i >= 0 {
			add(linkOf(h, good[i]))
		}
	}
	for l := range w.result.Cut {
		add(l)
	}
	for _, t := range w.try(ctx, s, pairs) {
		if t.err == nil {
			w.takeBack(t.Link)
		}
	}
	w.visitAfter(2 * w.wait)
}

// await waits for the time to try again what was left out, where no two hosts can be measured without it, and tries it.
// It reports false where two can, or there would be no time left to measure.
func (w *walker) await(ctx context.Context, r int) bool {
	wait := max(0, time.Until(w.next))
	if len(w.away)+len(w.result.Cut) == 0 || w.wait > longestWait || w.overAfter(wait) {
		return false
	}
	for a := range w.agents {
		for b := range a {
			if w.usable([]int{a, b}) {
				return false
			}
		}
	}
	w.Note(fmt.Sprintf("nothing can be measured without what was left out: trying again in %v", wait.Round(time.Second)))
	select {
	case <-time.After(wait):
	case <-ctx.Done():
		return false
	}
	w.visit(ctx, bench.Slot{ID: r * w.Schedule.Slots(), Round: r})
	return true
}

// visitAfter says when to try again what was left out.
func (w *walker) visitAfter(wait time.Duration) { w.wait, w.next = wait, time.Now().Add(wait) }

// takeBack ends the leaving out of a link, or of the one of its hosts that was. That it was missing is kept as a
// failure.
func (w *walker) takeBack(l Link) {
	if _, cut := w.result.Cut[l]; cut {
		delete(w.result.Cut, l)
		w.result.Failures = append(w.result.Failures, dataset.Failure{
			Link: []string{w.Names[l[0]], w.Names[l[1]]}, Error: "was left out for a while: no byte came through"})
		w.Note(fmt.Sprintf("the link between %s works again", w.list(l[:])))
		return
	}
	for _, h := range l {
		since, away := w.away[h]
		if !away {
			continue
		}
		out := time.Since(since).Round(time.Second)
		w.result.Failures = append(w.result.Failures, dataset.Failure{
			Host: w.Names[h], Error: fmt.Sprintf("was left out for %v: %s", out, w.result.Lost[h])})
		delete(w.away, h)
		delete(w.result.Lost, h)
		w.Note(fmt.Sprintf("host %s is back on the data network after %v", w.Names[h], out))
	}
}

// namesShown bounds the hosts that a sentence lists.
const namesShown = 6

// list names hosts, the first few of many.
func (w *walker) list(hosts []int) string {
	out := lists.Map(hosts[:min(len(hosts), namesShown)], func(h int) string { return w.Names[h] })
	last := len(out) - 1
	if n := len(hosts) - namesShown; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(out, ", "), n)
	} else if last > 0 {
		return strings.Join(out[:last], ", ") + " and " + out[last]
	}
	return strings.Join(out, "")
}

// Link is two hosts, the lower index first.
type Link [2]int

func linkOf(a, b int) Link { return Link{min(a, b), max(a, b)} }

// tried is what became of an exchange between two hosts.
type tried struct {
	Link
	err   error // nil where it was made
	again bool  // it was made, and only because much was sent again
}

// named are the hosts and links that failures have in common. Most says that they are too many to name: the network
// between the hosts is at fault, not some of them.
type named struct {
	hosts []int
	links []Link
	most  bool
}

// minPartners is with how many others an exchange must have failed until a host is named rather than a link.
const minPartners = 2

// blame finds what failed exchanges have in common: first the host that failed with most others, two at least that
// reach somebody, then the next among the failures that this host does not explain. Of hosts that failed with equally
// many, the one with fewer successes counts. What is left are links. Where nobody reaches anybody, where half of those
// who do have to send much again, or where half as many as there are hosts or more would be named, nothing is: packets
// are lost everywhere, or which of two halves is at fault cannot be told.
func blame(all []tried) (out named) {
	failed, hosts, successes := map[Link]bool{}, map[int]bool{}, map[int]int{}
	reached, again := 0, 0
	for _, t := range all {
		if t.again {
			again++
		}
		if t.err == nil {
			reached++
		} else {
			failed[t.Link] = true
		}
		for _, h := range t.Link {
			if hosts[h] = true; t.err == nil {
				successes[h]++
			}
		}
	}
	if len(failed) > 0 && again > 0 && 2*again >= reached || reached == 0 && len(hosts) > len(Link{}) {
		return named{most: true}
	}
	for h := worst(failed, successes); h >= 0; h = worst(failed, successes) {
		out.hosts = append(out.hosts, h)
		maps.DeleteFunc(failed, func(l Link, _ bool) bool { return slices.Contains(l[:], h) })
	}
	out.links = slices.SortedFunc(maps.Keys(failed), func(a, b Link) int { return slices.Compare(a[:], b[:]) })
	if n := len(out.hosts) + len(out.links); len(hosts) > len(Link{}) && 2*n >= len(hosts) {
		return named{most: true}
	}
	slices.Sort(out.hosts)
	return out
}

// worst is the host that failed with most others, or -1 where none failed with enough of those that reach somebody.
func worst(failed map[Link]bool, successes map[int]int) int {
	with := map[int]int{}
	for l := range failed {
		for i, h := range l {
			if successes[l[1-i]] > 0 {
				with[h]++
			}
		}
	}
	out := -1
	for _, h := range slices.Sorted(maps.Keys(with)) {
		if with[h] >= minPartners && (with[h] > with[out] || with[h] == with[out] && successes[h] < successes[out]) {
			out = h
		}
	}
	return out
}
