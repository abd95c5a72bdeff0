package remap

import (
	"fmt"
	"time"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// engine is one rank's thread: it injects, serves and receives. Messages begin with a byte that says what they are. It
// never waits for room without receiving what has come, so that ranks that send to each other do not wait for ever.
type engine struct {
	g    bench.Group
	size int                 // bytes of a message
	msgs [replies + 1][]byte // by kind
	in   []byte
	from []arriving // by rank
	out  []outgoing // to be sent, from index next on
	next int
	job  job
}

// Kinds of messages.
const (
	requests = iota
	replies
	finished // to rank 0: that rank has done its part; one byte
)

// arriving is how far the message that comes from a rank is.
type arriving struct {
	kind byte
	left int
}

// outgoing is what is left to send of a message.
type outgoing struct {
	to   int
	data []byte
}

// job is one rank's part of one remap.
type job struct {
	sync, root bool
	to         []int   // destinations
	at         []int64 // when each was injected, on this rank's clock
	due        []int   // requests that ranks send to this one in their first i injections
	ahead      int     // injections that may go before what was due by then has come
	others     int     // ranks that are not finished yet, at rank 0
	// What has been done.
	sent, received int
	waits          bool        // for a reply
	first          units.Nanos // when the first request had come
	log            arrivals    // of requests
}

// aheadBytes and the numbers beside it bound how far a rank's asynchronous injections run ahead of the others', as
// LogP's capacity of the network does.
const (
	aheadBytes            = 64 << 10
	leastAhead, mostAhead = 2, 16
)

func newEngine(g bench.Group, r *bench.Recorder, size int) *engine {
	e := &engine{g: g, size: size, in: make([]byte, min(size, 64<<10)), from: make([]arriving, g.Size())}
	for kind := range e.msgs {
		e.msgs[kind] = r.Payload(int64(size))
		e.msgs[kind][0] = byte(kind)
	}
	return e
}

// aheadOf is the window of messages of so many bytes.
func aheadOf(size int) int { return max(leastAhead, min(mostAhead, aheadBytes/size)) }

// newJob is this rank's part of a remap of n injections.
func (e *engine) newJob(p bench.Point, r *bench.Recorder, n int) job {
	j := job{sync: p[names.FactorSync] != 0, root: e.g.Rank() == 0, ahead: aheadOf(e.size), at: r.Buffer(n)}
	r.Charge(3 * 8 * int64(n)) // of this rank, of another, and due
	j.to, j.due = destinations(p, r.Task.Round, e.g.Rank(), make([]int, n)), make([]int, n+1)
	other := make([]int, n)
	for rank := range e.g.Size() {
		for i, to := range destinations(p, r.Task.Round, rank, other) {
			if to == e.g.Rank() {
				j.due[i+1]++
			}
		}
	}
	for i := range n {
		j.due[i+1] += j.due[i]
	}
	if !j.sync {
		j.log = newArrivals(r, j.expect()*(2+e.size/pieceBytes))
	}
	if j.root {
		j.others = e.g.Size() - 1
	}
	return j
}

// expect is how many requests come in all.
func (j *job) expect() int { return j.due[len(j.due)-1] }

// mayInject reports whether the next message may go out. Asynchronously, the rank that has injected least may always:
// what is due by then has been sent.
func (j *job) mayInject() bool {
	switch {
	case j.sent == len(j.to):
		return false
	case j.sync:
		return !j.waits
	}
	return j.received >= j.due[max(0, j.sent-j.ahead)]
}

// done reports whether the rank has sent and received all.
func (j *job) done() bool { return j.sent == len(j.to) && !j.waits && j.received == j.expect() }

// run does the rank's part.
func (e *engine) run() error {
	j := &e.job
	for {
		if j.mayInject() {
			j.at[j.sent] = int64(e.g.Now())
			e.out = append(e.out, outgoing{j.to[j.sent], e.msgs[requests]})
			j.sent, j.waits = j.sent+1, j.sync
		}
		if err := e.flush(); err != nil {
			return err
		}
		switch {
		case j.mayInject():
			continue
		case j.done():
			return nil
		}
		if err := e.receive(); err != nil {
			return err
		}
	}
}

// receive waits for something to come.
func (e *engine) receive() error {
	from, n, at, err := e.g.RecvAny(e.in)
	if err != nil {
		return err
	}
	return e.take(from, e.in[:n], at)
}

// take goes through bytes that have come.
func (e *engine) take(from int, b []byte, at units.Nanos) error {
	a := &e.from[from]
	for len(b) > 0 {
		if a.left == 0 {
			if a.kind, a.left = b[0], e.size; a.kind == finished {
				a.left = 1
			}
		}
		n := min(a.left, len(b))
		a.left, b = a.left-n, b[n:]
		if a.kind == requests {
			e.job.log.add(int64(at), int64(n))
		}
		if a.left == 0 {
			if err := e.have(from, a.kind, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// have is called with every message that has come as a whole.
func (e *engine) have(from int, kind byte, at units.Nanos) error {
	j := &e.job
	switch kind {
	case requests:
		if j.received++; j.received == 1 {
			j.first = at
		}
		if j.sync {
			e.out = append(e.out, outgoing{from, e.msgs[replies]})
		}
	case replies:
		j.waits = false
	case finished:
		j.others--
	default:
		return fmt.Errorf("rank %d sent a message of kind %d, which there is not", from, kind)
	}
	return nil
}

// flush sends all of out, and receives what has come while it cannot.
func (e *engine) flush() error {
	var since, wait units.Nanos // since when nothing moves, and how long to wait for it; 0 while something does
	for e.next < len(e.out) {
		o := &e.out[e.next]
		n, err := e.g.SendSome(o.to, o.data, wait)
		if err != nil {
			return err
		}
		if o.data = o.data[n:]; len(o.data) == 0 {
			e.next++
			since, wait = 0, 0
			continue
		}
		to, left := o.to, len(o.data)
		got, err := e.drain()
		if err != nil {
			return err
		}
		if n+got > 0 {
			since, wait = 0, 0
			continue
		}
		now := e.g.Now()
		if wait == 0 {
			since = now
		}
		if now-since > longestWait {
			return fmt.Errorf("send %d bytes to rank %d: it has taken none of the last %d within %v", e.size, to, left, time.Duration(longestWait))
		}
		wait = min(max(now-since, minWait), maxWait)
	}
	e.out, e.next = e.out[:0], 0
	return nil
}

const (
	// A rank that can neither send nor receive waits as long as it has waited already, within these bounds.
	minWait = 50 * units.Microsecond
	maxWait = units.Millisecond
	// longestWait is after what time without a byte a remap is given up: longer than retransmission time-outs in a row.
	longestWait = 8 * units.Second
)

// drain receives what is there, and returns how many bytes that were.
func (e *engine) drain() (total int, err error) {
	for k := range e.g.Size() {
		if k == e.g.Rank() {
			continue
		}
		n, err := e.g.Pending(k)
		if err != nil {
			return total, err
		}
		for n > 0 {
			b := e.in[:min(n, len(e.in))]
			at, err := e.g.RecvAt(k, b)
			if err != nil {
				return total, err
			}
			if err := e.take(k, b, at); err != nil {
				return total, err
			}
			n, total = n-len(b), total+len(b)
		}
	}
	return total, nil
}
