package bench

import (
	"context"
	"fmt"

	"calib/internal/dataset"
	"calib/internal/units"
)

// exchange is what ranks 0 and 1 do over and over: rank 0 leads it and times it, rank 1 follows.
type exchange interface {
	// lead is rank 0's part, once; last tells rank 1 that nothing follows before the next order.
	lead(g Group, last bool) (lap, error)
	// follow is rank 1's part, once, and returns what rank 0 told it.
	follow(g Group) (last bool, err error)
}

// lap is what rank 0 knows of one exchange.
type lap struct {
	ns   int64 // what is recorded
	took int64 // how long it all lasted [ns]
	over bool  // another exchange is of no use, and rank 1 knows it
}

// dose is how much one exchange moves and how often it is repeated.
type dose struct {
	bytes       units.Bytes // of an exchange, each way
	sends       int         // of an exchange, by the rank that makes more of them
	most, least int         // repetitions at effort 1; at any effort
}

const (
	rallySends = 8192 // of one rank in a batch at effort 1, unless the least repetitions need more
	// rallyPatience is how many budgets a batch may take when its exchanges have become slower than in the warm-up.
	rallyPatience = 4
)

// reps bounds the repetitions of a batch.
func (d dose) reps(r *Recorder) int {
	byBytes := int(min(units.Bytes(r.Reps(int(pingBytes), 0))/max(d.bytes, 1), pingReps<<10))
	bySends := r.Reps(rallySends, 0) / max(d.sends, 1)
	return max(d.least, min(r.Reps(d.most, d.least), byBytes, bySends))
}

// warm bounds the repetitions before a batch.
func (d dose) warm() int {
	byBytes := int(min(pingBytes/max(d.bytes, 1), pingWarmMax))
	return max(pingWarm, min(byBytes, rallySends/max(d.sends, 1)))
}

// cost bounds a batch. The sends of one exchange follow each other without waiting.
func (d dose) cost(effort float64) Cost {
	trips := d.reps(NewRecorder(Task{Reps: effort})) + d.warm()
	return Cost{
		Bytes:    2*d.bytes*units.Bytes(trips) + pingControl,
		Messages: (1+d.sends)*trips + pingControlMessages,
	}
}

// add sums the costs of batches in sequence.
func (c Cost) add(d Cost) Cost {
	return Cost{Bytes: c.Bytes + d.Bytes, Messages: c.Messages + d.Messages}
}

// rally is a batch of exchanges: a warm-up, then as many repetitions as fit into pingBudget, within the dose.
type rally struct {
	g Group
	r *Recorder
	x exchange
	d dose
}

// score is what a batch gave rank 0; rank 1's is empty.
type score struct {
	ns   []int64
	tcp  *dataset.TCP // of rank 0, with what rank 1 lost
	over bool         // the last of ns is an exchange after which no other was of use
}

// run plays the batch. It ends with the batch, or when a receive meets the group's deadline.
func (y rally) run() (score, error) {
	if y.g.Rank() == 1 {
		return score{}, answer(y.g, y.x)
	}
	t, trip, err := y.warmUp()
	if err != nil {
		return t, fmt.Errorf("warm-up: %w", err)
	}
	if !t.over {
		if t, err = y.timed(trip); err != nil {
			return t, err
		}
	}
	return t, finish(y.g, t.tcp)
}

// warmUp exchanges until the congestion window holds a message whole or has stopped growing, and returns how long the last
// exchange took. Where that one was the end of it, the score is the batch's.
func (y rally) warmUp() (t score, trip int64, err error) {
	var before dataset.TCP
	for i := range y.d.warm() {
		if err := order(y.g, true); err != nil {
			return t, 0, err
		}
		l, err := y.x.lead(y.g, true)
		if err != nil {
			return t, 0, err
		}
		c, err := y.g.Counters(1)
		if err != nil {
			return t, 0, err
		}
		if l.over {
			lost := c.Sub(before)
			return score{ns: []int64{l.ns}, tcp: &lost, over: true}, 0, nil
		}
		trip = l.took
		grew := c.Cwnd*c.MSS > before.Cwnd*before.MSS
		before = c
		if i+1 >= pingWarm && (c.Cwnd*c.MSS >= int64(y.d.bytes) || !grew) {
			break
		}
	}
	return t, trip, nil
}

// timed repeats the exchange.
func (y rally) timed(trip int64) (t score, err error) {
	reps := y.d.reps(y.r)
	budget := y.r.Reps(int(pingBudget), 0)
	if trip > 0 {
		reps = max(y.d.least, min(reps, budget/int(trip)))
	}
	t.ns = y.r.Buffer(reps)
	if err := order(y.g, true); err != nil {
		return t, err
	}
	before, err := y.g.Counters(1)
	if err != nil {
		return t, err
	}
	n, over, err := y.laps(t.ns, rallyPatience*int64(budget))
	if err != nil {
		return t, err
	}
	t.ns, t.over = t.ns[:n], over
	t.tcp, err = delta(y.g, 1, before)
	return t, err
}

// laps is rank 0's timed section: it fills ns, or less of it where the exchanges take longer than limit in all, and returns
// how much.
func (y rally) laps(ns []int64, limit int64) (n int, over bool, err error) {
	var spent int64
	for i := range ns {
		last := i+1 == len(ns) || i+1 >= y.d.least && spent > limit
		l, err := y.x.lead(y.g, last)
		if err != nil {
			return 0, false, err
		}
		ns[i] = l.ns
		spent += l.took
		if last || l.over {
			return i + 1, l.over, nil
		}
	}
	return 0, false, nil
}

// checkPair reports what a rally cannot begin with.
func checkPair(ctx context.Context, g Group, name string) error {
	if g.Size() != 2 {
		return fmt.Errorf("%s: team of %d, want 2", name, g.Size())
	}
	return ctx.Err()
}
