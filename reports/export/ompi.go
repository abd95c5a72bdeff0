package export

import (
	_ "embed"
	"encoding/json"
	"slices"

	"calib/internal/lists"
	"calib/internal/yaml"
)

// checkRules fails with class ErrMissing where there are no rules, and says what they cover.
func checkRules(in *input) {
	if len(in.Params.Run.Hosts) == 0 || len(in.Rules) == 0 {
		in.failf("rules: %w; they are predictions from a run: measure with calib run, "+
			"and export with the command calib export", ErrMissing)
	}
	in.warnOfKinds()
	taken, all := 0, 0
	for _, r := range in.Rules {
		for _, x := range r.Rules {
			if all++; x.Algorithm != 0 {
				taken++
			}
		}
	}
	in.warnf("%d of %d ranges of sizes get an algorithm; the others keep Open MPI's compiled-in decision", taken, all)
	if len(in.Params.Validation) == 0 {
		in.warnf("the run measured no patterns to hold its predictions against: calib predict validate RUN measures them, " +
			"and more rules may follow")
	}
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
	checkRules(in)
	var collectives [][]Rules // those without rules are of the compiled-in decision
	for i, r := range in.Rules {
		if i == 0 || in.Rules[i-1].Collective.ID != r.Collective.ID {
			collectives = append(collectives, []Rules{{Collective: r.Collective}})
		}
		last := &collectives[len(collectives)-1]
		r.Rules = allSizes(r)
		*last = append(*last, r)
		next := in.Rules[i+1:]
		if len(next) == 0 || next[0].Collective.ID != r.Collective.ID || next[0].Ranks > r.Ranks+1 {
			*last = append(*last, Rules{Ranks: r.Ranks + 1})
		}
	}
	in.warnf("the rules are for one rank on each host, and apply to all communicators of as many ranks: a classic file " +
		"cannot tell them apart")
	in.warnf("Open MPI 6 reads the communicator sizes of this file differently: give it the file of " +
		"--to ompi-json")
	return in.render("ompi", map[string]any{"collectives": collectives})
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

type ompiRanks struct {
	Min          int         `json:"comm_size_min"`
	Max          int         `json:"comm_size_max"`
	Distribution string      `json:"comm_rank_distribution"`
	Rules        []ompiSizes `json:"rules"`
}

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
	checkRules(in)
	for _, r := range in.Rules {
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
func sizesOf(r Rules) (out []ompiSizes) {
	for i, x := range r.Rules {
		to := r.Until
		if i+1 < len(r.Rules) {
			to = r.Rules[i+1].Bytes - 1
		}
		if x.Algorithm == 0 || to < x.Bytes {
			continue
		}
		s := ompiSizes{x.Bytes, to, r.Collective.Algorithms[x.Algorithm], x.Fanout, x.Segment}
		if n := len(out); n > 0 && out[n-1] == (ompiSizes{out[n-1].Min, s.Min - 1, s.Algorithm, s.Fanout, s.Segment}) {
			out[n-1].Max = to
			continue
		}
		out = append(out, s)
	}
	return out
}

// Collective is what the component coll/tuned of Open MPI has of a collective: ompi.yaml, which the predictions and the
// rule files share.
type Collective struct {
	Name string // as in MCA parameters, and in rule files of JSON
	ID   int    // its number in classic rule files
	// Blocks: the size M of a pattern is that of one block, but that of a rule is a block times the number of ranks.
	Blocks     bool
	Algorithms []string // the names of numbers; 0, "ignore", is the compiled-in decision
	Decisions  []struct {
		Below int      // ranks of a communicator; 0 is any number
		Sizes [][2]int // bytes that a message is below, 0 for any number, and the algorithm
	} `yaml:"fixed"`
}

//go:embed ompi.yaml
var tuned []byte

// Collectives lists those for which calib has patterns.
var Collectives = yaml.Embedded[[]Collective](tuned)

// Size is the message size of a rule [B] where a pattern's is m, on that many ranks.
func (c Collective) Size(m, ranks int) int {
	if c.Blocks {
		return m * ranks
	}
	return m
}

// Fixed is the number of the algorithm that the compiled-in decision takes for m bytes, of a block where c has Blocks,
// on that many ranks, if the operation is commutative. It takes all without segments, and with the fan-out 0.
func (c Collective) Fixed(ranks, m int) int {
	for _, d := range c.Decisions {
		for _, s := range d.Sizes {
			if (d.Below == 0 || ranks < d.Below) && (s[0] == 0 || m < s[0]) {
				return s[1]
			}
		}
	}
	return 0
}

// Bounds are the sizes from which on Fixed may take another algorithm.
func (c Collective) Bounds() (out []int) {
	for _, d := range c.Decisions {
		out = append(out, lists.Map(d.Sizes, func(s [2]int) int { return s[0] })...)
	}
	return out
}

// Rule says which algorithm messages take that have at least so many bytes.
type Rule struct {
	Bytes     int // as Collective.Size has it
	Algorithm int // 0 is the compiled-in decision
	Fanout    int // of algorithms with a fan-out; else 0
	Segment   int // [B] of segmented algorithms; 0 is no segments
	Note      string
}

// Rules are those of one collective on communicators of one size, by ascending Bytes. For shorter messages, and longer
// ones than Until, the compiled-in decision stands.
type Rules struct {
	Collective Collective
	Ranks      int
	Rules      []Rule
	Until      int // the largest message of the last rule [B]
}
