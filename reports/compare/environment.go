package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Difference is a fact of the environment that hosts on the two sides do not share.
type Difference struct {
	Fact  string   `json:"fact"`
	Old   string   `json:"old"` // "" where it was not known
	New   string   `json:"new"`
	Hosts []string `json:"hosts"`
	// Counts is false for facts that may differ between runs that can be compared: those that one side does not know, the
	// version of calib, and the values that a driver with adaptive interrupt coalescing sets as it goes.
	Counts bool `json:"counts"`
}

// String is the difference on one line.
func (d Difference) String() string {
	known := func(v string) string {
		if v == "" {
			return "unknown"
		}
		return v
	}
	return fmt.Sprintf("%s was %s, is %s on %s", d.Fact, known(d.Old), known(d.New), namesOf(d.Hosts))
}

// namesOf names a few and counts the others.
func namesOf(names []string) string {
	const shown = 3
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// differences lists the facts of the common hosts of which the new runs have a value that no old run has.
func differences(old, new []Run, common []string) []Difference {
	type change struct {
		fact, old, new string
		counts         bool
	}
	by := map[change][]string{}
	for _, h := range common {
		was, is := valuesOf(old, h), valuesOf(new, h)
		facts := map[string]bool{}
		for _, side := range []map[string][]string{was, is} {
			for f := range side {
				facts[f] = true
			}
		}
		for f := range facts {
			if slices.ContainsFunc(is[f], func(v string) bool { return !slices.Contains(was[f], v) }) || len(is[f]) == 0 {
				c := change{fact: f, old: strings.Join(was[f], " or "), new: strings.Join(is[f], " or ")}
				c.counts = len(was[f]) > 0 && len(is[f]) > 0 && counts(f, was, is)
				by[c] = append(by[c], h)
			}
		}
	}
	out := []Difference{}
	for c, hosts := range by {
		out = append(out, Difference{Fact: c.fact, Old: c.old, New: c.new, Hosts: hosts, Counts: c.counts})
	}
	slices.SortFunc(out, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Fact, b.Fact), cmp.Compare(a.Old, b.Old), cmp.Compare(a.New, b.New), slices.Compare(a.Hosts, b.Hosts))
	})
	return out
}

// counts reports whether runs with different values of a fact are of different environments.
func counts(fact string, sides ...map[string][]string) bool {
	if fact == "calib.version" {
		return false // said in the notes
	}
	for direction, set := range map[string][]string{
		"rx": {"nic.coalesce.rx_usecs", "nic.coalesce.rx_frames"}, "tx": {"nic.coalesce.tx_usecs", "nic.coalesce.tx_frames"},
	} {
		if !slices.Contains(set, fact) {
			continue
		}
		for _, s := range sides {
			if slices.ContainsFunc(s["nic.coalesce.adaptive_"+direction], func(v string) bool { return v != "0" }) {
				return false
			}
		}
	}
	return true
}

// valuesOf lists the values of each fact that runs have of a host, sorted.
func valuesOf(runs []Run, host string) map[string][]string {
	out := map[string][]string{}
	for _, r := range runs {
		for f, v := range r.Environment[host] {
			if !slices.Contains(out[f], v) {
				out[f] = append(out[f], v)
			}
		}
	}
	for _, v := range out {
		slices.Sort(v)
	}
	return out
}

func hostsOf(runs []Run) map[string]bool {
	out := map[string]bool{}
	for _, r := range runs {
		for h := range r.Environment {
			out[h] = true
		}
	}
	return out
}

// commonHosts returns the hosts that both sides have, and says which only one has.
func commonHosts(old, new []Run) (common, says []string) {
	was, is := hostsOf(old), hostsOf(new)
	var gone, come []string
	for _, h := range slices.Sorted(maps.Keys(was)) {
		if is[h] {
			common = append(common, h)
		} else {
			gone = append(gone, h)
		}
	}
	for _, h := range slices.Sorted(maps.Keys(is)) {
		if !was[h] {
			come = append(come, h)
		}
	}
	for _, s := range []struct {
		hosts []string
		side  string
	}{{gone, "old"}, {come, "new"}} {
		if len(s.hosts) > 0 {
			says = append(says, fmt.Sprintf("only the %s runs have %s: compared is what both have; parameters of the whole network "+
				"are of different hosts", s.side, namesOf(s.hosts)))
		}
	}
	return common, says
}

// otherwise says what else differs between the two sides: plans, versions and models.
func otherwise(old, new []Run) []string {
	var out []string
	for _, q := range []struct {
		name string
		of   func(Run) []string
	}{
		{"the plan", func(r Run) []string { return []string{r.Plan} }},
		{"the version of calib", func(r Run) []string { return r.Versions }},
	} {
		was, is := valuesIn(old, q.of), valuesIn(new, q.of)
		if len(was) > 0 && len(is) > 0 && !slices.Equal(was, is) {
			out = append(out, fmt.Sprintf("%s differs: it was %s, is %s", q.name, strings.Join(was, " or "), strings.Join(is, " or ")))
		}
	}
	models := func(r Run) []string { return r.Models }
	was, is := valuesIn(old, models), valuesIn(new, models)
	for _, s := range []struct {
		side       string
		mine, them []string
	}{{"old", was, is}, {"new", is, was}} {
		only := slices.DeleteFunc(slices.Clone(s.mine), func(m string) bool { return slices.Contains(s.them, m) })
		if len(only) > 0 && len(s.them) > 0 {
			out = append(out, fmt.Sprintf("fitted to the %s runs only: %s", s.side, strings.Join(only, ", ")))
		}
	}
	return out
}

func valuesIn(runs []Run, of func(Run) []string) []string {
	set := map[string]bool{}
	for _, r := range runs {
		for _, v := range of(r) {
			if v != "" {
				set[v] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// nightsOf tells which night each run is of. Runs whose time is not known are of one.
func nightsOf(runs []Run) (night []int, n int) {
	night = make([]int, len(runs))
	order := make([]int, len(runs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return runs[a].At.Compare(runs[b].At) })
	last := time.Time{}
	for k, i := range order {
		if k == 0 || runs[i].At.Sub(last) > sameNight {
			n++
		}
		night[i], last = n-1, runs[i].At
	}
	return night, n
}
