package figure_test

import (
	"math"
	"strings"
	"testing"

	"calib/reports/figure"
)

// A matrix of many hosts shows blocks of them: a cell is the mean of its pairs, and says so.
func TestBlocks(t *testing.T) {
	p := cluster(200)
	got := figure.Build(p, nil, nil)
	check(t, got)
	if len(got) != 2 || got[0].ID != "pairs-latency" || got[1].ID != "pairs-rate" {
		t.Fatalf("%d figures", len(got))
	}
	f := got[0]
	h := f.Heat
	if h.Block != 4 || len(h.Names) != 50 || h.Names[0] != "h01 … h04" ||
		!strings.Contains(f.Says, "the mean of the pairs that were measured between two blocks of 4 hosts") {
		t.Errorf("blocks of %d, %d rows, the first %q: %s", h.Block, len(h.Names), h.Names[0], f.Says)
	}
	if z := h.Z[3][7]; math.Abs(z-40e-6) > 1e-12 {
		t.Errorf("two ordinary blocks: %g", z)
	}
	if z := h.Z[49][0]; math.Abs(z-50e-6) > 1e-12 { // four pairs of sixteen are slow
		t.Errorf("the block of the slow host and another: %g", z)
	}
	if len(h.Flagged) != 0 {
		t.Errorf("%d cells stand out", len(h.Flagged))
	}
}

// Where few pairs of many hosts were measured, blocks are so large that a cell is the mean of some.
func TestBlocksOfFewPairs(t *testing.T) {
	p := cluster(200)
	few := p.Pairs[:0]
	for i, q := range p.Pairs {
		if i%40 == 0 {
			q.Slow = "slow"
			few = append(few, q)
		}
	}
	p.Pairs = few
	got := figure.Build(p, nil, nil)
	check(t, got)
	h := got[len(got)-2].Heat
	if len(h.Names) > 16 || len(h.Flagged) == 0 {
		t.Errorf("%d rows, flags %+v", len(h.Names), h.Flagged)
	}
}
