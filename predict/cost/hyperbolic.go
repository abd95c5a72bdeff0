package cost

import (
	"cmp"
	"math"
	"slices"

	"calib/params"
)

// Hyperbolic predicts by the blocks of hosts and network, CB_W(a, b) and CB_C(a_c, b_c), with a, a_c in s and b, b_c in
// s/B. The time of a pattern of M bytes is eq. 3, T(M; A, B), between its limits:
//
//   - A [s] for short messages. A message takes a of its sender, then a_c of the network, first come, first served, and
//     then a of its receiver. A host does one of these at a time. Where messages of one packet see a switch, a_c is
//     that of the port to the receiver.
//   - B [s/B] for long ones. A transfer occupies both its ends until it is done. While n are under way, n_r of them to
//     its receiver, it takes max(n·b_c, n_r·b) a byte; as a rank sends one message at a time, the sender's share is b.
//
// Messages of other sizes than M count in B by their share of M. Where every rank does nothing but one exchange of as
// many equal messages, A and B are those of neighbours. The delay of the network has no block of its own here: calib's
// a holds half of it.
//
// What the data left open is taken as follows: a_c is zero where it is bounded only and the network is a switch for
// packets, b_c likewise for streams; and b is b_c where it is unidentifiable beside a b_c that is known, because b ≤
// b_c. That is the upper bound of b. It returns ErrParameters if anything else is missing. The model has Bounds, too.
//
// Source: Stoica, Sultan, Keyes 1994, sections 2.5, 3 and 5.2.
func Hyperbolic(p *params.Params) (Model, error) {
	r := reader{params: p, model: "hyperbolic-network", all: []string{"a", "a_c", "b", "b_c"}}
	kind := *cmp.Or(p.Network, &params.Network{Packets: params.Unknown, Streams: params.Unknown})
	h := &hyperbolic{ports: kind.Packets == params.Switch}
	h.host.A = r.value("a")
	if !h.ports || !r.withheld("a_c") {
		h.network.A = r.notNegative("a_c")
	}
	if kind.Streams != params.Switch || !r.withheld("b_c") {
		h.network.B = r.notNegative("b_c")
	}
	if h.host.B = h.network.B; !(h.network.B > 0) || !r.withheld("b") {
		h.host.B = r.value("b")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return h, nil
}

type hyperbolic struct {
	host, network params.Block
	ports         bool // a_c is that of the port to a receiver, not of one medium
}

func (h *hyperbolic) Time(t *Traffic) (float64, error) {
	return onPaper{"hyperbolic", func(_ *Traffic, l *list) (float64, error) {
		if k, m, ok := exchange(l); ok {
			return h.neighbours(len(l.ranks), k).T(float64(m)), nil
		}
		return params.ServiceTime(1, h.short(l), h.long(l)), nil // eq. 3 between the limits A and B·M: M drops out
	}}.Time(t)
}

// short is the time A [s] in the limit of short messages, T_s = T_r = a.
func (h *hyperbolic) short(l *list) float64 {
	s := stages{send: h.host.A, gap: h.host.A, flight: h.host.A, serve: h.network.A, recv: h.host.A}
	return machine{shared: !h.ports, of: func(float64) stages { return s }}.run(l)
}

// long is the time B·M [s] in the limit of long messages, T_s = T_r = T_c.
func (h *hyperbolic) long(l *list) float64 {
	return fluid{
		size: func(bytes float64) float64 { return bytes },
		pace: func(n, into int) float64 { return math.Max(float64(n)*h.network.B, float64(into)*h.host.B) },
	}.run(l)
}

// Bounds returns the time [s] of a pattern if every message had the network for itself, and if all messages of one
// length had to share it, one of each rank that sends such: each message takes eq. 3 of its own and occupies both its
// ends for that long, with n = 1, and with n the number of ranks that send a message of that length ("all like messages
// are sent synchronously by all processors").
// Source: Stoica, Sultan, Keyes 1994, section 5.2, figures 19 and 20 (no overlap, total overlap).
func (h *hyperbolic) Bounds(t *Traffic) (none, full float64, err error) {
	l, err := t.list()
	if err != nil {
		return 0, 0, err
	}
	sends := map[message]bool{} // by a rank, of a length
	alike := map[int]int{}      // ranks by the length that they send
	for _, m := range l.messages {
		if m.to = 0; !sends[m] {
			sends[m] = true
			alike[m.bytes]++
		}
	}
	// meeting is the time of messages of which so many are in the network, by their length, and one at least.
	meeting := func(n map[int]int) float64 {
		return fluid{
			size: func(bytes float64) float64 { return h.path(max(1, n[int(bytes)])).T(bytes) },
			pace: func(_, into int) float64 { return float64(into) },
		}.run(l)
	}
	return meeting(nil), meeting(alike), nil
}

// path is the block of a message while n messages are in the network. On a switch each has a port for itself.
func (h *hyperbolic) path(n int) params.Block {
	network := h.network.ConcurrentEqual(n)
	if h.ports {
		network.A = h.network.A
	}
	return params.Serial(false, h.host, network, h.host)
}

// neighbours is the block of a message while each of n hosts sends a message of that length to k others, all at the
// same time,
//
//	a = 2k·a_W + k·n·a_C,  b = max(k·n·b_C, b_W):
//
// rule 3 for the k messages of each end and the k·n in the network, then rule 1. It bounds the time of the message that
// is served last. The paper has b_W where rule 3 has k·b_W. That is the same where n·b_C ≥ b_W, and so wherever streams
// were seen to share the network. Where b_C is not known because the network is a switch it is not, and rule 3 is
// taken: b = k·b_W. Where a_C is that of a port, k messages share it, not k·n. Source: Stoica, Sultan, Keyes 1994,
// section 3.3.
func (h *hyperbolic) neighbours(n, k int) params.Block {
	N, K := float64(n), float64(k)
	c := params.Block{A: 2*K*h.host.A + K*N*h.network.A, B: math.Max(K*N*h.network.B, h.host.B)}
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
	if slices.ContainsFunc(l.messages, func(q message) bool { return q.bytes != m }) {
		return 0, 0, false
	}
	for _, steps := range l.ranks {
		if len(steps) != 1 || len(steps[0].out) == 0 || len(steps[0].out) != len(l.ranks[0][0].out) ||
			len(steps[0].in) != len(steps[0].out) {
			return 0, 0, false
		}
	}
	return len(l.ranks[0][0].out), m, true
}
