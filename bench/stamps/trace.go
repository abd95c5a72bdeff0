package stamps

import (
	"calib/bench"
	"calib/bench/roundtrip"
	"calib/internal/plane"
	"calib/internal/units"
)

// stampPatience is how long a rank waits for the stamps of a message that its peer has already received. An interface hands its
// own over after an interrupt. The wait is in no time that is recorded.
const stampPatience = 200 * units.Microsecond

// columns of a trace: what one rank knows of its exchanges.
const (
	began      = iota // before the sending call, on the clock of Now
	returned          // after it
	scheduled         // stamps of the message that it sent
	sent              //
	nicSent           //
	taken             // stamps of the message that it received
	nicArrived        //
	received          // after the receiving call
	asked             // before the receiving call, where the message was there
	columns
)

// trace holds the last exchanges of a rank, as many as it has room for.
type trace struct {
	rows [][columns]int64
	n    int // exchanges so far
}

func newTrace(room int) trace {
	t := trace{rows: make([][columns]int64, room)}
	clear(t.rows) // of a fresh page the first store is slow
	return t
}

// row is that of exchange i.
func (t *trace) row(i int) *[columns]int64 { return &t.rows[i%len(t.rows)] }

// last lists the values of the last n exchanges, row by row.
func (t *trace) last(n int) []int64 {
	out := make([]int64, 0, n*columns)
	for i := t.n - n; i < t.n; i++ {
		out = append(out, t.row(i)[:]...)
	}
	return out
}

// exchange is one message there and back, with the stamps of both. It implements roundtrip.Exchange.
type exchange struct {
	stamper Stamper
	peer    int
	msg     []byte
	polls   bool
	ready   bool // receive only what is there already
	trace   trace
	unread  bool // the stamps of the follower's last message
}

// Lead implements roundtrip.Exchange.
func (x *exchange) Lead(g bench.Group, last bool) (roundtrip.Trip, error) {
	x.msg[0] = roundtrip.LastMark(last)
	row := x.trace.row(x.trace.n)
	if err := x.send(g, row); err != nil {
		return roundtrip.Trip{}, err
	}
	if err := x.receive(g, row); err != nil {
		return roundtrip.Trip{}, err
	}
	took := row[received] - row[began]
	x.trace.n++
	return roundtrip.Trip{NS: took / 2, Took: took}, x.departure(row)
}

// Follow implements roundtrip.Exchange. The stamps of its message are read when the next has come: the peer waits for its
// message, and not for what a rank does after it has sent.
func (x *exchange) Follow(g bench.Group) (last bool, err error) {
	row := x.trace.row(x.trace.n)
	if err := x.receive(g, row); err != nil {
		return false, err
	}
	last = x.msg[0] == roundtrip.LastMark(true)
	if x.unread {
		if err := x.departure(x.trace.row(x.trace.n - 1)); err != nil {
			return false, err
		}
	}
	if err := x.send(g, row); err != nil {
		return false, err
	}
	x.trace.n++
	if x.unread = !last; last {
		return true, x.departure(row)
	}
	return false, nil
}

func (x *exchange) send(g bench.Group, row *[columns]int64) error {
	row[began] = int64(g.Now())
	if err := g.Send(x.peer, x.msg); err != nil {
		return err
	}
	row[returned] = int64(g.Now())
	return nil
}

func (x *exchange) receive(g bench.Group, row *[columns]int64) error {
	row[asked] = 0
	if x.ready {
		there, err := bench.Await(g, x.peer, len(x.msg))
		if err != nil {
			return err
		}
		if there {
			row[asked] = int64(g.Now())
		}
	}
	at, err := x.stamper.RecvStamped(x.peer, x.msg, x.polls)
	if err != nil {
		return err
	}
	row[received] = int64(g.Now())
	x.arrived(row, at)
	return nil
}

func (x *exchange) arrived(row *[columns]int64, at plane.Arrival) {
	row[taken], row[nicArrived] = int64(at.Taken), int64(at.NIC)
}

func (x *exchange) departure(row *[columns]int64) error {
	d, err := x.stamper.Departure(x.peer, stampPatience)
	row[scheduled], row[sent], row[nicSent] = int64(d.Scheduled), int64(d.Sent), int64(d.NIC)
	return err
}
