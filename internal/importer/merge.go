package importer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"calib/internal/dataset"
)

// Merge makes one dataset of several outputs of one format: the hosts are joined by name, and what a later one repeats
// of an earlier is a further round. run and seed go into the header. The sets are not changed.
func Merge(run string, seed uint64, sets ...*dataset.Dataset) (*dataset.Dataset, error) {
	if len(sets) == 0 {
		return nil, errors.New("merge: nothing to merge")
	}
	out := &dataset.Dataset{Header: dataset.Header{Schema: dataset.Schema, Run: run, Seed: seed, Plan: sets[0].Header.Plan}}
	next := map[string]int{} // by identity: the first free round
	for _, d := range sets {
		if d.Header.Plan != out.Header.Plan {
			return nil, fmt.Errorf("merge: %s with %s: import one format at a time", d.Header.Plan, out.Header.Plan)
		}
		ranks := joinHosts(out, d)
		first := 0 // one offset for the whole file, so that what was measured together stays together
		moved := make([]dataset.Sample, len(d.Samples))
		for i, s := range d.Samples {
			s.Ranks = slices.Clone(s.Ranks)
			for j, r := range s.Ranks {
				s.Ranks[j] = ranks[r]
			}
			moved[i] = s
			first = max(first, next[identity(&s)])
		}
		for i := range moved {
			s := &moved[i]
			s.Round += first
			next[identity(s)] = max(next[identity(s)], s.Round+1)
		}
		out.Samples = append(out.Samples, moved...)
	}
	arrange(out)
	return out, nil
}

// joinHosts adds the hosts of d that out lacks, and returns the new rank of each.
func joinHosts(out, d *dataset.Dataset) []int {
	ranks := make([]int, len(d.Header.Hosts))
	for i, h := range d.Header.Hosts {
		at := slices.IndexFunc(out.Header.Hosts, func(g dataset.Host) bool { return g.Name == h.Name })
		if at < 0 {
			at = len(out.Header.Hosts)
			out.Header.Hosts = append(out.Header.Hosts, dataset.Host{Name: h.Name, Env: map[string]string{EnvTool: h.Env[EnvTool]}})
		}
		if env := out.Header.Hosts[at].Env; !slices.Contains(strings.Split(env[EnvTool], "; "), h.Env[EnvTool]) {
			env[EnvTool] += "; " + h.Env[EnvTool]
		}
		ranks[i] = at
	}
	return ranks
}

// arrange orders the samples by round and makes a slot of each: what is written together.
func arrange(d *dataset.Dataset) {
	slices.SortStableFunc(d.Samples, func(a, b dataset.Sample) int { return cmp.Compare(a.Round, b.Round) })
	for i := 0; i < len(d.Samples); {
		n := i
		for n < len(d.Samples) && d.Samples[n].Round == d.Samples[i].Round {
			n++
		}
		for j := i; j < n; j++ {
			d.Samples[j].Slot, d.Samples[j].Part, d.Samples[j].Parts = d.Samples[i].Round, j-i, n-i
		}
		i = n
	}
}
