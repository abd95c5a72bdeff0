package cost

import (
	"math"

	"calib/internal/params"
)

// neighbours is the block of a message while each of n hosts sends a message of that length to k others, all at the
// same time,
//
//	a = 2k·a_W + k·n·a_C + a_L,  b = max(k·n·b_C, b_W):
//
// rule 3 for the k messages of each end and the k·n in the network, then rule 1. It bounds the time of the message that
// is served last. The paper has b_W where rule 3 has k·b_W. That is the same where n·b_C ≥ b_W, and so wherever streams
// were seen to share the network. Where b_C is not known because the network is a switch it is not, and rule 3 is
// taken: b = k·b_W. Where a_C is that of a port, k messages share it, not k·n. Source: Stoica, Sultan, Keyes 1994,
// section 3.3.
func (h *hyperbolic) neighbours(n, k int) params.Block {
	N, K := float64(n), float64(k)
	c := params.Block{A: 2*K*h.host.A + K*N*h.network.A + h.delay, B: math.Max(K*N*h.network.B, h.host.B)}
	if h.ports {
		c.A -= K * (N - 1) * h.network.A
	}
	if h.network.B == 0 {
		c.B = K * h.host.B
	}
	return c
}

// exchange reports whether a schedule is one exchange of every rank, each of k messages out and k in, all of m bytes.
func exchange(l *list) (k, m int, ok bool) {
	m = l.messages[0].bytes
	for _, q := range l.messages {
		if q.bytes != m {
			return 0, 0, false
		}
	}
	for _, steps := range l.ranks {
		if len(steps) != 1 || len(steps[0].out) == 0 || len(steps[0].out) != len(l.ranks[0][0].out) || len(steps[0].in) != len(steps[0].out) {
			return 0, 0, false
		}
	}
	return len(l.ranks[0][0].out), m, true
}
