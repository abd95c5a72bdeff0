package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

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

// String is the difference on one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s was %s, is %s on %s", d.Fact, cmp.Or(d.Old, "unknown"), cmp.Or(d.New, "unknown"), namesOf(d.Hosts))
}

// namesOf lists up to four names, and otherwise three and the number of the others.
func namesOf(names []string) string {
	const shown = 3
	if len(names) <= shown+1 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// differences lists the facts of the given hosts for which the new runs have a value that no old run has.
func differences(old, new []Run, hosts []string) []Difference {
	type change struct {
		fact, old, new string
		counts         bool
	}
	by := map[change][]string{}
	for _, h := range hosts {
		was, is := factsOf(old, h), factsOf(new, h)
		facts := maps.Clone(was)
		maps.Copy(facts, is)
		for f := range facts {
			if len(is[f]) == 0 || len(without(is[f], was[f])) > 0 {
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

// factsOf lists the values of each fact that runs have of a host, sorted.
func factsOf(runs []Run, host string) map[string][]string {
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

// counts reports whether runs with different values of a fact are of different environments.
func counts(fact string, sides ...map[string][]string) bool {
	if fact == "calib.version" {
		return false // a note names it
	}
	const coalesce = "nic.coalesce."
	for _, direction := range []string{"rx", "tx"} {
		if fact != coalesce+direction+"_usecs" && fact != coalesce+direction+"_frames" {
			continue
		}
		for _, s := range sides {
			if slices.ContainsFunc(s[coalesce+"adaptive_"+direction], func(v string) bool { return v != "0" }) {
				return false
			}
		}
	}
	return true
}

// otherDifferences notes what else differs between the two sides, and does not count: versions, and models that are
// new.
func otherDifferences(old, new []Run) []string {
	var out []string
	versions := func(r Run) []string { return r.Versions }
	was, is := valuesIn(old, versions), valuesIn(new, versions)
	if len(was) > 0 && len(is) > 0 && !slices.Equal(was, is) {
		out = append(out, fmt.Sprintf("the version of calib differs: it was %s, is %s", strings.Join(was, " or "), strings.Join(is, " or ")))
	}
	models := func(r Run) []string { return r.Models }
	theirs := valuesIn(old, models)
	if only := without(valuesIn(new, models), theirs); len(only) > 0 && len(theirs) > 0 {
		out = append(out, "fitted to the new runs only: "+strings.Join(only, ", "))
	}
	return out
}
