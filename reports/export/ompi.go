package export

import (
	"cmp"
	"encoding/json"
	"slices"
)

// rulesOf are the rules by the numbers of their collectives, and by ascending number of ranks. It fails with class
// ErrMissing where there are none, and with class ErrLimit where they contradict each other.
func rulesOf(in *input) []Rules {
	if len(in.Params.Run.Hosts) == 0 || len(in.Rules) == 0 {
		in.failf("rules: %w; they are predictions from a run: measure with calib run, "+
			"and export with the command calib export", ErrMissing)
	}
	sorted := slices.SortedStableFunc(slices.Values(in.Rules), func(a, b Rules) int {
		return cmp.Or(a.Collective.ID-b.Collective.ID, a.Ranks-b.Ranks)
	})
	taken, all := 0, 0
	for i, r := range sorted {
		if len(r.Rules) == 0 || r.Ranks < 2 || r.Until < r.Rules[len(r.Rules)-1].Bytes || r.Rules[0].Bytes < 0 ||
			!slices.IsSortedFunc(r.Rules, func(a, b Rule) int { return a.Bytes - b.Bytes }) {
			in.failf("rules of %s on %d ranks: %w: sizes must ascend", r.Collective.Name, r.Ranks, ErrLimit)
			return nil
		}
		if i > 0 && sorted[i-1].Collective.ID == r.Collective.ID && sorted[i-1].Ranks == r.Ranks {
			in.failf("two lists of rules of %s on %d ranks: %w", r.Collective.Name, r.Ranks, ErrLimit)
		}
		for _, x := range r.Rules {
			if all++; x.Algorithm != 0 {
				taken++
			}
		}
	}
	in.warnf("%d of %d ranges of sizes get an algorithm; the others keep Open MPI's compiled-in decision", taken, all)
	if len(in.Params.Validation) == 0 {
		in.warnf("the run measured no patterns to hold its predictions against: calib validate RUN measures them, and " +
			"more rules may follow")
	}
	return sorted
}

// writeOmpi writes a classic file of coll_tuned_dynamic_rules_filename, for Open MPI 4 and 5
// (coll_tuned_dynamic_file.c): the number of collectives; of each its number and that of its communicator sizes; of
// each the size and the number of its rules; of each the least message size, algorithm, fan-out and segment size.
// Numbers may be followed by comments.
//
// A communicator takes the rules of the largest size that is no larger than it, and the first where all are larger: so
// each list is enclosed by those of the compiled-in decision, whose algorithm is 0. Within a list it is the same for
// messages.
func writeOmpi(in *input) []byte {
	sorted := rulesOf(in)
	var collectives [][]Rules // those without rules are of the compiled-in decision
	for i, r := range sorted {
		if i == 0 || sorted[i-1].Collective.ID != r.Collective.ID {
			collectives = append(collectives, []Rules{{Collective: r.Collective}})
		}
		last := &collectives[len(collectives)-1]
		r.Rules = allSizes(r)
		*last = append(*last, r)
		if i+1 == len(sorted) || sorted[i+1].Collective.ID != r.Collective.ID || sorted[i+1].Ranks > r.Ranks+1 {
			*last = append(*last, Rules{Ranks: r.Ranks + 1})
		}
	}
	in.warnf("the rules are for one rank on each host, and apply to all communicators of as many ranks: a classic file " +
		"cannot tell them apart")
	in.warnf("Open MPI 6 takes the communicator sizes of a classic file for those above them: give it the file of " +
		"target ompi-json")
	return in.render(templates, "ompi", map[string]any{"collectives": collectives})
}

// allSizes are the rules of a list from 0 bytes to any number.
func allSizes(r Rules) []Rule {
	rows := slices.Clone(r.Rules)
	if rows[0].Bytes > 0 {
		rows = slices.Insert(rows, 0, Rule{})
	}
	return append(rows, Rule{Bytes: r.Until + 1})
}

// ompiRules is a file of rules in JSON, version 3 (docs/tuning-apps/tuned_dynamic_file_schema.json of Open MPI 6). The
// reader takes the field seg_size, too, which that schema does not list.
type ompiRules struct {
	Version     int                    `json:"rule_file_version"`
	Module      string                 `json:"module"`
	Collectives map[string][]ompiRanks `json:"collectives"`
}

// ompiRanks are the rules of communicators.
type ompiRanks struct {
	Min          int         `json:"comm_size_min"`
	Max          int         `json:"comm_size_max"`
	Distribution string      `json:"comm_rank_distribution"`
	Rules        []ompiSizes `json:"rules"`
}

// ompiSizes is the rule of messages from Min to Max bytes.
type ompiSizes struct {
	Min       int    `json:"msg_size_min"`
	Max       int    `json:"msg_size_max"`
	Algorithm string `json:"alg"`
	Fanout    int    `json:"faninout,omitempty"`
	Segment   int    `json:"seg_size,omitempty"`
}

// writeOmpiJSON writes the rules for Open MPI 6 in JSON. Communicators and messages without a rule keep the compiled-in
// decision. Neighbouring ranges of the same algorithm are one.
func writeOmpiJSON(in *input) []byte {
	file := ompiRules{Version: 3, Module: "tuned", Collectives: map[string][]ompiRanks{}}
	for _, r := range rulesOf(in) {
		if sizes := sizesOf(r); len(sizes) > 0 {
			name := r.Collective.Name
			file.Collectives[name] = append(file.Collectives[name], ompiRanks{r.Ranks, r.Ranks, "one-per-node", sizes})
		}
	}
	text, err := json.MarshalIndent(file, "", "  ")
	in.fail(err)
	in.warnf("the rules were held against the compiled-in decision of Open MPI 6.0")
	return append(text, '\n')
}

// sizesOf are the ranges of a list that get an algorithm.
func sizesOf(r Rules) []ompiSizes {
	var out []ompiSizes
	for i, x := range r.Rules {
		to := r.Until
		if i+1 < len(r.Rules) {
			to = r.Rules[i+1].Bytes - 1
		}
		if x.Algorithm == 0 || to < x.Bytes {
			continue
		}
		next := ompiSizes{x.Bytes, to, r.Collective.Algorithms[x.Algorithm], x.Fanout, x.Segment}
		if n := len(out); n > 0 && out[n-1] == (ompiSizes{out[n-1].Min, next.Min - 1, next.Algorithm, next.Fanout, next.Segment}) {
			out[n-1].Max = to
			continue
		}
		out = append(out, next)
	}
	return out
}
