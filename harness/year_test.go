//go:build harness

package harness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"calib/fit/drift"
	"calib/fit/drift/drifttest"
	"calib/fit/fault"
	"calib/internal/lists"
	"calib/internal/stats"
)

const (
	yearHosts  = 8
	yearEvery  = 180 * time.Second
	yearRounds = 6
	yearSeeds  = 5
	day        = 24 * time.Hour
	fortnight  = 14
)

var (
	yearBegun   = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	yearMargins = []float64{0.005} // a second one doubles the time
	yearSizes   = []float64{1.01, 1.01, 1.01, 1.02, 1.02, 1.03, 1.05, 1.05, 1.10, 1.10, 1.20, 1.50}
)

// alarm is that a method says a subject is slower, or dead.
type alarm struct {
	drift.Subject
	at    time.Time
	ratio float64
}

// TestYear holds fit/drift, a fixed threshold and E-divisive against simulated years.
func TestYear(t *testing.T) {
	var mu sync.Mutex
	years := map[string][]year{} // by method
	var jobs errgroup.Group
	jobs.SetLimit(2)
	p := &table{name: "year", part: *seedFlag != 1,
		header: "judged by | change | injected | found | in a day | in an hour | named alone | others named | " +
			"delay, median | longest"}
	for seed := *seedFlag; seed < *seedFlag+yearSeeds; seed++ {
		p.run(t, strconv.Itoa(seed), func(*testing.T) {
			jobs.Go(func() error {
				wrong := injected(uint64(seed))
				found := follow(uint64(seed), wrong)
				mu.Lock()
				defer mu.Unlock()
				for method, alarms := range found {
					years[method] = append(years[method], year{seed, wrong, alarms})
				}
				return nil
			})
		})
	}
	_ = jobs.Wait()
	for _, method := range methods() {
		judgeYears(t, p, method, years[method])
	}
	p.save(t)
}

func methods() (out []string) {
	for _, m := range yearMargins {
		out = append(out, fmt.Sprintf("calib, margin %g%%", 100*m))
	}
	return append(out, "threshold", "E-divisive")
}

// injected are twelve changes, from five to ten days long, three dead links and six reboots.
func injected(seed uint64) (out []drifttest.Slowness) {
	rng := rand.New(rand.NewPCG(seed, 12))
	add := func(s drift.Subject, ratio, from float64, lasts time.Duration) {
		at := yearBegun.Add(time.Duration(from * float64(day))).Truncate(yearEvery)
		out = append(out, drifttest.Slowness{Subject: s, Ratio: ratio, From: at, To: at.Add(lasts)})
	}
	kinds := rng.Perm(len(yearSizes))
	for i, size := range rng.Perm(len(yearSizes)) {
		hosts := rng.Perm(yearHosts)
		s := drift.Host(hosts[0], fault.Rate, "") // in both directions
		switch k := kinds[i]; {
		case k < 2:
			s.Direction = fault.Sending
		case k < 4:
			s.Direction = fault.Receiving
		case k < 7:
			s.Quantity = fault.Latency
		case k == 7:
			s.Hosts[1] = hosts[1]
		case k == 8:
			s = drift.Subject{Hosts: fault.Pair(hosts[0], hosts[1]), Quantity: fault.Latency}
		case k < 11:
			s = drift.Network([]string{fault.Latency, fault.Rate}[k-9])
		}
		lasts := 5 * day
		if i%4 == 3 {
			lasts = 10 * day
		}
		add(s, yearSizes[size], 25+27*float64(i)+10*rng.Float64(), lasts)
	}
	for i := range 3 {
		hosts := rng.Perm(yearHosts)
		pair := drift.Subject{Hosts: fault.Pair(hosts[0], hosts[1]), Quantity: fault.Reach}
		add(pair, 0, 20+110*float64(i)+100*rng.Float64(), 6*time.Hour)
	}
	for i := range 6 {
		host := drift.Host(rng.IntN(yearHosts), drifttest.Missing, "")
		add(host, 0, 20+55*float64(i)+50*rng.Float64(), 10*time.Minute)
	}
	return out
}

// follow draws the looks of a year and returns the alarms of each method.
func follow(seed uint64, wrong []drifttest.Slowness) map[string][]alarm {
	c := drifttest.New(yearHosts, seed)
	c.Slow = wrong
	found := map[string][]alarm{}
	var watches []*drift.Watch
	for _, m := range yearMargins {
		o := drift.Options{Learn: day, Margin: m, Yearly: float64(365 * day / yearEvery)}
		watches = append(watches, drift.New(o, nil))
	}
	p := plain{series: map[drift.Subject]*series{}}
	for at := yearBegun; at.Before(yearBegun.Add(365 * day)); at = at.Add(yearEvery) {
		l := c.Look(at, yearRounds)
		for i, w := range watches {
			began, _ := w.Add(l)
			for _, b := range began {
				found[methods()[i]] = append(found[methods()[i]], alarm{b.Subject, at, b.Ratio})
			}
		}
		high, split := p.add(l)
		found["threshold"] = append(found["threshold"], high...)
		found["E-divisive"] = append(found["E-divisive"], split...)
	}
	return found
}

// plain judges the median of what a subject takes in a look by a threshold, and its daily medians by E-divisive.
type plain struct {
	series map[drift.Subject]*series
	today  int
}

type series struct {
	first    []float64 // of the first fortnight
	usual    float64   // their median
	above    int       // looks in a row
	open     bool
	today    []float64
	days     []float64
	reported int // the day of the last change that was reported
}

func (p *plain) add(l drift.Look) (high, split []alarm) {
	values := map[drift.Subject][]float64{}
	for _, s := range l.Seen {
		if s.Failed {
			continue
		}
		pair := drift.Subject{Hosts: fault.Pair(s.From, s.To), Quantity: fault.Latency}
		for _, of := range []drift.Subject{drift.Network(fault.Latency), drift.Host(s.From, fault.Latency, ""),
			drift.Host(s.To, fault.Latency, ""), pair} {
			values[of] = append(values[of], s.Latency)
		}
		pair = drift.Subject{Hosts: [2]int{s.From, s.To}, Quantity: fault.Rate}
		for _, of := range []drift.Subject{drift.Network(fault.Rate), drift.Host(s.From, fault.Rate, fault.Sending),
			drift.Host(s.To, fault.Rate, fault.Receiving), pair} {
			values[of] = append(values[of], s.PerByte)
		}
	}
	if d := int(l.At.Sub(yearBegun) / day); d != p.today {
		split = p.night(l.At)
		p.today = d
	}
	for of, all := range values {
		s := p.series[of]
		if s == nil {
			s = &series{reported: -fortnight}
			p.series[of] = s
		}
		x := stats.Median(all)
		s.today = append(s.today, x)
		if p.today < fortnight {
			s.first = append(s.first, x)
			continue
		}
		if s.usual == 0 {
			s.usual = stats.Median(s.first)
		}
		s.above++
		if (x > 1.1*s.usual) == s.open {
			s.above = 0
		}
		if s.above == 4 {
			s.open, s.above = !s.open, 0
			if s.open {
				high = append(high, alarm{of, l.At, x / s.usual})
			}
		}
	}
	return high, split
}

// night looks for changes within the medians of the last fortnight of days.
func (p *plain) night(at time.Time) (out []alarm) {
	for of, s := range p.series {
		if len(s.today) == 0 {
			continue
		}
		s.days, s.today = append(s.days, stats.Median(s.today)), s.today[:0]
		if len(s.days) < fortnight {
			continue
		}
		first := len(s.days) - fortnight
		for _, c := range stats.EDivisive(s.days[first:], stats.ChangeOptions{Segment: 3, Effect: yearMargins[0]}) {
			if began := first + c.Index; c.Effect > 0 && began > s.reported+3 {
				s.reported = began
				out = append(out, alarm{of, at, 1 + c.Effect})
			}
		}
	}
	return out
}

// year is what was wrong in a year, and what a method found.
type year struct {
	seed   int
	wrong  []drifttest.Slowness
	alarms []alarm
}

// same reports whether an alarm names what is wrong.
func (a alarm) same(s drifttest.Slowness) bool {
	missing := s.Quantity == drifttest.Missing && a.Quantity == fault.Reach
	return a.Hosts == s.Hosts && (a.Quantity == s.Quantity || missing) &&
		(s.Direction == "" || s.Direction == a.Direction)
}

// near reports whether what is wrong explains an alarm, which may name another subject.
func (a alarm) near(s drifttest.Slowness) bool {
	meet := a.Size() == 0 || s.Size() == 0 ||
		slices.ContainsFunc(a.Hosts[:a.Size()], func(h int) bool { return slices.Contains(s.Hosts[:], h) })
	return meet && s.At(a.at) && (a.Quantity == s.Quantity || a.same(s))
}

// judgeYears adds the rows of a method, and what it missed and said without cause.
func judgeYears(t *testing.T, p *table, method string, years []year) {
	t.Helper()
	slices.SortFunc(years, func(a, b year) int { return a.seed - b.seed })
	var missed, without []string
	most, limit := 0, 60
	row := func(size float64) (injected, alone, others int, delays []time.Duration) {
		for _, y := range years {
			for _, s := range y.wrong {
				if s.Ratio != size || size == 0 && s.Quantity != fault.Reach {
					continue
				}
				injected++
				near := lists.Where(y.alarms, func(a alarm) bool { return a.near(s) })
				if len(near) == 0 {
					missed = append(missed, fmt.Sprintf("%s × %g, seed %d", words(s.Subject), s.Ratio, y.seed))
					continue
				}
				delays = append(delays, near[0].at.Sub(s.From))
				other := slices.ContainsFunc(near, func(a alarm) bool { return !a.same(s) })
				if right := slices.ContainsFunc(near, func(a alarm) bool { return a.same(s) }); right && !other {
					alone++
				}
				if other {
					others++
				}
			}
		}
		slices.Sort(delays)
		return injected, alone, others, delays
	}
	for _, size := range slices.Compact(slices.Sorted(slices.Values(yearSizes))) {
		n, alone, others, delays := row(size)
		in := func(d time.Duration) int {
			return lists.Count(delays, func(x time.Duration) bool { return x <= d })
		}
		p.add(t, fmt.Sprintf("| %s | %.0f%% | %d | %d | %d | %d | %d | %d | %s |", method, 100*(size-1), n, len(delays),
			in(day), in(time.Hour), alone, others, middle(delays)))
	}
	_, _, _, dead := row(0)
	boots := 0
	for _, y := range years {
		n := 0
		changes := lists.Where(y.wrong, func(s drifttest.Slowness) bool { return s.Quantity != drifttest.Missing })
		for _, a := range y.alarms {
			if !slices.ContainsFunc(changes, a.near) {
				if n++; slices.ContainsFunc(y.wrong, a.near) {
					boots++
				}
				without = append(without, fmt.Sprintf("%s × %.3f, seed %d, day %.2f", words(a.Subject), a.ratio, y.seed,
					a.at.Sub(yearBegun).Hours()/24))
			}
		}
		most = max(most, n)
	}
	p.after += fmt.Sprintf("\n%s: %d false alarms in %d years, at most %d in one, %d of them at a reboot", method,
		len(without), len(years), most, boots)
	if len(dead) > 0 {
		p.after += fmt.Sprintf("; %d of %d dead pairs found, the last after %v", len(dead), 3*len(years),
			dead[len(dead)-1])
	}
	p.after += ".\n"
	if !strings.HasPrefix(method, "calib") {
		return
	}
	for _, list := range []struct {
		name string
		of   []string
	}{{"Missed", missed}, {"False", without}} {
		if len(list.of) > 0 {
			p.after += fmt.Sprintf("%s: %s.\n", list.name, strings.Join(list.of[:min(limit, len(list.of))], "; "))
		}
	}
}

// middle is the median and the longest of delays.
func middle(all []time.Duration) string {
	if len(all) == 0 {
		return "- | -"
	}
	short := func(d time.Duration) string {
		if d < day {
			return fmt.Sprintf("%.1f h", d.Hours())
		}
		return fmt.Sprintf("%.1f d", d.Hours()/24)
	}
	return short(all[len(all)/2]) + " | " + short(all[len(all)-1])
}

// words name a subject.
func words(s drift.Subject) string {
	who := []string{"network", "host", "pair"}[s.Size()]
	for _, h := range s.Hosts[:s.Size()] {
		who += " " + strconv.Itoa(h)
	}
	return strings.TrimSpace(who + " " + s.Quantity + " " + s.Direction)
}
