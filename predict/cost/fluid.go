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

// run returns the time when the last transfer is done [s], or ErrSchedule where ranks wait for ever.
func (f fluid) run(l *list) (float64, error) {
	r := &flowing{list: l, hosts: make([]progress, len(l.ranks)), ends: make([]int, len(l.messages)), into: make([]int, len(l.ranks)),
		left: make([]float64, len(l.messages))}
	for i, m := range l.messages {
		r.left[i] = f.size(float64(m.bytes))
	}
	for i := range r.hosts {
		r.enter(i)
	}
	now := 0.0
	for len(r.active) > 0 {
		soonest := math.Inf(1)
		for _, k := range r.active {
			soonest = math.Min(soonest, r.left[k]*f.pace(len(r.active), r.into[l.messages[k].to]))
		}
		if !possible(soonest) {
			return soonest, nil
		}
		now += soonest
		r.flow(f, soonest)
	}
	for i, h := range r.hosts {
		if !l.done(i, h) {
			return 0, stuck(i)
		}
	}
	return now, nil
}

// flowing is an evaluation on its way.
type flowing struct {
	list   *list
	hosts  []progress
	ends   []int     // how many ends of a message are at it
	left   []float64 // work of a message
	active []int     // messages under way
	into   []int     // of them, by receiver
}

// flow lets all transfers go on for dt, and those that are done end.
func (r *flowing) flow(f fluid, dt float64) {
	going, n := r.active, len(r.active)
	r.active = nil
	var done []int
	for _, k := range going {
		m := r.list.messages[k]
		r.left[k] -= dt / f.pace(n, r.into[m.to])
		if r.left[k] <= atOnce*f.size(float64(m.bytes)) {
			done = append(done, k)
		} else {
			r.active = append(r.active, k)
		}
	}
	for _, k := range done {
		r.into[r.list.messages[k].to]--
	}
	for _, k := range done {
		m := r.list.messages[k]
		r.hosts[m.from].sent++
		r.hosts[m.to].received++
		r.next(m.from)
		r.goOn(m.from)
		r.goOn(m.to)
	}
}

// enter has a rank begin its step: it waits for all messages in, and sends the first one out.
func (r *flowing) enter(rank int) {
	h := &r.hosts[rank]
	if r.list.done(rank, *h) {
		return
	}
	for _, k := range r.list.ranks[rank][h.step].in {
		r.at(k)
	}
	r.next(rank)
	r.goOn(rank)
}

// next has a rank send the next message of its step.
func (r *flowing) next(rank int) {
	h := &r.hosts[rank]
	if out := r.list.ranks[rank][h.step].out; h.sent < len(out) {
		r.at(out[h.sent])
	}
}

// goOn has a rank begin another step if its present one is done.
func (r *flowing) goOn(rank int) {
	h := &r.hosts[rank]
	if r.list.done(rank, *h) {
		return
	}
	if st := r.list.ranks[rank][h.step]; h.sent == len(st.out) && h.received == len(st.in) {
		h.step, h.sent, h.received = h.step+1, 0, 0
		r.enter(rank)
	}
}

// at notes that an end of a message is at it.
func (r *flowing) at(k int) {
	r.ends[k]++
	if r.ends[k] == 2 {
		r.active = append(r.active, k)
		r.into[r.list.messages[k].to]++
	}
}
