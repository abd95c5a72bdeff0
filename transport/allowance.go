package transport

import "sync/atomic"

// leaseBytes is what a connection takes of its pair's allowance at a time, so that counting a message costs no atomic
// operation. Near the end of the allowance it takes just what it needs.
const leaseBytes = 1 << 20

// allowance is the number of bytes a pair of hosts may still move, shared by all their connections.
type allowance struct{ left atomic.Int64 }

func newAllowance(n int64) *allowance {
	a := &allowance{}
	a.left.Store(n)
	return a
}

// lease raises have to at least need bytes, and reports whether the allowance was enough. have is not shared.
func (a *allowance) lease(have *int64, need int) bool {
	for {
		left := a.left.Load()
		take := int64(need) - *have
		if left < take {
			return false
		}
		if left > 16*leaseBytes {
			take += leaseBytes
		}
		if left >= take && a.left.CompareAndSwap(left, left-take) {
			*have += take
			return true
		}
	}
}

// giveBack returns what was leased and not used.
func (a *allowance) giveBack(have *int64) {
	a.left.Add(*have)
	*have = 0
}
