package pattern

import (
	"strings"
	"testing"
)

func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for i, p := range All {
		if p.ID != int64(i+1) {
			t.Errorf("%s has ID %d, want %d: numbers are never given to another", p.Name(), p.ID, i+1)
		}
		if seen[p.Name()] || p.Defined(1) {
			t.Errorf("%s: the name is taken, or it is defined for one host", p.Name())
		}
		seen[p.Name()] = true
		if got, err := Find(p.Operation, p.Algorithm); err != nil || got.ID != p.ID {
			t.Errorf("Find %s: %v, %v", p.Name(), got.ID, err)
		}
		if got, ok := ByID(p.ID); !ok || got.Name() != p.Name() {
			t.Errorf("ByID %d: %v, %t", p.ID, got.Name(), ok)
		}
	}
	if _, err := Find("bcast", "tree"); err == nil || !strings.Contains(err.Error(), "bcast-binomial") {
		t.Errorf("got %v, want what there is", err)
	}
	if _, ok := ByID(0); ok {
		t.Error("there is a pattern 0")
	}
}

// TestTraffic: what a pattern moves in all is what the textbook says: so many messages, and so many bytes of M = 6,000
// B.
func TestTraffic(t *testing.T) {
	const m = 6000
	type traffic struct{ messages, bytes, depth int }
	for _, c := range []struct {
		name string
		size int
		want traffic
	}{
		{"p2p-direct", 2, traffic{1, m, 1}},
		{"bcast-serial", 8, traffic{7, 7 * m, 7}},
		{"bcast-binary", 11, traffic{10, 10 * m, 5}},
		{"bcast-binomial", 8, traffic{7, 7 * m, 3}},
		{"bcast-binomial", 11, traffic{10, 10 * m, 4}},
		{"bcast-pipelined", 8, traffic{7, 7 * m, 7}},
		// Scatter: half of the message for each of log₂ P levels; allgather: P−1 blocks to each of P.
		{"bcast-scatter-allgather", 8, traffic{7 + 56, 3*m/2 + 7*m, 3 + 7}},
		{"bcast-knomial", 8, traffic{7, 7 * m, 4}}, // first to 4, which sends to 5, 6 and 7
		{"bcast-binary-segmented", 11, traffic{10, 10 * m, 5}},
		{"bcast-binomial-segmented", 8, traffic{7, 7 * m, 3}},
		{"bcast-chains", 9, traffic{8, 8 * m, 5}},       // four messages, and one more on each chain
		{"bcast-split-binary", 8, traffic{7, 7 * m, 7}}, // half of a message is less than a segment: a chain
		{"bcast-scatter-doubling", 8, traffic{7 + 24, 3*m/2 + 7*m, 3 + 3}},
		{"allreduce-linear", 8, traffic{14, 14 * m, 1 + 7}},
		{"allreduce-rabenseifner-near", 8, traffic{48, 14 * m, 6}},
		{"allreduce-rabenseifner-near", 5, traffic{4 + 16, m + 3*m/2 - m/2 + m/2 + 6*m, 7}},
		{"alltoall-bruck", 8, traffic{24, 8 * 12 * m, 3}},
		{"alltoall-bruck", 6, traffic{18, 6 * (3 + 2 + 2) * m, 3}},
		{"gather-binomial", 8, traffic{7, 12 * m, 3}},
		{"gather-synchronised", 8, traffic{7 + 14, 7 + 7*(m+1), 15}},
		{"globalop-p4", 11, traffic{20, 20 * m, 3 + 10}},
		{"allreduce-recursive-doubling", 8, traffic{24, 24 * m, 3}},
		{"allreduce-recursive-doubling", 11, traffic{24 + 6, 30 * m, 5}},
		{"allreduce-ring", 8, traffic{8 * 14, 14 * m, 14}},
		{"allreduce-rabenseifner", 8, traffic{48, 14 * m, 6}},
		{"allreduce-rabenseifner", 5, traffic{2 + 16, 2*m + 6*m, 6}},
		{"barrier-dissemination", 11, traffic{44, 44, 4}},
		{"barrier-p4", 11, traffic{20, 20, 3 + 10}},
		{"neighbour-ring", 8, traffic{32, 32 * m, 4}},
		{"neighbour-ring", 3, traffic{6, 6 * m, 2}},
		{"gather-direct", 8, traffic{7, 7 * m, 1}},
		{"gather-windows", 8, traffic{7 + 5, 7*m + 5, 7}}, // senders 1, 3, 5 and 7 in turn, with signals between
		{"scatter-direct", 8, traffic{7, 7 * m, 7}},
		{"alltoall-pairwise", 8, traffic{56, 56 * m, 7}},
		{"alltoall-shifted", 8, traffic{56, 56 * m, 7}},
		{"alltoall-random", 8, traffic{56, 56 * m, 7}},
		{"incast-direct", 8, traffic{7, 7 * m, 1}},
		// 3 rows of 4: 17 pairs of neighbours, both ways, twice, and 12 over corners.
		{"dd-exchange", 12, traffic{68 + 24, 68*m + 24*8, 12}},
		{"dd-exchange", 5, traffic{16, 16 * m, 4}},
		// 3 planes of 4 strips: 8 messages of G; in each plane 6 of √(4·750) = 55 words.
		{"mg-overlap", 12, traffic{8 + 18, 8*m + 18*55*8, 3}},
		{"mg-staggered", 12, traffic{16 + 18, 8*m + 8 + 18*55*8, 10}},
	} {
		s := mustWrite(t, c.name, c.size, m)
		var got traffic
		for _, steps := range s {
			for _, step := range steps {
				for _, p := range step.Out {
					got.messages++
					got.bytes += p.Bytes
				}
			}
		}
		got.depth = s.Depth()
		if got != c.want {
			t.Errorf("%s of %d: %+v, want %+v", c.name, c.size, got, c.want)
		}
	}
}

func mustWrite(t *testing.T, name string, size, m int) Schedule {
	t.Helper()
	for _, p := range All {
		if p.Name() != name {
			continue
		}
		s, err := Of(p, size, m)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Fatalf("no pattern %s", name)
	return nil
}

func TestPipelinedSegments(t *testing.T) {
	s := mustWrite(t, "bcast-pipelined", 5, 100<<10)
	if got := s.Depth(); got != 4+13-1 {
		t.Errorf("13 segments over 4 links follow each other %d deep, want 16", got)
	}
	p, _ := Find("bcast", "pipelined")
	if e, err := ExtentOf(p, 5, 100<<10); err != nil || e.Largest != segment {
		t.Errorf("a segment of %d bytes (%v)", e.Largest, err)
	}
}

func TestScheduleSums(t *testing.T) {
	s := mustWrite(t, "gather-windows", 4, 1000)
	p, _ := Find("gather", "windows")
	if e, err := ExtentOf(p, 4, 1000); err != nil || e.Busiest != 3000 {
		t.Errorf("the root receives %d bytes, want 3000 (%v)", e.Busiest, err)
	}
	if got := Peers(s[1]); len(got) != 2 || got[0] != 0 || got[1] != 3 {
		t.Errorf("rank 1 has peers %v, want 0 and 3", got)
	}
}

func TestGrids(t *testing.T) {
	for size, want := range map[int][2]grid{
		2: {{1, 2}, {2, 1}}, 3: {{1, 3}, {3, 1}}, 4: {{2, 2}, {2, 2}}, 6: {{2, 3}, {3, 2}}, 8: {{2, 4}, {2, 4}},
		11: {{1, 11}, {11, 1}}, 12: {{3, 4}, {3, 4}}, 16: {{4, 4}, {4, 4}},
	} {
		if got := [2]grid{squareGrid(size), planes(size, 0)}; got != want {
			t.Errorf("%d hosts: %v, want %v", size, got, want)
		}
	}
}

func TestNotDefined(t *testing.T) {
	for _, c := range []struct{ id, size int }{{1, 3}, {2, 1}} {
		p, _ := ByID(int64(c.id))
		if _, err := Of(p, c.size, 1); err == nil || !strings.Contains(err.Error(), "not defined") {
			t.Errorf("%s of %d: %v", p.Name(), c.size, err)
		}
	}
}
