package cost

import "math"

// fluid is long messages that flow: a transfer occupies its sender and its receiver until it is done, T_s = T_r = T_c,
// and goes on while both are at it, at a rate that depends on the others that are under way. A rank that exchanges
// messages sends them in order, and takes in all that belong to the exchange. Source: Stoica, Sultan, Keyes 1994,
// section 2.5 (non-preemptive primitives) and figure 10 (c).
type fluid struct {
	// size is the work of a message.
	size func(bytes float64) float64
	// pace is the time of a unit of work while n transfers are under way, into of them to the same receiver [s].
	pace func(n, into int) float64
}

// atOnce is the share of a transfer that is taken for nothing, so that transfers that end together do so in spite of
// rounding.
const atOnce = 1e-12

// run returns the time when the last transfer is done [s].
func (f fluid) run(l *list) float64 {
	hosts, into := make([]progress, len(l.ranks)), make([]int, len(l.ranks))         // transfers under way to a rank
	left, received := make([]float64, len(l.messages)), make([]int, len(l.messages)) // work; the step of the receiver
	for i, m := range l.messages {
		left[i] = f.size(float64(m.bytes))
	}
	for _, steps := range l.ranks {
		for i, st := range steps {
			for _, k := range st.in {
				received[k] = i
			}
		}
	}
	var active []int // messages of which both ends are at it
	for now := 0.0; ; {
		for rank := range hosts {
			for h := &hosts[rank]; !l.done(rank, *h); h.step, h.sent, h.received = h.step+1, 0, 0 {
				if st := l.ranks[rank][h.step]; h.sent < len(st.out) || h.received < len(st.in) {
					break
				}
			}
		}
		active = active[:0]
		clear(into)
		for rank, h := range hosts {
			if l.done(rank, h) || h.sent == len(l.ranks[rank][h.step].out) {
				continue
			}
			k := l.ranks[rank][h.step].out[h.sent]
			if to := l.messages[k].to; hosts[to].step == received[k] {
				active = append(active, k)
				into[to]++
			}
		}
		if len(active) == 0 {
			return now
		}
		soonest := math.Inf(1)
		for _, k := range active {
			soonest = math.Min(soonest, left[k]*f.pace(len(active), into[l.messages[k].to]))
		}
		if !possible(soonest) {
			return soonest
		}
		now += soonest
		for _, k := range active {
			m := l.messages[k]
			left[k] -= soonest / f.pace(len(active), into[m.to])
			if left[k] <= atOnce*f.size(float64(m.bytes)) {
				hosts[m.from].sent++
				hosts[m.to].received++
			}
		}
	}
}
