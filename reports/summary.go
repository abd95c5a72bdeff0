package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"calib/internal/dataset"
	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
)

const (
	good   = "GOOD RUN"
	usable = "USABLE RUN"
	poor   = "POOR RUN"
)

type Summary struct {
	Run      string   // its name
	Verdict  string   // GOOD RUN, USABLE RUN or POOR RUN
	Network  string   // what the network is: "a shared medium of 8.7 Mbit/s, every host slows the others"
	Spoiled  []string // what spoiled the run, and what to do; the worst first
	Odd      []string // hosts and pairs that stand out
	Classes  []string // groups and kinds of hosts
	Tiles    []Tile   // of a page: the numbers that are looked for first
	Numbers  Grid     // what, value, 95% interval, truth where it is known, quality
	Unseen   string   // how well traffic was predicted that no fit has seen; "" where there was none
	Measured string   // "8 hosts, plan standard, 12 rounds, 424,824 timings"
	Next     []string // the commands that fit this run
	spare    int      // rows at the end of Numbers that the verdict does not need
	more     bool     // the screen has no room for all
}

func SummaryOf(p *params.Params, o Options) Summary {
	r := p.Run
	s := Summary{Run: Clean(r.ID), Network: networkOf(p), Spoiled: spoiled(p), Odd: outliers(p),
		Classes: classWords(p), Unseen: unseen(p),
		Measured: fmt.Sprintf("%s, plan %s, %s, %s", units.Plural(len(r.Hosts), "host"), cmp.Or(Clean(r.Plan), "not named"),
			units.Plural(r.Rounds, "round"), units.Plural(r.Timings, "timing"))}
	if o.Took > 0 {
		took := fmt.Sprintf("%d min %d s", int(o.Took.Minutes()), int(o.Took.Seconds())%60)
		s.Measured += ", " + strings.TrimPrefix(took, "0 min ")
	}
	rows := readings(p)
	s.Verdict = verdict(p, rows)
	if s.Verdict != good && len(s.Spoiled) == 0 {
		s.Spoiled = reason(p, rows)
	}
	s.Numbers = NewGrid("what", "value", "95% interval", "quality/status")
	if o.Truth != nil {
		s.Numbers.Columns = slices.Insert(s.Numbers.Columns, 3, Column{Name: "truth"})
	}
	for _, q := range rows {
		cells := q.cells()
		if v, known := o.Truth[q.name]; known {
			cells = slices.Insert(cells, 3, units.Format(v, q.Unit))
		} else if o.Truth != nil {
			cells = slices.Insert(cells, 3, "")
		}
		s.Numbers.Add(cells...)
		if s.spare++; !q.minor {
			s.spare = 0
		}
	}
	s.Tiles = tilesOf(p, rows)
	s.Next = nextOf(p, o.Dir)
	return s
}

// Tile is one number, large, with what it is above it and what it means below.
type Tile struct{ What, Value, Says string }

// tilesOf are latency, slow messages and one stream as far as they were measured, contention, and what was disturbed.
func tilesOf(p *params.Params, rows []reading) (out []Tile) {
	const each = 3 // of what is measured of one pair
	for _, q := range rows[:min(each, len(rows))] {
		cells := q.cells()
		out = append(out, Tile{cells[0], cells[1], cells[3]})
	}
	for _, points := range streams(p) {
		if one, most := points[0], points[len(points)-1]; most.X > one.X {
			out = append(out, Tile{"contention", fixed(most.Measured/one.Measured, 1) + " times",
				fmt.Sprintf("time per byte of %.0f streams, over one", most.X)})
		}
	}
	left, all := disturbed(p)
	return append(out, Tile{"disturbed", Percent(all), "of the timings; " + Percent(left) + " are left out"})
}

// disturbed is the share of the timings that other work disturbed, of which some are left out. A timing counts once,
// however many models an experiment has: that which saw most of its disturbed ones counts them.
func disturbed(p *params.Params) (left, all float64) {
	most, sum := map[string][3]float64{}, [3]float64{} // by experiment: left out, disturbed, all
	for _, f := range p.Fits {
		by := f.LeftOutWhy
		n := [3]float64{float64(by[dataset.FlagPreempt] + by[dataset.FlagSteal] + by[dataset.FlagWindow])}
		n[1], n[2] = n[0], float64(f.Used+f.LeftOut)
		for _, note := range f.Findings {
			if note.Code == params.DisturbedTimings {
				n[1] += note.Values["timings"]
			}
		}
		if m := most[f.Experiment]; slices.Compare(n[1:], m[1:]) > 0 {
			most[f.Experiment] = n
		}
	}
	for _, n := range most {
		sum = [3]float64{sum[0] + n[0], sum[1] + n[1], sum[2] + n[2]}
	}
	return sum[0] / max(1, sum[2]), sum[1] / max(1, sum[2])
}

// streams are the times per byte by the number of pairs that stream, each from one pair on.
func streams(p *params.Params) (out [][]params.Residual) {
	for _, s := range p.Streams() {
		if len(s.Points) > 0 && s.Points[0].X == 1 && s.Points[0].Lo > 0 {
			out = append(out, s.Points)
		}
	}
	return out
}

// verdict is GOOD where every number that the verdict needs is, or cannot be seen on a network of this kind; POOR where
// half of them are not, or where much was lost.
func verdict(p *params.Params, rows []reading) string {
	all, bad := 0, 0
	for _, q := range rows {
		if !q.minor {
			all++
		}
		if q.weak(p) {
			bad++
		}
	}
	switch {
	case 2*bad >= all || p.Run.Missing > params.MaxMissing || params.Discarded(p.Fits...) > params.MaxDiscarded:
		return poor
	case bad > 0 || cutShort(p) || p.Run.Rounds < minRounds:
		return usable
	}
	return good
}

// weak reports whether the verdict needs a number that is not good.
func (q reading) weak(p *params.Params) bool {
	return !q.minor && q.Status != params.StatusOK && !invisible(p.Network, q)
}

// reason is why most of the weak numbers are not good, and what to do.
func reason(p *params.Params, rows []reading) []string {
	names, most := map[string][]string{}, reading{}
	for _, q := range rows {
		if q.Why == "" || !q.weak(p) {
			continue
		}
		name, _, _ := strings.Cut(cmp.Or(q.name, q.what), ",")
		names[q.Why] = append(names[q.Why], name)
		if len(names[q.Why]) > len(names[most.Why]) {
			most = q
		}
	}
	if most.Why == "" {
		return nil
	}
	out := []string{sentence(strings.Join(names[most.Why], ", ") + ": " + most.Why)}
	if most.Status == params.StatusProvisional && !imported(p) {
		out = append(out, "A longer --budget may help.")
	}
	return out
}

// cutShort reports whether more of the plan is missing than its last round, within which a budget may end.
func cutShort(p *params.Params) bool { return p.Run.Missing > 1/float64(max(1, p.Run.Rounds)) }

// invisible reports whether a number has no value because of what the network is: without contention there is none to
// measure, and on a medium that one pair fills the hosts' part does not show.
func invisible(n *params.Network, q reading) bool {
	if n == nil || q.Value != nil {
		return false
	}
	switch q.name {
	case "a_c":
		return n.Packets == params.Switch
	case "b_c":
		return n.Streams == params.Switch
	case "b":
		return n.Streams == params.Shared
	}
	return false
}

func networkOf(p *params.Params) string {
	capacity := ""
	if v, _, _, ok := p.Parameters["b_c"].Ends(); ok && v > 0 {
		capacity = " of " + units.Format(8/v, "bit/s")
	}
	text := ""
	if n := p.Network; n != nil {
		text = map[params.Network]string{
			{Packets: params.Switch, Streams: params.Switch}:  "a switch, pairs do not slow each other",
			{Packets: params.Switch, Streams: params.Shared}:  "a switch for short messages, streams share a medium" + capacity,
			{Packets: params.Shared, Streams: params.Shared}:  "a shared medium" + capacity + ", every host slows the others",
			{Packets: params.Shared, Streams: params.Switch}:  "a shared medium for short messages, streams do not fill it",
			{Packets: params.Shared, Streams: params.Unknown}: "a shared medium for short messages",
			{Packets: params.Switch, Streams: params.Unknown}: "a switch for short messages",
			{Packets: params.Unknown, Streams: params.Switch}: "a switch for streams",
			{Packets: params.Unknown, Streams: params.Shared}: "a shared medium" + capacity + " for streams",
		}[*n]
	}
	if _, lo, _, ok := p.Parameters["a_c"].Ends(); text == "" && ok && lo > 0 {
		text = "hosts slow each other's messages (a_c)"
	}
	text = cmp.Or(text, "it is not known whether hosts slow each other")
	if len(p.Run.Hosts) < 4 {
		text = fmt.Sprintf("%s, too few to see contention", units.Plural(len(p.Run.Hosts), "host"))
	}
	for _, f := range p.Findings {
		if f.Code == params.OneMachine {
			on := fmt.Sprintf(" (%g on one machine)", f.Values["hosts"])
			if len(usable+": "+text+on) > minWidth {
				text, _, _ = strings.Cut(text, ",")
			}
			text += on
		}
	}
	return text
}

// spoilers are what can spoil a whole run, the worst first, and what to do.
var spoilers = []struct {
	code params.Code
	do   string // {share} is the largest one in Values, or that of the tile, and {experiment} that of its model
}{
	{params.ManyLeftOut, "{share} of the timings of {experiment} could not be used. The report says why."},
	{params.MixedVersions, "The agents are of different versions. Install one."},
	{params.LostSegments, "{share} of the segments were lost. Look for a bad cable or a full buffer."},
	{params.DisturbedTimings, "{share} of the timings were disturbed. Use idle hosts, or idle CPUs (cpu=)."},
	{params.TwoStates, "The hosts have two states, the slower one {share} of the time: see alpha_slow."},
}

const minRounds = 6 // behind a safe interval: the range of five medians is no 95% interval

func spoiled(p *params.Params) (out []string) {
	if n := p.Run.Rounds; n < minRounds {
		do := map[bool]string{false: "Give more time: a longer --budget.",
			true: "More files of the same kind make more."}[imported(p)]
		out = append(out, fmt.Sprintf("%s, and safe intervals need %d. %s", units.Plural(n, "round"), minRounds, do))
	}
	if m := p.Run.Missing; cutShort(p) {
		out = append(out, fmt.Sprintf("%s of the plan was not measured. Go on with --resume, or give a longer --budget.",
			Percent(m)))
	}
	all := append(p.AllFindings(params.Warning), p.AllFindings(params.Note)...)
	slow := len(SlowHosts(p)) > 0
	for _, s := range spoilers {
		if s.code == params.ManyLeftOut && slow { // its timings are left out, and the summary names it
			continue
		}
		share, experiment, found := 0.0, "", false
		for _, f := range all {
			few := f.Code == params.LostSegments && f.Level != params.Warning
			if f.Code == s.code && !few {
				if v := max(f.Values["share"], f.Values["rate"]); !found || v > share {
					share, experiment = v, f.Experiment
				}
				found = true
			}
		}
		if s.code == params.DisturbedTimings { // fewer move the medians little
			_, share = disturbed(p)
			found = share > params.MaxDiscarded
		}
		if found {
			out = append(out, strings.NewReplacer("{share}", Percent(share), "{experiment}", Clean(experiment)).Replace(s.do))
		}
	}
	return out
}

// OddOf lists the hosts and pairs that stand out, with what to do.
func OddOf(p *params.Params) Grid {
	g := NewGrid("odd/odd", "how/words", "pairs affected/number", "what to do/words")
	pairs := func(of ...string) string { // measured, of these hosts with others
		return count(float64(lists.Count(p.Pairs, func(q params.Pair) bool {
			return slices.Contains(of, q.From) != slices.Contains(of, q.To)
		})))
	}
	hosts := SlowHosts(p)
	for _, h := range hosts[:named(hosts)] {
		g.Add(Clean(h.Name), Clean(h.Why), pairs(h.Name),
			"compare its link, driver, CPU and other jobs with another host's: calib doctor")
	}
	for _, f := range p.Findings {
		if f.Code == params.SlowUplink {
			g.Add(namesOf(f.Hosts), Clean(f.Message), pairs(f.Hosts...), "look at the uplink of their switch: calib check")
		}
	}
	slow := SlowPairs(p, hosts)
	for _, q := range slow[:min(len(slow), outliersShown)] {
		g.Add(Clean(q.From+" – "+q.To), Clean(q.Slow), "1", "both hosts are fine elsewhere: look at the way between them")
	}
	return g
}

const outliersShown = 8 // bounds the hosts that are named one by one

// named is how many slow hosts are: not all but one, whose name takes no more room than that there is one more.
func named(hosts []SlowHost) int {
	if len(hosts) > outliersShown+1 {
		return outliersShown
	}
	return len(hosts)
}

// outliers names the slow hosts, and counts the slow pairs that no such host explains.
func outliers(p *params.Params) (out []string) {
	hosts := SlowHosts(p)
	out = lists.Map(hosts, func(h SlowHost) string { return h.Says })
	if n := len(out) - named(hosts); n > 0 {
		out = append(out[:named(hosts)], units.Plural(n, "more host")+" are slow: params.json names them.")
	}
	for _, f := range p.Findings {
		if f.Code == params.Undecided || f.Code == params.SlowUplink {
			out = append(out, sentence(f.Message))
		}
	}
	if slow := SlowPairs(p, hosts); len(slow) > 0 {
		are := map[bool]string{true: "is", false: "are"}[len(slow) == 1]
		out = append(out, fmt.Sprintf("%s %s slow, such as %s: %s.", units.Plural(len(slow), "pair"), are,
			Clean(slow[0].From+" → "+slow[0].To), Clean(slow[0].Slow)))
	}
	return out
}
