package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"calib/internal/openmpi"
	"calib/reports/export/input"
)

// rulesOf are the rules, grouped by collective in the order of their numbers, and by ascending number of ranks. The
// error is of class ErrMissing where there are none, and of class ErrLimit where they contradict each other.
func rulesOf(in *input.Input) ([][]openmpi.Rules, error) {
	if len(in.Params.Run.Hosts) == 0 || len(in.Rules) == 0 {
		return nil, fmt.Errorf("rules: %w; they are predictions from a run: measure with calib run, and export with the command calib export",
			ErrMissing)
	}
	sorted := slices.Clone(in.Rules)
	slices.SortStableFunc(sorted, func(a, b openmpi.Rules) int {
		if a.Collective.ID != b.Collective.ID {
			return a.Collective.ID - b.Collective.ID
		}
		return a.Ranks - b.Ranks
	})
	var out [][]openmpi.Rules
	for i, r := range sorted {
		if len(r.Rules) == 0 || r.Ranks < 2 || r.Until < r.Rules[len(r.Rules)-1].Bytes || r.Rules[0].Bytes < 0 ||
			!slices.IsSortedFunc(r.Rules, func(a, b openmpi.Rule) int { return a.Bytes - b.Bytes }) {
			return nil, fmt.Errorf("rules of %s on %d ranks: %w: sizes must ascend", r.Collective.Name, r.Ranks, ErrLimit)
		}
		switch {
		case i == 0 || sorted[i-1].Collective.ID != r.Collective.ID:
			out = append(out, nil)
		case sorted[i-1].Ranks == r.Ranks:
			return nil, fmt.Errorf("two lists of rules of %s on %d ranks: %w", r.Collective.Name, r.Ranks, ErrLimit)
		}
		out[len(out)-1] = append(out[len(out)-1], r)
	}
	return out, nil
}

// whatRules are true of every file of rules.
func whatRules(in *input.Input) []string {
	taken, all := 0, 0
	for _, of := range in.Rules {
		for _, r := range of.Rules {
			if all++; r.Algorithm != 0 {
				taken++
			}
		}
	}
	out := []string{fmt.Sprintf("%d of %d ranges of sizes get an algorithm; the others keep Open MPI's compiled-in decision", taken, all)}
	if len(in.Params.Validation) == 0 {
		out = append(out, "the run measured no patterns to hold its predictions against: calib validate RUN measures them, and more rules may "+
			"follow")
	}
	return out
}

// writeOmpi writes a classic file of coll_tuned_dynamic_rules_filename, for Open MPI 4 and 5
// (coll_tuned_dynamic_file.c): the number of collectives; of each its number and that of its communicator sizes; of
// each the size and the number of its rules; of each the least message size, algorithm, fan-out and segment size.
// Numbers may be followed by comments.
//
// A communicator takes the rules of the largest size that is no larger than it, and the first where all are larger: so
// each list is enclosed by those of the compiled-in decision, whose algorithm is 0. Within a list it is the same for
// messages.
func writeOmpi(b *bytes.Buffer, in *input.Input) ([]string, error) {
	collectives, err := rulesOf(in)
	if err != nil {
		return nil, err
	}
	warnings := append(whatRules(in),
		"the rules are for one rank on each host, and apply to all communicators of as many ranks: a classic file cannot tell them apart",
		"Open MPI 6 takes the communicator sizes of a classic file for those above them: give it the file of target ompi-json")
	in.WriteHeader(b, "# ", nil, []string{"mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE",
		"A line of a message size: bytes and up, algorithm, fan-out, bytes of a segment. Algorithm 0 is the compiled-in decision."}, warnings)
	fmt.Fprintf(b, "%d # collectives\n", len(collectives))
	const standard = "0 0 0 0"
	for _, lists := range collectives {
		enclosed := 1
		for i, r := range lists {
			enclosed++
			if i+1 == len(lists) || lists[i+1].Ranks > r.Ranks+1 {
				enclosed++
			}
		}
		fmt.Fprintf(b, "\n%d # %s\n%d # communicator sizes\n\n0 # ranks and up\n1 # message sizes\n%s\n", lists[0].Collective.ID,
			lists[0].Collective.Name, enclosed, standard)
		for i, r := range lists {
			rows := allSizes(r)
			fmt.Fprintf(b, "\n%d # ranks\n%d # message sizes\n", r.Ranks, len(rows))
			for _, x := range rows {
				fmt.Fprintf(b, "%d %d %d %d # %s\n", x.Bytes, x.Algorithm, x.Fanout, x.Segment, orDefault(input.OneLine(x.Note)))
			}
			if i+1 == len(lists) || lists[i+1].Ranks > r.Ranks+1 {
				fmt.Fprintf(b, "\n%d # ranks and up\n1 # message sizes\n%s\n", r.Ranks+1, standard)
			}
		}
	}
	return warnings, nil
}

func orDefault(note string) string {
	if note == "" {
		return "not predicted"
	}
	return note
}

// allSizes are the rules of a list from 0 bytes to any number.
func allSizes(r openmpi.Rules) []openmpi.Rule {
	rows := slices.Clone(r.Rules)
	if rows[0].Bytes > 0 {
		rows = slices.Insert(rows, 0, openmpi.Rule{})
	}
	return append(rows, openmpi.Rule{Bytes: r.Until + 1})
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
func writeOmpiJSON(b *bytes.Buffer, in *input.Input) ([]string, error) {
	collectives, err := rulesOf(in)
	if err != nil {
		return nil, err
	}
	file := ompiRules{Version: 3, Module: "tuned", Collectives: map[string][]ompiRanks{}}
	for _, lists := range collectives {
		name := lists[0].Collective.Name
		for _, r := range lists {
			if sizes := sizesOf(r); len(sizes) > 0 {
				file.Collectives[name] = append(file.Collectives[name], ompiRanks{r.Ranks, r.Ranks, "one-per-node", sizes})
			}
		}
	}
	text, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, err
	}
	b.Write(append(text, '\n'))
	return append(whatRules(in), "the rules were held against the compiled-in decision of Open MPI 6.0"), nil
}

// sizesOf are the ranges of a list that get an algorithm.
func sizesOf(r openmpi.Rules) []ompiSizes {
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
		if n := len(out); n > 0 {
			last := out[n-1]
			last.Max, next.Min = to, last.Min
			if out[n-1].Max+1 == x.Bytes && last == next {
				out[n-1] = next
				continue
			}
			next.Min = x.Bytes
		}
		out = append(out, next)
	}
	return out
}
