package compare

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/params"
	"calib/reports"
)

type Run struct {
	ID          string
	At          time.Time // zero where it is not known
	Plan        string
	Versions    []string                     // of calib on the hosts
	Models      []string                     // that were fitted
	Environment map[string]map[string]string // host → fact → value
	Metrics     []params.Metric
	Status      map[string]string // of each parameter, and of each function as "L()"
	Drawn       bool              // it had no time for all pairs of hosts: its seed drew which
}

func FromParams(p *params.Params, at time.Time) Run {
	r := Run{ID: p.Run.ID, At: at, Plan: p.Run.Plan, Versions: p.Run.Versions, Metrics: p.Metrics(),
		Environment: map[string]map[string]string{}, Status: map[string]string{}}
	for name, q := range p.Parameters {
		r.Status[name] = cmp.Or(q.Status, params.StatusOK)
	}
	for name, f := range p.Functions {
		r.Status[name+"()"] = cmp.Or(f.Status, params.StatusOK) // o_s and o_r are names of parameters, too
	}
	// Where fewer pairs are missing than a round has, those are dead. So are those that are missing after very many
	// rounds: with one pair a round, as on a shared medium, all hosts have met in n·(n−1).
	pairs := p.Run.Sampled[names.Pingpong]
	few := pairs.Of-pairs.Pairs < max(2, len(p.Run.Hosts)/2)
	r.Drawn = pairs.Pairs < pairs.Of && (p.Groups != nil || !few && pairs.Rounds < 2*pairs.Of)
	for _, h := range p.Run.Hosts {
		r.Environment[h] = map[string]string{}
		maps.Copy(r.Environment[h], p.Environment.Common)
	}
	for fact, by := range p.Environment.Differences {
		for h, value := range by {
			if r.Environment[h] != nil {
				r.Environment[h][fact] = value
			}
		}
	}
	r.Models = lists.Map(p.Fits, func(f *params.Fit) string { return f.Model })
	return r
}

type Side struct {
	Runs   []string `json:"runs"`   // their IDs
	Nights int      `json:"nights"` // that the runs were made in, see sameNight
	First  string   `json:"first,omitempty"`
	Last   string   `json:"last,omitempty"` // RFC 3339
}

func sideOf(runs []Run) Side {
	s := Side{Runs: []string{}}
	_, s.Nights = nightsOf(runs)
	for _, r := range runs {
		s.Runs = append(s.Runs, r.ID)
		if r.At.IsZero() {
			continue
		}
		at := r.At.UTC().Format(time.RFC3339) // as texts they are in the order of time
		s.First, s.Last = min(cmp.Or(s.First, at), at), max(s.Last, at)
	}
	return s
}

const sameNight = 6 * time.Hour // the longest pause between two runs of one night

// nightsOf returns the night of each run, and how many nights there are. Runs whose time is not known share one.
func nightsOf(runs []Run) (night []int, n int) {
	night = make([]int, len(runs))
	order := lists.Upto(len(runs))
	slices.SortStableFunc(order, func(a, b int) int { return runs[a].At.Compare(runs[b].At) })
	for k, i := range order {
		if k == 0 || runs[i].At.Sub(runs[order[k-1]].At) > sameNight {
			n++
		}
		night[i] = n - 1
	}
	return night, n
}

// valuesIn returns the values that runs have, sorted, without "".
func valuesIn(runs []Run, of func(Run) []string) []string {
	out := lists.Flat(runs, of)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(v string) bool { return v == "" })
}

func (r Run) hosts() []string { return slices.Collect(maps.Keys(r.Environment)) }

// HostsOf lists the hosts that at least half of the runs have.
func HostsOf(runs []Run) []string { return most(runs, Run.hosts) }

func without(a, b []string) []string {
	return lists.Where(a, func(v string) bool { return !slices.Contains(b, v) })
}

// What may differ between the sides of a comparison (Options.Allow). A difference that is not allowed makes them not
// comparable: less was measured than before, or something else, and what is gone cannot have become worse.
const (
	AllowHosts       = "hosts"
	AllowLinks       = "links"
	AllowPlan        = "plan"
	AllowParameters  = "parameters"
	AllowEnvironment = "environment"
)

func Allowable() []string {
	return []string{AllowHosts, AllowLinks, AllowPlan, AllowParameters, AllowEnvironment}
}

// unlike is a way in which the sides differ, of a kind that may be allowed; "" is one that does not count.
type unlike struct {
	kind, text string
	links      []string // that only the old runs have
}

// unlikes lists how the sides differ in what was measured. Environments are compared apart.
func unlikes(old, new []Run) (out []unlike) {
	add := func(kind, text string, links ...string) { out = append(out, unlike{kind, text, links}) }
	changed := func(kind, what string, of func(Run) []string) {
		if was, is := valuesIn(old, of), valuesIn(new, of); len(was) > 0 && len(is) > 0 && !slices.Equal(was, is) {
			add(kind, what+" differs: it was "+strings.Join(was, " or ")+", is "+strings.Join(is, " or "))
		}
	}
	models := func(r Run) []string { return r.Models }
	before, after := valuesIn(old, models), valuesIn(new, models)
	changed("", "the version of calib", func(r Run) []string { return r.Versions })
	if only := without(after, before); len(only) > 0 && len(before) > 0 {
		add("", "fitted to the new runs only: "+strings.Join(only, ", "))
	}
	was, is := most(old, Run.hosts), most(new, Run.hosts)
	gone, more := without(was, is), without(is, was)
	if len(gone) > 0 {
		add(AllowHosts, "only the old runs have "+namesOf(gone))
	}
	if len(more) > 0 {
		add(AllowHosts, "only the new runs have "+namesOf(more))
	}
	apart := append(gone, more...)
	// Of runs that drew their pairs, a link that is not there says nothing.
	whole := func(runs []Run) []Run { return lists.Where(runs, func(r Run) bool { return !r.Drawn }) }
	now := whole(new)
	lost := slices.DeleteFunc(without(most(whole(old), Run.links), valuesIn(now, Run.links)), func(l string) bool {
		from, to, _ := strings.Cut(l, "→")
		return slices.Contains(apart, from) || slices.Contains(apart, to)
	})
	if len(lost) > 0 && len(now) > 0 {
		add(AllowLinks, "only the old runs measured "+namesOf(lost), lost...)
	}
	changed(AllowPlan, "the plan", func(r Run) []string { return []string{r.Plan} })
	if gone := without(most(old, models), after); len(gone) > 0 && len(after) > 0 {
		add(AllowParameters, "only the old runs have parameters of "+namesOf(gone))
	}
	return out
}

// most lists the values that at least half of the runs have.
func most(runs []Run, of func(Run) []string) []string {
	n := map[string]int{}
	for _, r := range runs {
		for _, v := range valuesIn([]Run{r}, of) {
			n[v]++
		}
	}
	return slices.DeleteFunc(valuesIn(runs, of), func(v string) bool { return 2*n[v] < len(runs) })
}

func (r Run) links() []string {
	return slices.DeleteFunc(lists.Map(r.Metrics, params.Metric.Link), func(link string) bool { return link == "" })
}

// quantities lists the parameters and functions that a run has, with a value or without.
func (r Run) quantities() []string { return slices.Collect(maps.Keys(r.Status)) }

const missing = "missing" // the status of a parameter that a run does not have

// Lost is a parameter or a function that was of status ok, and is not any more.
type Lost struct {
	Name    string `json:"name"`
	OldOK   int    `json:"old_ok"` // runs in which it is ok, of OldRuns
	OldRuns int    `json:"old_runs"`
	NewOK   int    `json:"new_ok"`
	NewRuns int    `json:"new_runs"`
	Status  string `json:"status"` // in the new runs, the most frequent that is not ok; or "missing"
}

// lost lists what is ok in nine of ten old runs or more, and in one of ten new runs at most, of three a side at least.
func lost(old, new []Run) (out []Lost) {
	for _, name := range valuesIn(old, Run.quantities) {
		count := func(runs []Run) (ok int, other string) {
			by := map[string]int{}
			for _, r := range runs {
				if s := cmp.Or(r.Status[name], missing); s == params.StatusOK {
					ok++
				} else if by[s]++; other == "" || by[s] > by[other] {
					other = s
				}
			}
			return ok, other
		}
		l := Lost{Name: name, OldRuns: len(old), NewRuns: len(new)}
		l.OldOK, _ = count(old)
		l.NewOK, l.Status = count(new)
		if min(l.OldRuns, l.NewRuns) >= minTested && nineOfTen(l.OldOK, l.OldRuns) &&
			nineOfTen(l.NewRuns-l.NewOK, l.NewRuns) {
			out = append(out, l)
		}
	}
	return out
}

// lose records what is no longer ok: status is of parameters and functions, values of what decides and has no value in
// the new runs. A gate notes what it does not decide by.
func (v *Verdict) lose(status, values []Lost) {
	for _, l := range status {
		if v.gate && !judges(strings.TrimSuffix(l.Name, "()")) {
			v.Notes = append(v.Notes, "no longer ok, which does not decide: "+l.String())
		} else {
			v.Lost = append(v.Lost, l)
		}
	}
	for _, l := range values {
		base, _ := params.SplitSize(l.Name)
		if !slices.ContainsFunc(v.Lost, func(s Lost) bool { return strings.TrimSuffix(s.Name, "()") == base }) {
			v.Lost = append(v.Lost, l)
		}
	}
}

// String is "b (provisional, ok in 0 of 6 new runs and in 6 of 6 old ones)".
func (l Lost) String() string {
	return fmt.Sprintf("%s (%s; ok in %d of %d new runs and in %d of %d old ones)", l.Name, l.Status,
		l.NewOK, l.NewRuns, l.OldOK, l.OldRuns)
}

// Difference is a fact of the environment that hosts on the two sides do not share.
type Difference struct {
	Fact  string   `json:"fact"`
	Old   string   `json:"old"` // "" where it was not known
	New   string   `json:"new"`
	Hosts []string `json:"hosts"`
	// Counts is false for facts in which comparable runs may differ: those that one side does not know, the version of
	// calib, and the settings that a driver with adaptive interrupt coalescing changes by itself.
	Counts bool `json:"counts"`
}

func (d Difference) String() string {
	return d.Fact + " was " + cmp.Or(d.Old, "unknown") + ", is " + cmp.Or(d.New, "unknown") + " on " + namesOf(d.Hosts)
}

// alike reports whether d and o differ in their hosts alone.
func (d Difference) alike(o Difference) bool {
	return d.Fact == o.Fact && d.Old == o.Old && d.New == o.New && d.Counts == o.Counts
}

// namesOf lists up to four names, and otherwise three and the number of the others.
func namesOf(names []string) string { return reports.Some(names, 4, 3) }

// coalesces are settings that a driver with adaptive interrupt coalescing changes by itself.
var coalesces = regexp.MustCompile(`^(nic\.coalesce\.)(rx|tx)_(usecs|frames)$`)

// differences lists the facts of the given hosts for which the new runs have a value that no old run has.
func differences(old, new []Run, hosts []string) []Difference {
	out := []Difference{}
	both := slices.Concat(old, new)
	for _, h := range hosts {
		values := func(runs []Run, fact string) []string {
			return valuesIn(runs, func(r Run) []string { return []string{r.Environment[h][fact]} })
		}
		for _, f := range valuesIn(both, func(r Run) []string { return slices.Collect(maps.Keys(r.Environment[h])) }) {
			was, is := values(old, f), values(new, f)
			if len(is) == 0 && len(was) > 0 || len(without(is, was)) > 0 {
				d := Difference{Fact: f, Old: strings.Join(was, " or "), New: strings.Join(is, " or ")}
				// A note names the version of calib. adaptive is "nic.coalesce.adaptive_rx" for "nic.coalesce.rx_usecs".
				adaptive := coalesces.ReplaceAllString(f, "${1}adaptive_$2")
				d.Counts = len(was) > 0 && len(is) > 0 && f != "calib.version" &&
					(adaptive == f || len(without(values(both, adaptive), []string{"0"})) == 0)
				i := slices.IndexFunc(out, d.alike)
				if i < 0 {
					i, out = len(out), append(out, d)
				}
				out[i].Hosts = append(out[i].Hosts, h)
			}
		}
	}
	slices.SortFunc(out, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Fact, b.Fact), cmp.Compare(a.Old, b.Old), cmp.Compare(a.New, b.New),
			slices.Compare(a.Hosts, b.Hosts))
	})
	return out
}
