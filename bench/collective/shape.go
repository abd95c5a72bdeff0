package collective

import (
	"fmt"
	"sync"

	"calib/bench"
	"calib/bench/pattern"
	"calib/internal/dataset/names"
)

// shape is what the ranks of a pattern need to know of the others, and how many messages follow one another.
type shape struct {
	pattern.Extent
	depth func() int
}

// shapes are those of the points that this process has met lately, by pattern, hosts and bytes. A pattern of a thousand
// hosts has up to maxMessages messages: they are written down once, and never kept.
var shapes struct {
	sync.Mutex
	of map[[3]int64]func() (shape, error)
}

// maxShapes bounds those that a process keeps, which for an agent may measure for years.
const maxShapes = 1 << 12

// known is the pattern of a point, and its shape.
func known(p bench.Point) (pattern.Pattern, shape, error) {
	what, ok := pattern.ByID(p[names.FactorPattern])
	if !ok {
		return what, shape{}, fmt.Errorf("this version of calib has no pattern %d: use the coordinator's version on every host", p[names.FactorPattern])
	}
	k := [...]int64{what.ID, p[names.FactorHosts], p[names.FactorBytes]}
	shapes.Lock()
	once, had := shapes.of[k]
	if !had {
		if len(shapes.of)%maxShapes == 0 {
			shapes.of = map[[3]int64]func() (shape, error){}
		}
		once = sync.OnceValues(func() (shape, error) { return shapeOf(what, int(k[1]), int(k[2])) })
		shapes.of[k] = once
	}
	shapes.Unlock()
	s, err := once()
	return what, s, err
}

func shapeOf(p pattern.Pattern, hosts, bytes int) (s shape, err error) {
	s.Extent, err = pattern.ExtentOf(p, hosts, bytes)
	s.depth = sync.OnceValue(func() int {
		all, err := pattern.Of(p, hosts, bytes)
		if err != nil {
			return 0 // which ExtentOf has reported
		}
		return all.Depth()
	})
	return s, err
}

// maxMessages bounds the messages of a pattern: of one in which every host sends to all others a thousand hosts would
// send a million, for minutes, and each host would open a thousand connections.
const maxMessages = 1 << 15

// fitting is the largest number of hosts up to n that a pattern runs on: n, or a half, a quarter, … of it.
func fitting(p pattern.Pattern, n int) int {
	for n > pattern.Least && messages(p, n) > maxMessages {
		n = (n + 1) / 2
	}
	return n
}

// messages is about how many messages a pattern sends with one byte for every host, so that none has an empty block: as
// many from each host as the middle one of three sends. The root of a tree is none of them.
func messages(p pattern.Pattern, hosts int) int {
	if hosts < 2 || !p.Defined(hosts) {
		return 0
	}
	var sent []int
	for _, rank := range []int{1, hosts / 2, hosts - 1} {
		steps, err := pattern.Rank(p, rank, hosts, hosts)
		if err != nil {
			return 0
		}
		n := 0
		for _, s := range steps {
			n += len(s.Out)
		}
		sent = append(sent, n)
	}
	return hosts * max(min(sent[0], sent[1]), min(max(sent[0], sent[1]), sent[2]))
}
