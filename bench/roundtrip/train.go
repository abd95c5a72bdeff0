package roundtrip

import (
	"errors"
	"slices"

	"calib/bench"
	"calib/internal/units"
)

// train is the exchange PRTT(n,0,s): n messages one after the other, and a reply to the last.
type train struct {
	peer       int
	n          int
	msg, reply []byte // msg's first byte says whether another train comes
}

// Lead implements Exchange.
func (x *train) Lead(g bench.Group, last bool) (Trip, error) {
	x.msg[0] = LastMark(last)
	start := g.Now()
	for range x.n {
		if err := g.Send(x.peer, x.msg); err != nil {
			return Trip{}, err
		}
	}
	if err := g.Recv(x.peer, x.reply); err != nil {
		return Trip{}, err
	}
	took := bench.Elapsed(g, start)
	return Trip{NS: took, Took: took}, nil
}

// Follow implements Exchange.
func (x *train) Follow(g bench.Group) (last bool, err error) {
	for range x.n {
		if err := g.Recv(x.peer, x.msg); err != nil {
			return false, err
		}
	}
	return x.msg[0] == LastMark(true), g.Send(x.peer, x.reply)
}

// calls keeps the times of single calls, so many of each exchange, the warm-up's included.
type calls struct {
	timed []int64 // it has room for all of a batch
	each  int     // of an exchange
}

func newCalls(each, exchanges int, r *bench.Recorder) calls {
	return calls{each: each, timed: r.Buffer(each * exchanges)[:0]}
}

// add keeps one time, while there is room.
func (c *calls) add(ns int64) {
	if len(c.timed) < cap(c.timed) {
		c.timed = append(c.timed, ns)
	}
}

// last returns the times of the last exchanges.
func (c *calls) last(exchanges int) []int64 { return c.timed[max(0, len(c.timed)-exchanges*c.each):] }

// spacedTrain is PRTT(n,d,s) minus the waits, as the leading rank's clock saw them.
type spacedTrain struct {
	train
	sends calls
	delay units.Nanos
}

// Lead implements Exchange. A wait begins with the end of a send and ends with the beginning of the next one,
// so that each message has two readings of the clock: one is part of the wait, the other of the send.
func (x *spacedTrain) Lead(g bench.Group, last bool) (Trip, error) {
	x.msg[0] = LastMark(last)
	start := g.Now()
	began := start
	var waited units.Nanos
	for i := range x.n {
		if i > 0 {
			ended := began
			if err := g.WaitUntil(ended + x.delay); err != nil {
				return Trip{}, err
			}
			began = g.Now()
			waited += began - ended
		}
		if err := g.Send(x.peer, x.msg); err != nil {
			return Trip{}, err
		}
		ended := g.Now()
		x.sends.add(int64(ended - began))
		began = ended
	}
	if err := g.Recv(x.peer, x.reply); err != nil {
		return Trip{}, err
	}
	took := bench.Elapsed(g, start)
	return Trip{NS: took - int64(waited), Took: took}, nil
}

// delayedTrain is PRTT(n,0,s) with a following rank that waits before each receive but the first: until the message is
// there, and for the delay as long as other messages are still under way, because their arrival would disturb the
// receive. Once all are there it does not wait: the sender, without an acknowledgement, would send the last one again.
//
// The first receive of an exchange is not timed, nor the last: its reading of the clock would delay the reply.
type delayedTrain struct {
	train
	receives calls
	waits    calls // their sum in an exchange
	delay    units.Nanos
}

// Follow implements Exchange. As with spacedTrain a message has two readings of the clock, one of them in the
// wait.
func (x *delayedTrain) Follow(g bench.Group) (last bool, err error) {
	var waited, ended units.Nanos
	for i := range x.n {
		var began units.Nanos
		if i > 0 {
			if began, err = x.await(g, ended, x.n-i); err != nil {
				return false, err
			}
			waited += began - ended
		}
		if err := g.Recv(x.peer, x.msg); err != nil {
			return false, err
		}
		if i == x.n-1 {
			break
		}
		if ended = g.Now(); i > 0 {
			x.receives.add(int64(ended - began))
		}
	}
	x.waits.add(int64(waited))
	return x.msg[0] == LastMark(true), g.Send(x.peer, x.reply)
}

// await waits for the delay since a time and until the next message is there, or until all that are left are there, and
// returns the time then. It gives up after some times the delay: the receive waits for the rest.
func (x *delayedTrain) await(g bench.Group, since units.Nanos, left int) (units.Nanos, error) {
	const looks, share = 64, 8
	next := since + x.delay
	for range looks {
		ready, err := g.Pending(x.peer)
		if err != nil {
			return 0, err
		}
		now := g.Now()
		if ready >= left*len(x.msg) || now >= since+x.delay && ready >= len(x.msg) {
			return now, nil
		}
		if err := g.WaitUntil(next); err != nil {
			return 0, err
		}
		next += max(x.delay/share, units.Microsecond)
	}
	return g.Now(), nil
}

// maxNumbers bounds how many numbers sendTimes sends.
func maxNumbers(b Bounds, e bench.Effort, n int) int { return 3 + b.Room(e)*(1+n-2) }

var errTimes = errors.New("delayed: rank 1 sent another number of times than it was asked for")

// sendTimes tells rank 0 what was waited and received in every exchange, and the cost of a reading of the clock.
func (x *delayedTrain) sendTimes(g bench.Group) error {
	head := []int64{int64(len(x.waits.timed)), int64(len(x.receives.timed)), int64(bench.TimerCost(g))}
	if err := bench.SendNumbers(g, x.peer, head...); err != nil {
		return err
	}
	return bench.SendNumbers(g, x.peer, slices.Concat(x.waits.timed, x.receives.timed)...)
}

// recvTimes receives them, subtracts the waits of the last exchanges from ns and keeps their receives. It returns the
// cost of a reading of the clock [ns].
func (x *delayedTrain) recvTimes(g bench.Group, ns []int64) (clock float64, err error) {
	head, err := bench.RecvNumbers(g, x.peer, 3)
	if err != nil {
		return 0, err
	}
	waits, receives := head[0], head[1]
	if waits < int64(len(ns)) || waits > int64(len(ns)+MaxWarm) || receives != waits*int64(x.n-2) {
		return 0, errTimes
	}
	w, err := bench.RecvNumbers(g, x.peer, int(waits+receives))
	if err != nil {
		return 0, err
	}
	x.waits = calls{timed: w[:waits], each: 1}
	x.receives = calls{timed: w[waits:], each: x.n - 2}
	for i, v := range x.waits.last(len(ns)) {
		ns[i] -= v
	}
	return float64(head[2]), nil
}
