package export

// class is what the decision takes on communicators of fewer than so many ranks; 0 is any number.
type class struct {
	below int
	sizes []size
}

// size is the algorithm for messages of fewer than so many bytes; 0 is any number.
type size struct{ below, algorithm int }

const (
	kib = 1 << 10
	mib = 1 << 20
)

// The compiled-in decisions (coll_tuned_decision_fixed.c), for commutative operations.
var (
	fixedAllreduce = []class{
		{4, []size{{8, 4}, {4 * kib, 3}, {8 * kib, 4}, {16 * kib, 3}, {64 * kib, 4}, {256 * kib, 5}, {0, 6}}},
		{8, []size{{16, 4}, {8 * kib, 3}, {0, 6}}},
		{16, []size{{8 * kib, 3}, {0, 6}}},
		{32, []size{{64, 5}, {4 * kib, 3}, {0, 6}}},
		{64, []size{{128, 5}, {0, 6}}},
		{128, []size{{256 * kib, 3}, {0, 6}}},
		{256, []size{{128 * kib, 2}, {256 * kib, 3}, {0, 6}}},
		{512, []size{{4 * kib, 2}, {0, 6}}},
		{2048, []size{{2 * kib, 2}, {16 * kib, 3}, {0, 6}}},
		{4096, []size{{2 * kib, 2}, {4 * kib, 5}, {16 * kib, 3}, {0, 6}}},
		{0, []size{{2 * kib, 2}, {16 * kib, 5}, {32 * kib, 3}, {0, 6}}},
	}
	fixedAlltoall = []class{
		{3, []size{{2, 2}, {4, 5}, {16, 2}, {64, 5}, {256, 2}, {4 * kib, 5}, {32 * kib, 2}, {256 * kib, 4}, {mib, 5}, {0, 2}}},
		{8, []size{{8 * kib, 4}, {16 * kib, 1}, {64 * kib, 4}, {512 * kib, 1}, {mib, 2}, {0, 1}}},
		{16, []size{{256 * kib, 4}, {0, 1}}},
		{32, []size{{4, 4}, {512, 3}, {8 * kib, 4}, {32 * kib, 1}, {256 * kib, 4}, {512 * kib, 1}, {0, 4}}},
		{64, []size{{512, 3}, {512 * kib, 1}, {0, 4}}},
		{128, []size{{kib, 3}, {2 * kib, 1}, {4 * kib, 4}, {256 * kib, 1}, {0, 2}}},
		{256, []size{{kib, 3}, {2 * kib, 4}, {256 * kib, 1}, {0, 2}}},
		{512, []size{{kib, 3}, {8 * kib, 4}, {32 * kib, 1}, {0, 2}}},
		{1024, []size{{512, 3}, {8 * kib, 4}, {16 * kib, 1}, {128 * kib, 4}, {256 * kib, 1}, {0, 2}}},
		{2048, []size{{512, 3}, {kib, 4}, {2 * kib, 1}, {16 * kib, 4}, {256 * kib, 1}, {0, 4}}},
		{4096, []size{{kib, 3}, {4 * kib, 4}, {8 * kib, 1}, {128 * kib, 4}, {0, 1}}},
		{0, []size{{2 * kib, 3}, {8 * kib, 4}, {16 * kib, 1}, {32 * kib, 4}, {64 * kib, 1}, {0, 4}}},
	}
	fixedBcast = []class{
		{4, []size{{32, 3}, {256, 5}, {512, 3}, {kib, 7}, {32 * kib, 1}, {128 * kib, 5}, {256 * kib, 2}, {512 * kib, 1}, {mib, 6}, {0, 5}}},
		{8, []size{{64, 5}, {128, 6}, {2 * kib, 5}, {8 * kib, 6}, {mib, 1}, {0, 2}}},
		{16, []size{{8, 7}, {64, 5}, {4 * kib, 7}, {16 * kib, 5}, {32 * kib, 6}, {0, 1}}},
		{32, []size{{4 * kib, 7}, {mib, 6}, {0, 8}}},
		{64, []size{{2 * kib, 6}, {0, 7}}},
		{128, []size{{0, 7}}},
		{256, []size{{2, 6}, {16 * kib, 5}, {32 * kib, 1}, {64 * kib, 5}, {0, 7}}},
		{1024, []size{{16 * kib, 7}, {32 * kib, 4}, {0, 7}}},
		{2048, []size{{512 * kib, 7}, {0, 8}}},
		{4096, []size{{256 * kib, 7}, {0, 8}}},
		{0, []size{{8 * kib, 7}, {16 * kib, 5}, {256 * kib, 7}, {0, 8}}},
	}
	fixedGather = []class{
		{4, []size{{2, 3}, {4, 1}, {32 * kib, 2}, {64 * kib, 1}, {128 * kib, 2}, {0, 3}}},
		{8, []size{{kib, 2}, {8 * kib, 1}, {32 * kib, 2}, {256 * kib, 1}, {0, 3}}},
		{256, []size{{0, 2}}},
		{512, []size{{2 * kib, 2}, {8 * kib, 1}, {0, 2}}},
		{0, []size{{0, 2}}},
	}
)
