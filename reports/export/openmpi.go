// What the component coll/tuned of Open MPI has: its collectives and their algorithms by number, what its compiled-in
// decision takes, and what a rule says that overrides it. The predictions and the rule files share it.
//
// Source: Open MPI, ompi/mca/coll/tuned, at v4.1.4, v5.0.9 and branch v6.0.x, which agree in what is here;
// ompi/mca/coll/base for the numbers of the collectives (COLLTYPE).
package export

import (
	"fmt"
	"slices"
)

// Collective is one operation of MPI.
type Collective struct {
	Name string // as in MCA parameters, and in rule files of JSON
	ID   int    // its number in classic rule files
	// Blocks: the size M of a pattern is that of one block, but that of a rule is a block times the number of ranks.
	Blocks bool
	// Algorithms are the names of numbers; 0, "ignore", is the compiled-in decision.
	Algorithms []string
	fixed      []class
}

// Collectives lists those for which calib has patterns.
func Collectives() []Collective {
	return []Collective{
		{Name: "allreduce", ID: 2, fixed: fixedAllreduce,
			Algorithms: []string{"ignore", "basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring",
				"rabenseifner"}},
		{Name: "alltoall", ID: 3, Blocks: true, fixed: fixedAlltoall,
			Algorithms: []string{"ignore", "linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"}},
		{Name: "bcast", ID: 7, fixed: fixedBcast, Algorithms: []string{"ignore", "basic_linear", "chain", "pipeline", "split_binary_tree",
			"binary_tree", "binomial", "knomial", "scatter_allgather", "scatter_allgather_ring"}},
		{Name: "gather", ID: 9, Blocks: true, fixed: fixedGather, Algorithms: []string{"ignore", "basic_linear", "binomial", "linear_sync"}},
	}
}

// FindCollective returns a collective by its name.
func FindCollective(name string) (Collective, error) {
	all := Collectives()
	i := slices.IndexFunc(all, func(c Collective) bool { return c.Name == name })
	if i < 0 {
		return Collective{}, fmt.Errorf("no collective %q of Open MPI's coll/tuned is known", name)
	}
	return all[i], nil
}

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
	i := slices.IndexFunc(c.fixed, func(of class) bool { return of.below == 0 || ranks < of.below })
	sizes := c.fixed[i].sizes
	k := slices.IndexFunc(sizes, func(s size) bool { return s.below == 0 || m < s.below })
	return sizes[k].algorithm
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
