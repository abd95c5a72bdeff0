package run

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"calib/fit"
	"calib/fit/fault"
	"calib/internal/dataset"
	"calib/internal/doctor"
	"calib/internal/exit"
	"calib/internal/lists"
	"calib/internal/machine"
	"calib/internal/stats"
	"calib/internal/units"
	"calib/run/coord"
)

// Checking says how hosts and pairs are checked.
type Checking struct {
	Budget time.Duration // of all rounds
	Margin float64       // by how much slower does not matter
}

const (
	leastChecked = 3 // hosts: of two, nobody can say which is slow
	// leastCheck is how long hosts are observed at least, or a third of the budget where that is more: what comes and
	// goes is seen twice if it does so in ten seconds.
	leastCheck = 20 * time.Second
	// leastBudget is that of a run whose look at the network is long enough.
	leastBudget = 30 * units.Second
	// screenShare is the share of the budget of a run for which pairs are observed at most.
	screenShare = 0.1
)

type Checked struct {
	Hosts   []string // as indices of Judgement
	Missing []dataset.Failure
	// Findings are what doctor says of the hosts and pairs that were checked; of simulated ones it knows nothing.
	Findings []doctor.Finding
	fault.Judgement
	Levels           []fault.Found // of each host, as fault.Screen has them
	Latency, PerByte float64       // medians of all pairs [s, s/B]
	Link             float64       // rate of the slower link of a pair, their median [bit/s]; 0 where it is not known
	LinkShare        float64       // of what TCP can send over a pair's link, their median
	Loopback         float64       // rate of a stream from a host to itself, their median [bit/s]; 0 where it is not known
	// Links say, by host, which errors its interface counted meanwhile, and to which port of a switch it leads.
	Links   []string
	Decided bool // more rounds would not change what is known
	Took    time.Duration
	Virtual bool // Took is simulated time
}

// Check starts the agents, and looks for slow hosts and pairs until all is decided or the time is over.
func Check(ctx context.Context, c Config, o Checking) (out Checked, err error) {
	defer c.Show.Done()
	c.Plan.Budget = units.Nanos(o.Budget)
	r := newRun(c, "check-")
	err = r.with(ctx, func(f *fleet) error {
		if err := r.checkup(ctx, f); err != nil {
			return err
		}
		r.sayLost(f)
		const needs = "a check compares hosts with each other and needs three"
		switch n := len(f.agents); {
		case n < leastChecked && len(f.lost) > 0:
			return exit.With(exit.Partial, fmt.Errorf("%s can be measured: "+needs, units.Plural(n, "host")))
		case n < leastChecked:
			return exit.Usagef("%s: "+needs, units.Plural(n, "host"))
		}
		r.Show.Phase("probe the network")
		probed, err := coord.Probe(ctx, f.agents, r.id, r.Plan.Seed, max(r.Plan.Budget, leastBudget), 0, time.Now)
		if err != nil {
			return err
		}
		told := *probed
		if r.Where.Sim != "" { // simulated pairs that look at once have a time each: they do not meet
			told.AtOnce = 0
		}
		r.Show.Note(probeText(&told))
		screen := fault.New(len(f.agents), o.Margin)
		screen.Machine = lists.Map(f.hosts, dataset.Host.Machine)
		var answered []fault.Seen
		within := [2]time.Duration{max(leastCheck, o.Budget/3), o.Budget}
		out.Took, err = r.observe(ctx, f, screen, probed.Abreast(), within,
			func(seen coord.Observed) error {
				answered = append(answered, seen.Seen...)
				return nil
			})
		if err != nil {
			return err
		}
		answered = slices.DeleteFunc(answered, func(s fault.Seen) bool { return s.Failed })
		if len(answered) == 0 {
			return errors.New("after the probe no pair of hosts answered: calib doctor says what is wrong")
		}
		out.Judgement, out.Missing, out.Decided = screen.Judge(), f.lost, screen.Decided()
		out.Levels, out.Findings, out.Virtual = screen.Levels(), r.findings, r.Where.Sim != ""
		out.Latency = stats.Median(lists.Map(answered, func(s fault.Seen) float64 { return s.Latency }))
		out.PerByte = stats.Median(lists.Map(answered, func(s fault.Seen) float64 { return s.PerByte }))
		out.Link, out.LinkShare = shareOf(f.hosts, answered)
		after := f.examine(ctx)
		out.Links = linksOf(f.hosts, after)
		loops := lists.Map(after, func(h doctor.Host) float64 { return h.Now.Loopback })
		out.Loopback = stats.Typical(lists.Where(loops, func(v float64) bool { return v > 0 }))
		out.Hosts = namesOf(f.hosts)
		return nil
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("check: %w", err)
	}
	return out, err
}

// framing is what Ethernet sends beside a packet: header, check sum, preamble and the gap before the next one [B].
const framing = 14 + 4 + 8 + 12

// linkOf returns the rate of a host's link, and what TCP can send over it in full packets [bit/s]; 0 where it is not
// known.
func linkOf(h dataset.Host) (rate, payload float64) {
	mbps, err1 := strconv.Atoi(h.Env["nic.speed_mbps"])
	mtu, err2 := strconv.Atoi(h.Env["nic.mtu"])
	segment, _ := dataset.Segment([]dataset.Host{h})
	named := slices.Contains([]string{"tun", "veth"}, h.Env["nic.driver"]) // a speed that they do not have
	if err1 != nil || err2 != nil || mbps <= 0 || segment == 0 || named {
		return 0, 0
	}
	rate = float64(mbps) * 1e6
	return rate, rate * float64(segment) / float64(mtu+framing)
}

// shareOf returns the rate of a pair's link, which is the slower of two, and the share that the pair has of what TCP
// can send over it: their medians over all looks.
func shareOf(hosts []dataset.Host, seen []fault.Seen) (rate, share float64) {
	var rates, shares []float64
	link, payload := make([]float64, len(hosts)), make([]float64, len(hosts))
	for i, h := range hosts {
		link[i], payload[i] = linkOf(h)
	}
	for _, s := range seen {
		if rate := min(link[s.From], link[s.To]); rate > 0 {
			rates, shares = append(rates, rate), append(shares, 8/s.PerByte/min(payload[s.From], payload[s.To]))
		}
	}
	if rates == nil {
		return 0, 0
	}
	slices.Sort(rates)
	return rates[len(rates)/2], stats.Median(shares)
}

// linksOf say of each host which errors its interface counted between two times, and its port of a switch.
func linksOf(before []dataset.Host, after []doctor.Host) (out []string) {
	for i, h := range after {
		var says []string
		if grown := machine.Grown(before[i].Now.Errors, h.Now.Errors); grown != "" {
			says = append(says, h.Env["nic.name"]+" counted "+grown)
		}
		if h.Now.Switch != "" {
			says = append(says, "switch "+h.Now.Switch)
		}
		out = append(out, strings.Join(says, ", "))
	}
	return out
}

// observe lets pairs of hosts look at the way between them, so many at once, and other pairs in each round. It ends
// when all is decided, but not before the first of two times, or at the second, also within a round. Each round is
// given to keep.
func (r *run) observe(ctx context.Context, f *fleet, screen *fault.Screen, atOnce int, within [2]time.Duration,
	keep func(coord.Observed) error) (took time.Duration, err error) {
	r.Show.Phase("observe pairs")
	rng := rand.New(rand.NewPCG(r.Plan.Seed, uint64(len(f.agents))))
	begun := time.Now()
	spent := func(round units.Nanos) time.Duration {
		if r.Where.Sim != "" {
			return took + time.Duration(round)
		}
		return time.Since(begun)
	}
	var before units.Nanos
	for round := 0; took < within[1] && !(took >= within[0] && screen.Done()); round++ {
		seen := coord.Observe(ctx, f.agents, r.id, round, screen.Next(rng), atOnce, before, coord.LeastLook, 0,
			func(took units.Nanos) bool { return spent(took) < within[1] })
		before = seen.Slowest
		if ctx.Err() != nil {
			return took, ctx.Err()
		}
		screen.Add(seen.Seen, seen.Took.Seconds())
		if err := keep(seen); err != nil {
			return took, err
		}
		took = spent(seen.Took)
		r.Show.Update(took.Seconds(), within[1].Seconds(), 0, units.Plural(int64(round+1), "round"))
	}
	return took, nil
}

// screenTime is how long pairs observe the way between them at most at the beginning of a run. Two hosts have nobody to
// be compared with.
func (r *run) screenTime(f *fleet) time.Duration {
	if r.Probe == nil || len(f.agents) < leastChecked {
		return 0
	}
	if b := time.Duration(r.Plan.Budget); b > 0 {
		return min(leastCheck, time.Duration(screenShare*float64(b)))
	}
	return leastCheck
}

// screened lets pairs observe the way between them at the beginning of a run, for a share of its budget, and keeps the
// samples: fits leave out what they show to be slow.
func (r *run) screened(ctx context.Context, f *fleet) error {
	most := r.screenTime(f)
	if most == 0 {
		return nil
	}
	screen := fault.New(len(f.agents), fit.SlowMargin)
	screen.Machine = lists.Map(f.hosts, dataset.Host.Machine)
	took, err := r.observe(ctx, f, screen, r.Probe.Abreast(),
		[2]time.Duration{0, most}, func(o coord.Observed) error {
			if len(o.Samples) == 0 {
				return nil
			}
			r.opening = append(r.opening, o.Samples...)
			return r.sink.Append(o.Samples)
		})
	r.checked += units.Nanos(took)
	if err != nil {
		return err
	}
	judged, what := screen.Judge(), "groups, such as racks"
	r.Probe.Groups = judged.Groups
	if judged.Groups == nil {
		r.Probe.Groups, what = judged.Kinds, "kinds"
	}
	if n := len(r.Probe.Groups); n > 0 {
		r.note(fmt.Sprintf("the hosts are of %d %s: in half of the rounds pairs are within them, and in the others "+
			"between", n, what))
	}
	return nil
}
