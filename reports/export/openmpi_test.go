package export

import (
	"fmt"
	"slices"
	"testing"
)

// TestFixed: the decisions of coll_tuned_decision_fixed.c, at both sides of some of its thresholds.
func TestFixed(t *testing.T) {
	for _, c := range []struct {
		collective   string
		ranks, bytes int
		want         string
	}{
		{"bcast", 8, 7, "knomial"}, {"bcast", 8, 8, "binary_tree"}, {"bcast", 8, 63, "binary_tree"},
		{"bcast", 8, 64, "knomial"},
		{"bcast", 8, 4095, "knomial"}, {"bcast", 15, 4096, "binary_tree"}, {"bcast", 8, 16384, "binomial"},
		{"bcast", 8, 32768, "basic_linear"},
		{"bcast", 2, 31, "pipeline"}, {"bcast", 7, 1 << 20, "chain"}, {"bcast", 16, 1 << 20, "scatter_allgather"},
		{"bcast", 100, 1, "knomial"},
		{"bcast", 512, 20000, "split_binary_tree"}, {"bcast", 9999, 8192, "binary_tree"},
		{"allreduce", 8, 8191, "recursive_doubling"}, {"allreduce", 8, 8192, "rabenseifner"}, {"allreduce", 3, 7, "ring"},
		{"allreduce", 16, 63, "segmented_ring"}, {"allreduce", 200, 1000, "nonoverlapping"},
		{"allreduce", 5000, 1 << 30, "rabenseifner"},
		{"alltoall", 2, 3, "two_proc"}, {"alltoall", 8, 65536, "linear_sync"}, {"alltoall", 8, 1 << 18, "linear"},
		{"alltoall", 20, 511, "modified_bruck"},
		{"alltoall", 300, 1 << 20, "pairwise"},
		{"gather", 8, 1, "binomial"}, {"gather", 8, 1 << 30, "binomial"}, {"gather", 4, 1024, "basic_linear"},
		{"gather", 3, 1, "linear_sync"},
		{"gather", 300, 4096, "basic_linear"},
	} {
		of, err := findCollective(c.collective)
		if err != nil {
			t.Fatal(err)
		}
		if got := of.Algorithms[of.Fixed(c.ranks, c.bytes)]; got != c.want {
			t.Errorf("%s of %d bytes on %d ranks: %s, want %s", c.collective, c.bytes, c.ranks, got, c.want)
		}
	}
}

// TestTables: every list of thresholds ascends, ends, and names algorithms that there are.
func TestTables(t *testing.T) {
	for _, c := range Collectives() {
		for i, of := range c.Decisions {
			if last := i == len(c.Decisions)-1; last != (of.Below == 0) || i > 0 && !last && of.Below <= c.Decisions[i-1].Below {
				t.Errorf("%s: classes do not ascend at %d", c.Name, of.Below)
			}
			for k, s := range of.Sizes {
				if last := k == len(of.Sizes)-1; last != (s[0] == 0) || k > 0 && !last && s[0] <= of.Sizes[k-1][0] {
					t.Errorf("%s below %d ranks: sizes do not ascend at %d", c.Name, of.Below, s[0])
				}
				if s[1] < 1 || s[1] >= len(c.Algorithms) {
					t.Errorf("%s below %d ranks: algorithm %d", c.Name, of.Below, s[1])
				}
			}
		}
	}
}

func TestSize(t *testing.T) {
	for name, want := range map[string]int{"bcast": 100, "allreduce": 100, "alltoall": 800, "gather": 800} {
		c, err := findCollective(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Size(100, 8); got != want {
			t.Errorf("%s: a rule for %d bytes, want %d", name, got, want)
		}
	}
	if _, err := findCollective("allgatherv"); err == nil {
		t.Error("allgatherv is known")
	}
}

func findCollective(name string) (Collective, error) {
	all := Collectives()
	i := slices.IndexFunc(all, func(c Collective) bool { return c.Name == name })
	if i < 0 {
		return Collective{}, fmt.Errorf("no collective %q of Open MPI's coll/tuned is known", name)
	}
	return all[i], nil
}
