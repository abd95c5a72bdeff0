package bench

import (
	"errors"

	"calib/internal/units"
)

// train is the exchange PRTT(n,0,s): n messages one after the other, and a reply to the last.
type train struct {
	peer       int
	n          int
	msg, reply []byte // msg's first byte says whether another train comes
}

// lead implements exchange.
func (x *train) lead(g Group, last bool) (lap, error) {
	x.msg[0] = lastMark(last)
	start := g.Now()
	for range x.n {
		if err := g.Send(x.peer, x.msg); err != nil {
			return lap{}, err
		}
	}
	if err := g.Recv(x.peer, x.reply); err != nil {
		return lap{}, err
	}
	took := elapsed(g, start)
	return lap{ns: took, took: took}, nil
}

// follow implements exchange.
func (x *train) follow(g Group) (last bool, err error) {
	for range x.n {
		if err := g.Recv(x.peer, x.msg); err != nil {
			return false, err
		}
	}
	return x.msg[0] == lastMark(true), g.Send(x.peer, x.reply)
}

// calls keeps the times of single calls, so many of each exchange, the warm-up's included.
type calls struct {
	timed []int64
	each  int // of an exchange
	n     int
}

// room is how many exchanges a rally may hold.
func (d dose) room(r *Recorder) int { return d.warm() + d.reps(r) }

// add keeps one time. A rally never has more than there is room for.
func (c *calls) add(ns int64) {
	if c.n < len(c.timed) {
		c.timed[c.n] = ns
		c.n++
	}
}

// last returns the times of the last exchanges.
func (c *calls) last(exchanges int) []int64 { return c.timed[c.n-min(c.n, exchanges*c.each) : c.n] }

// spacedTrain is PRTT(n,d,s) less the waits, as the leading rank's clock saw them.
type spacedTrain struct {
	train
	sends calls
	delay units.Nanos
}

// reserve makes room for the times of a rally.
func (x *spacedTrain) reserve(d dose, r *Recorder) {
	x.sends = calls{each: x.n, timed: r.Buffer(x.n * d.room(r))}
}

// lead implements exchange. The end of a send is the beginning of a wait, and the end of that the beginning of the next
// send, so that a message has two readings of the clock: one in the wait, one beside the send.
func (x *spacedTrain) lead(g Group, last bool) (lap, error) {
	x.msg[0] = lastMark(last)
	start := g.Now()
	began := start
	var waited units.Nanos
	for i := range x.n {
		if i > 0 {
			ended := began
			if err := g.WaitUntil(ended + x.delay); err != nil {
				return lap{}, err
			}
			began = g.Now()
			waited += began - ended
		}
		if err := g.Send(x.peer, x.msg); err != nil {
			return lap{}, err
		}
		ended := g.Now()
		x.sends.add(int64(ended - began))
		began = ended
	}
	if err := g.Recv(x.peer, x.reply); err != nil {
		return lap{}, err
	}
	took := elapsed(g, start)
	return lap{ns: took - int64(waited), took: took}, nil
}

// delayedTrain is PRTT(n,0,s) with a following rank that waits before each receive but the first until the message is
// there, and for the delay as long as others are still under way, whose arrival would disturb the receive. To wait on when
// all are there would change nothing but that the sender, without an acknowledgement, takes the last for lost.
type delayedTrain struct {
	train
	receives calls
	waits    calls // their sum in an exchange
	delay    units.Nanos
}

// reserve makes room for the times of a rally. The last receive of an exchange is not timed: its reading of the clock would
// delay the reply.
func (x *delayedTrain) reserve(d dose, r *Recorder) {
	x.receives = calls{each: x.n - 2, timed: r.Buffer((x.n - 2) * d.room(r))}
	x.waits = calls{each: 1, timed: r.Buffer(d.room(r))}
}

// follow implements exchange. As with spacedTrain a message has two readings of the clock, one of them in the wait.
func (x *delayedTrain) follow(g Group) (last bool, err error) {
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
	return x.msg[0] == lastMark(true), g.Send(x.peer, x.reply)
}

// await waits for the delay since a time and until the next message is there, or until all that are left are there, and
// returns when that was so. It gives up, and leaves the rest to the receive, after some times the delay.
func (x *delayedTrain) await(g Group, since units.Nanos, left int) (units.Nanos, error) {
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

// prttHandOver is how many words handOver sends at most.
func prttHandOver(d dose, r *Recorder, n int) int { return 3 + d.room(r)*(1+n-2) }

var errHandOver = errors.New("delayed: rank 1 handed over another number of times than it was asked for")

// handOver tells rank 0 what was waited and received in every exchange, and the cost of a reading of the clock.
func (x *delayedTrain) handOver(g Group) error {
	words := []int64{int64(x.waits.n), int64(x.receives.n), int64(clockNS(g))}
	words = append(words, x.waits.timed[:x.waits.n]...)
	words = append(words, x.receives.timed[:x.receives.n]...)
	if err := sendWords(g, x.peer, words[:3]...); err != nil {
		return err
	}
	return sendWords(g, x.peer, words[3:]...)
}

// take receives it, takes the waits of the last exchanges out of ns and keeps their receives. It returns the cost of a
// reading of the clock [ns].
func (x *delayedTrain) take(g Group, ns []int64) (clock float64, err error) {
	head, err := recvWords(g, x.peer, 3)
	if err != nil {
		return 0, err
	}
	waits, receives := head[0], head[1]
	if waits < int64(len(ns)) || waits > int64(len(ns)+pingWarmMax) || receives != waits*int64(x.n-2) {
		return 0, errHandOver
	}
	w, err := recvWords(g, x.peer, int(waits+receives))
	if err != nil {
		return 0, err
	}
	x.waits = calls{timed: w[:waits], each: 1, n: int(waits)}
	x.receives = calls{timed: w[waits:], each: x.n - 2, n: int(receives)}
	for i, v := range x.waits.last(len(ns)) {
		ns[i] -= v
	}
	return float64(head[2]), nil
}
