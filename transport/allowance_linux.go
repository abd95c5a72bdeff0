package transport

import (
	"sync/atomic"

	"calib/internal/units"
)

// takeBytes is what a connection takes of its pair's allowance at a time, so that counting a message needs no atomic
// operation. Near the end of the allowance it takes only what it needs.
const takeBytes = 1 << 20

// allowance is the number of bytes a pair of hosts may still move, shared by all their connections.
type allowance struct{ left atomic.Int64 }

func newAllowance(n int64) *allowance {
	a := &allowance{}
	a.left.Store(n)
	return a
}

// take raises have to at least need bytes, and reports whether the allowance was enough. have is not shared.
func (a *allowance) take(have *int64, need int) bool {
	for {
		left := a.left.Load()
		take := int64(need) - *have
		if left < take {
			return false
		}
		if left > 16*takeBytes {
			take += takeBytes
		}
		if left >= take && a.left.CompareAndSwap(left, left-take) {
			*have += take
			return true
		}
	}
}

// giveBack returns what was taken and not used.
func (a *allowance) giveBack(have *int64) {
	a.left.Add(*have)
	*have = 0
}

// moved is what each pair has moved in the sessions of one run that have ended. Hosts are named by their index.
type moved struct {
	run   string
	bytes map[int]int64
}

// add counts a session that ends, which is of the run of the last allow. What its connections have taken and not used
// counts as well.
func (m *moved) add(s *session) {
	for id, l := range s.links {
		if n := l.given - l.allowed.left.Load(); id.line == 0 && n > 0 {
			m.bytes[id.host] += n
		}
	}
}

// allow holds the tickets of a session that begins to what is left of most.
func (m *moved) allow(s *session, most units.Bytes) {
	if m.run != s.Run || m.bytes == nil {
		m.run, m.bytes = s.Run, map[int]int64{}
	}
	if most <= 0 {
		return
	}
	for id, l := range s.links {
		l.given = max(0, min(l.given, int64(most)-m.bytes[id.host]))
		l.allowed.left.Store(l.given)
	}
}
