package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"calib/agent"
	"calib/bench"
	"calib/bench/experiments"
	"calib/internal/dataset"
	"calib/internal/doctor"
	"calib/internal/exit"
	"calib/internal/lists"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/reports"
	"calib/run/coord"
	"calib/run/plan"
)

const (
	// quickCheck is how long the check before a run lasts, where every host works.
	quickCheck = time.Second
	// checkAllowance is what a pair may send in a check, and checkTickets how long its tickets hold, which is no less than
	// those of a run: a clock that a run bears is no fault.
	checkAllowance = units.MiB
	checkTickets   = 24 * time.Hour
)

// Preview starts the agents, looks at the network, and returns the plan made of it.
func Preview(ctx context.Context, c Config) (out reports.Plan, err error) {
	defer c.Show.Done()
	r, err := prepared(c)
	if err != nil {
		return out, err
	}
	err = r.with(ctx, func(f *fleet) error {
		if err := r.checkup(ctx, f); err != nil {
			return err
		}
		r.sayLost(f)
		s, err := r.planned(ctx, f)
		if err != nil {
			return err
		}
		out = forecast(s)
		looks := r.checked
		if r.Probe != nil {
			out.Network = probeText(r.Probe)
			looks += r.Probe.Took
		}
		addLooks(&out, looks, looks+units.Nanos(r.screenTime(f)), r.Plan.Budget)
		return nil
	})
	return out, err
}

// Examine starts the agents, looks at hosts and pairs, and ends the agents again. Hosts are given.
func Examine(ctx context.Context, c Config) (report doctor.Report, err error) {
	defer c.Show.Done()
	r := newRun(c, "doctor-")
	err = r.with(ctx, func(f *fleet) error {
		r.Show.Phase("examine the hosts")
		// First: it takes out who refuses, and pairs name the others by index.
		if err := f.claim(ctx, plane.Session{Run: r.id}, checkAllowance, checkTickets); err != nil {
			return err
		}
		pairs := coord.CheckPairs(ctx, f.agents, r.id, f.hosts, 0, time.Now)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		facts := doctor.Facts{Hosts: f.examine(ctx), Pairs: pairs}
		for _, l := range f.lost {
			facts.Hosts = append(facts.Hosts, doctor.Host{Host: dataset.Host{Name: l.Host}, Lost: l.Error})
		}
		report = doctor.Examine(facts)
		return nil
	})
	return report, err
}

// examine asks every agent again who it is, and compares its clock with the one here: the first time, it had to be
// started.
func (f *fleet) examine(ctx context.Context) []doctor.Host {
	return coord.Each(f.agents, -1, func(i int, a coord.Agent) doctor.Host {
		sent, out := time.Now(), doctor.Host{Host: f.hosts[i]}
		info, err := a.Hello(ctx, true)
		took := time.Since(sent) - info.Now.Longer // which says nothing of the way
		if err != nil {
			return out // the check of pairs will say why
		}
		out.Boot, out.Env, out.Now = info.Boot, info.Env, info.Now
		if ns := info.Now.Unix; ns != 0 {
			out.Offset, out.Bound = time.Unix(0, ns).Sub(sent)-took/2, took/2
		}
		return out
	})
}

// claim takes the agents for the run, once: its session serves the check, the probe and the measuring.
func (r *run) claim(ctx context.Context, f *fleet) error {
	limits := agent.DefaultLimits()
	// The tickets last a day longer than twice the budget, and no longer than agents take them: clocks may differ.
	life := limits.Life - time.Hour
	if r.Plan.Budget > 0 {
		life = min(life, 2*time.Duration(r.Plan.Budget)+24*time.Hour)
	}
	return f.claim(ctx, plane.Session{Run: r.id, Socket: r.Socket, Watch: r.Watch, Keep: r.Keep}, limits.Bytes, life)
}

// checkup claims the agents, and leaves out of a new run the hosts that no other can reach. It gives the plan the
// smallest segment of the interfaces of those that stay, where it has none.
func (r *run) checkup(ctx context.Context, f *fleet) error {
	err := r.claim(ctx, f)
	if err == nil && r.Where.Sim == "" && r.Resume == "" && len(f.agents) > 2 {
		err = r.tryHosts(ctx, f)
	}
	if err != nil {
		return err
	}
	if together := f.onOneCPU(); together != "" {
		r.note("there are fewer CPUs than agents. Agents that share one (" + together + ") run by turns, and are " +
			"measured with agents on other CPUs where there are any")
	}
	if r.Plan.Limits.Segment != 0 {
		return nil
	}
	size, missing := dataset.Segment(f.hosts)
	if size == 0 {
		r.note(fmt.Sprintf("the interface of host %s is not known: packet sizes are those of Ethernet, up to %d bytes",
			f.hosts[missing].Name, bench.EthernetSegment))
	}
	r.Plan.Limits.Segment = units.Bytes(size)
	return nil
}

// tryHosts leaves out the hosts that no other can reach.
func (r *run) tryHosts(ctx context.Context, f *fleet) error {
	r.Show.Phase("try the hosts")
	begun := time.Now()
	defer func() { r.checked = units.Nanos(time.Since(begun)) }()
	pairs := coord.CheckPairs(ctx, f.agents, r.id, f.hosts, quickCheck, time.Now)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	known := func(h dataset.Host) doctor.Host { return doctor.Host{Host: h} }
	facts := doctor.Facts{Hosts: lists.Map(f.hosts, known), Pairs: pairs}
	out := doctor.Out(len(f.hosts), pairs)
	why := map[string]string{}
	report := doctor.Examine(facts)
	for _, n := range report.Findings {
		if n.Code == doctor.NoName && report.Usable == 0 {
			return fmt.Errorf("no two hosts can be measured: %s: %s", n.What, n.Mend)
		}
		for _, h := range n.Hosts {
			if n.Code == doctor.NoName || n.Severity == doctor.Blocks && len(n.Hosts) == 1 {
				why[h] = n.What + " (" + n.Mend + ")"
			}
		}
	}
	for _, i := range slices.Backward(out) {
		f.leave(i, why[f.hosts[i].Name])
	}
	left := map[string]bool{}
	for _, h := range f.hosts {
		left[h.Name] = true
	}
	r.findings = slices.DeleteFunc(report.Findings, func(n doctor.Finding) bool {
		return !slices.ContainsFunc(n.Hosts, func(h string) bool { return left[h] })
	})
	if len(out) == 0 {
		return nil
	}
	return r.claim(ctx, f) // the others have new numbers
}

func (r *run) sayLost(f *fleet) {
	r.lost = f.lost
	for _, l := range f.lost {
		r.note(fmt.Sprintf("going on without host %s: %s", l.Host, l.Error))
	}
}

// planned looks at the network and makes the schedule. The agents are claimed.
func (r *run) planned(ctx context.Context, f *fleet) (*plan.Schedule, error) {
	if err := r.look(ctx, f); err != nil {
		return nil, err
	}
	r.Plan.Crowded = dataset.Crowded(f.hosts) != nil
	s, err := scheduleOf(r.Plan, len(f.agents))
	if err != nil {
		return nil, err
	}
	s.Crowded = dataset.Crowded(f.hosts)
	cost := s.Estimate()
	if cost.Burst > 0 {
		r.Show.Note(reports.BurstText(cost.Burst))
	}
	rounds := max(1, float64(cost.Max)/float64(max(1, cost.Round)))
	return s, enoughBytes(units.Bytes(rounds*float64(cost.LinkBytes)), f.hosts)
}

// ample is a limit of an agent that no pair of hosts reaches: what experiments count is an upper bound, of all that
// passes over a host's link, which on many hosts is far above what a pair sends.
const ample = 64 * units.GiB

// enoughBytes returns an error where an agent allows less traffic with a peer than the plan needs.
func enoughBytes(need units.Bytes, hosts []dataset.Host) error {
	for _, h := range hosts {
		if limit := units.Bytes(h.MostBytes); limit > 0 && limit < min(need, ample) {
			return fmt.Errorf("host %s: its agent allows %v with one peer in a run (calib agent --max-bytes), "+
				"the plan may send %v", h.Name, limit, need)
		}
	}
	return nil
}

// look probes the network, unless the plan knows it, has one host, or was told not to. What it finds becomes part of
// the plan. A simulated network takes no time that a budget could bound, and a run that goes on has the plan that it
// began with.
func (r *run) look(ctx context.Context, f *fleet) error {
	if r.Plan.Limits.Path.Known() || r.Unprobed || r.held > 0 || r.Where.Sim != "" || len(f.agents) < 2 {
		return nil
	}
	r.Show.Phase("probe the network")
	begun := time.Now()
	p, err := coord.Probe(ctx, f.agents, r.id, r.Plan.Seed, r.Plan.Budget, 0, time.Now)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.checked += units.Nanos(time.Since(begun))
		path, name := supposed(err)
		r.Plan.Limits.Path = path
		r.note(fmt.Sprintf("%v: the plan is that for a network of %s", err, name))
		return nil
	}
	r.Probe, r.Plan.Limits.Path = p, p.Path()
	r.Plan.Limits.Segment = cmp.Or(r.Plan.Limits.Segment, units.Bytes(p.Segment))
	r.Show.Note(probeText(p))
	return nil
}

// supposed is what a network is taken for after a look that failed: what did not end in time is slow. Of others nothing
// is known, and forecasts take them for a gigabit.
func supposed(err error) (path bench.Path, name string) {
	if errors.Is(err, agent.ErrDeadline) {
		return bench.Slow, "256 kbit/s, 100 ms"
	}
	return path, "1 Gbit/s"
}

// probeText says in one line what a probe found.
func probeText(p *coord.Probed) string {
	loss := "no loss"
	if p.Loss != 0 {
		loss = fmt.Sprintf("%.2g%% lost", 100*p.Loss)
	}
	s := fmt.Sprintf("network: %s one way, %s a byte (%s), %s", units.Format(p.Latency.Seconds(), "s"),
		units.Format(p.PerByte*1e-9, "s"), units.Format(8e9/max(p.PerByte, 1e-3), "bit/s"), loss)
	if p.AtOnce > 0 {
		s += fmt.Sprintf("; %s at once ", units.Plural(p.AtOnce, "pair"))
		slower := fmt.Sprintf("%.2g", p.Slower)
		if round, _ := strconv.ParseFloat(slower, 64); round >= 100 {
			slower = "about " + units.Grouped(int64(round))
		}
		switch {
		case p.Together:
			s += "do not slow each other, so pairs run side by side"
		case p.Absurd():
			s += fmt.Sprintf("take %s times as long, and no network does that: the hosts are busy, or packets are lost "+
				"(calib doctor shows the load); pairs run one by one", slower)
		case p.Shared():
			s += fmt.Sprintf("take %s times as long, so pairs run one by one", slower)
			if n := p.Abreast(); n > 1 {
				s += fmt.Sprintf(", and %d at once while they are only observed", n)
			}
		default:
			s += fmt.Sprintf("take %s times as long, but not all of them", slower)
		}
	}
	pairs := units.Plural(p.Pairs, "pair")
	return s + fmt.Sprintf(" (a probe of %s at %s)", units.Format(p.Took.Seconds(), "s"), pairs)
}

// Forecast is what is known of a plan on its hosts without a look at the network. Nothing is sent.
func Forecast(c Config) (reports.Plan, error) {
	s, err := scheduleOf(c.Plan, len(c.Hosts))
	if err != nil {
		return reports.Plan{}, err
	}
	return forecast(s), nil
}

// forecast is what the schedule is expected to cost: time and bytes, in all and by experiment, and what it has no room
// for.
func forecast(s *plan.Schedule) reports.Plan {
	f := s.Estimate()
	inRounds := func(t units.Nanos) float64 { return float64(t) / float64(max(1, f.Round)) }
	least, most := inRounds(f.Min), inRounds(f.Max) // as many as there is time for
	rounds := max(1, int(least))
	bytes := func(round units.Bytes) units.Bytes { return units.Bytes(most * float64(round)) }
	out := reports.Plan{
		Name: s.Plan.Name, Hosts: s.Limits.Hosts, Seed: s.Plan.Seed, Rounds: rounds,
		MinutesLo: f.Min.Seconds() / 60, MinutesHi: f.Max.Seconds() / 60, RoundSeconds: f.Round.Seconds(),
		BytesPerLink: bytes(f.LinkBytes), Asked: s.Plan.Rounds.Min, BurstBytes: f.Burst,
		Left: s.Left, Empty: s.Empty, WholeMinutes: s.WholeTime.Seconds() / 60,
	}
	for _, e := range f.ByExp {
		slots := int(float64(rounds)*e.Slots + 0.5)
		out.Slots += slots
		out.Experiments = append(out.Experiments, reports.PlanExperiment{
			Name: e.Name, Points: e.Points, Whole: e.Whole, Slots: slots, Share: inRounds(e.Round),
			MinutesLo: least * e.Round.Seconds() / 60, MinutesHi: most * e.Round.Seconds() / 60,
			BytesPerLink: bytes(e.LinkBytes),
		})
	}
	return out
}

// addLooks adds to a forecast the time before the first round in which hosts and network are looked at. It counts for
// the budget; 0 is none.
func addLooks(p *reports.Plan, least, most, budget units.Nanos) {
	bound := cmp.Or(budget.Seconds()/60, math.Inf(1))
	p.MinutesLo = min(p.MinutesLo+least.Seconds()/60, bound)
	p.MinutesHi = min(p.MinutesHi+most.Seconds()/60, bound)
	p.LookSeconds = most.Seconds()
}

func scheduleOf(p plan.Plan, hosts int) (*plan.Schedule, error) {
	s, err := plan.New(p, hosts, experiments.All)
	return s, exit.With(exit.Usage, err)
}
