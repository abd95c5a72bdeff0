package compare

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"calib/internal/dataset/names"
	"calib/internal/params"
)

// Run is what a comparison needs of a run.
type Run struct {
	ID          string
	At          time.Time // zero where it is not known
	Plan        string
	Versions    []string                     // of calib on the hosts
	Models      []string                     // that were fitted
	Environment map[string]map[string]string // host → fact → value
	Metrics     []params.Metric
	Status      map[string]string // of each parameter and function, by name; nil where it is not known
	Drawn       bool              // its pairs of hosts are some of all, drawn by its seed
}

// FromParams makes a Run of a params.json.
func FromParams(p *params.Params, at time.Time) Run {
	r := Run{ID: p.Run.ID, At: at, Plan: p.Run.Plan, Versions: p.Run.Versions, Metrics: p.Metrics(),
		Environment: map[string]map[string]string{}, Status: map[string]string{}}
	for name, q := range p.Parameters {
		r.Status[name] = cmp.Or(q.Status, params.StatusOK)
	}
	for name, f := range p.Functions {
		r.Status[name] = cmp.Or(f.Status, params.StatusOK)
	}
	pairs := p.Run.Sampled[names.Pingpong]
	r.Drawn = pairs.Pairs < pairs.Of
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
	for _, f := range p.Fits {
		r.Models = append(r.Models, f.Model)
	}
	slices.Sort(r.Models)
	r.Models = slices.Compact(r.Models)
	return r
}

// Side is one side of a comparison.
type Side struct {
	Runs   []string `json:"runs"`   // their IDs
	Nights int      `json:"nights"` // that the runs were made in, see sameNight
	First  string   `json:"first,omitempty"`
	Last   string   `json:"last,omitempty"` // RFC 3339
}

func sideOf(runs []Run) Side {
	s := Side{Runs: []string{}}
	_, s.Nights = nightsOf(runs)
	var times []time.Time
	for _, r := range runs {
		s.Runs = append(s.Runs, r.ID)
		if !r.At.IsZero() {
			times = append(times, r.At.UTC())
		}
	}
	if len(times) > 0 {
		s.First = slices.MinFunc(times, time.Time.Compare).Format(time.RFC3339)
		s.Last = slices.MaxFunc(times, time.Time.Compare).Format(time.RFC3339)
	}
	return s
}

// sameNight is the longest pause between two runs of one night.
const sameNight = 6 * time.Hour

// nightsOf returns the night of each run, and how many nights there are. Runs whose time is not known share one.
func nightsOf(runs []Run) (night []int, n int) {
	night = make([]int, len(runs))
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
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
	var out []string
	for _, r := range runs {
		out = append(out, of(r)...)
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(v string) bool { return v == "" })
}

// hosts lists the hosts of a run.
func (r Run) hosts() []string { return slices.Collect(maps.Keys(r.Environment)) }

// HostsOf lists the hosts that at least half of the runs have.
func HostsOf(runs []Run) []string { return most(runs, Run.hosts) }

// without returns the values of a that b does not have.
func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(v string) bool { return slices.Contains(b, v) })
}
