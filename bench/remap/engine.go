package remap

import (
	"slices"

	"calib/bench"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// engine is one rank's thread: it injects, serves and receives. Messages begin with a byte that says what they are. It
// never waits for room without receiving what has come, so that ranks that send to each other do not wait for ever.
type engine struct {
	bench.Team
	others []int               // ranks
	size   int                 // bytes of a message
	msgs   [replies + 1][]byte // by kind
	in     []byte
	from   []arriving // by rank
	out    []outgoing // to be sent
	job    job
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

// outgoing is a message to be sent.
type outgoing struct {
	to   int
	data []byte
}

// job is one rank's part of one remap.
type job struct {
	sync   bool
	to     []int   // destinations
	at     []int64 // when each was injected, on this rank's clock
	due    []int   // requests that ranks send to this one in their first i injections
	ahead  int     // messages that may be under way
	others int     // ranks that are not finished yet, at rank 0
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

func newEngine(x bench.Team) *engine {
	size := int(x.P[names.FactorBytes])
	e := &engine{Team: x, size: size, in: make([]byte, min(size, 64<<10)), from: make([]arriving, x.Size())}
	for kind := range e.msgs {
		e.msgs[kind] = x.R.Payload(int64(size))
		e.msgs[kind][0] = byte(kind)
	}
	e.others = slices.Delete(x.Ranks(), x.Rank(), x.Rank()+1)
	return e
}

// aheadOf is the window of messages of so many bytes.
func aheadOf(size int) int { return max(leastAhead, min(mostAhead, aheadBytes/size)) }

// newJob is this rank's part of a remap of n injections.
func (e *engine) newJob(n int) job {
	j := job{sync: e.P[names.FactorSync] != 0, ahead: aheadOf(e.size), at: e.R.Buffer(n)}
	e.R.Charge(3 * 8 * int64(n)) // of this rank, of another, and due
	j.to, j.due = destinations(e.P, e.R.Task.Round, e.Rank(), make([]int, n)), make([]int, n+1)
	other := make([]int, n)
	for rank := range e.Size() {
		for i, to := range destinations(e.P, e.R.Task.Round, rank, other) {
			if to == e.Rank() {
				j.due[i+1]++
			}
		}
	}
	for i := range n {
		j.due[i+1] += j.due[i]
	}
	if !j.sync {
		j.log = newArrivals(e.R, j.expect()*(2+e.size/pieceBytes))
	}
	if e.Root() {
		j.others = len(e.others)
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
	return j.received >= j.due[max(0, j.sent+1-j.ahead)]
}

func (j *job) done() bool { return j.sent == len(j.to) && !j.waits && j.received == j.expect() }

// run does the rank's part.
func (e *engine) run() {
	j := &e.job
	for {
		if j.mayInject() {
			j.at[j.sent] = int64(e.Now())
			e.out = append(e.out, outgoing{j.to[j.sent], e.msgs[requests]})
			j.sent, j.waits = j.sent+1, j.sync
		}
		e.flush()
		switch {
		case j.mayInject():
			continue
		case j.done():
			return
		}
		e.receive()
	}
}

// receive waits for something to come.
func (e *engine) receive() {
	from, n, at := e.RecvAny(e.in)
	e.take(from, e.in[:n], at)
}

// take goes through bytes that have come.
func (e *engine) take(from int, b []byte, at units.Nanos) {
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
			e.have(from, a.kind, at)
		}
	}
}

// have is called with every message that has come as a whole.
func (e *engine) have(from int, kind byte, at units.Nanos) {
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
		bench.Fail("rank %d sent a message of kind %d, which there is not", from, kind)
	}
}

// flush sends all of out, and receives what has come while it cannot.
func (e *engine) flush() {
	for i := 0; i < len(e.out); i++ { // it grows meanwhile
		e.SendWhile(e.out[i].to, e.out[i].data, e.drain)
	}
	e.out = e.out[:0]
}

// drain receives what is there, and returns how many bytes that were.
func (e *engine) drain() (total int) {
	for _, k := range e.others {
		for n := e.Pending(k); n > 0; {
			b := e.in[:min(n, len(e.in))]
			at := e.RecvAt(k, b)
			e.take(k, b, at)
			n, total = n-len(b), total+len(b)
		}
	}
	return total
}

// arrivals is what came to a rank, piece by piece: when [ns], and how many bytes had come by then. When it is full,
// later pieces are taken to have come with the last.
type arrivals struct{ at, sum []int64 }

// pieceBytes is about how much of a message comes at a time, at least.
const pieceBytes = 1400

func newArrivals(r *bench.Recorder, pieces int) arrivals {
	return arrivals{r.Buffer(pieces)[:0], r.Buffer(pieces)[:0]}
}

// add notes n bytes.
func (a *arrivals) add(at, n int64) {
	last := len(a.at) - 1
	if last >= 0 {
		n += a.sum[last]
	}
	if len(a.at) < cap(a.at) {
		a.at, a.sum = append(a.at, at), append(a.sum, n)
	} else if last >= 0 {
		a.at[last], a.sum[last] = at, n
	}
}

// by is how many bytes had come at a time.
func (a *arrivals) by(t int64) int64 {
	i, _ := slices.BinarySearch(a.at, t+1)
	if i == 0 {
		return 0
	}
	return a.sum[i-1]
}

// between is how many bytes came after lo, until hi.
func (a *arrivals) between(lo, hi int64) int64 { return max(0, a.by(hi)-a.by(lo)) }
