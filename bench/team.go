package bench

import (
	"encoding/binary"
	"slices"
	"time"

	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/plane"
	"calib/internal/units"
)

// Team is one rank's part in what a team does at one point: its Group, what it records, and the point. Where a method
// of the Group fails, that of the Team ends the task (Check): no experiment can go on without a rank.
type Team struct {
	Group
	R *Recorder
	P Point
}

func (x Team) Send(to int, b []byte) { Check(x.Group.Send(to, b)) }

func (x Team) Recv(from int, b []byte) { Check(x.Group.Recv(from, b)) }

func (x Team) RecvAt(from int, b []byte) units.Nanos { return Must(x.Group.RecvAt(from, b)) }

func (x Team) RecvAny(b []byte) (from, n int, at units.Nanos) {
	from, n, at, err := x.Group.RecvAny(b)
	Check(err)
	return from, n, at
}

func (x Team) WaitUntil(t units.Nanos) { Check(x.Group.WaitUntil(t)) }

func (x Team) Counters(peer int) dataset.TCP { return Must(x.Group.Counters(peer)) }

func (x Team) Pending(from int) int { return Must(x.Group.Pending(from)) }

func (x Team) SendSome(to int, b []byte, patience units.Nanos) int {
	return Must(x.Group.SendSome(to, b, patience))
}

// Elapsed is the time since an earlier reading of the clock [ns].
func (x Team) Elapsed(since units.Nanos) int64 { return int64(x.Now() - since) }

// TimerCost is the median time of a timed section with nothing in it [ns].
func (x Team) TimerCost() float64 {
	const sections = 101
	var ns [sections]int64
	for i := range ns {
		ns[i] = x.Elapsed(x.Now())
	}
	slices.Sort(ns[:])
	return float64(ns[sections/2])
}

func (x Team) Root() bool { return x.Rank() == 0 }

// Ranks lists every rank.
func (x Team) Ranks() []int { return lists.Upto(x.Size()) }

// Start is what rank 0 tells the team before a timed section.
type Start struct {
	At     units.Nanos // on rank 0's clock
	Period units.Nanos // between repetitions, or length of a stream
	Reps   int
}

const startBytes = 3 * 8

// Announce gives every rank the start that rank 0 chose, in the rank's own time. The start lies far enough ahead for
// the message to reach every rank first. The experiment must have Clocks.
func (x Team) Announce(s Start) Start {
	b := x.R.start[:]
	if x.Root() {
		s.At = x.Now() + x.R.Clocks.MaxRTT()*units.Nanos(x.Size()) + 2*units.Millisecond
		PutNumbers(b, int64(s.At), int64(s.Period), int64(s.Reps))
		x.SendAll(b)
	} else {
		x.Recv(0, b)
		s = Start{units.Nanos(GetNumber(b)), units.Nanos(GetNumber(b[8:])), int(GetNumber(b[16:]))}
	}
	s.At = x.R.Clocks.ToLocal(x.Rank(), s.At)
	return s
}

// SendAll sends b from rank 0 to every other rank.
func (x Team) SendAll(b []byte) {
	for k := 1; k < x.Size(); k++ {
		x.Send(k, b)
	}
}

// RecvAll receives len(b) bytes from every rank but 0, in order, and calls f with each.
func (x Team) RecvAll(b []byte, f func(rank int)) {
	for k := 1; k < x.Size(); k++ {
		x.Recv(k, b)
		f(k)
	}
}

// reduce gives rank 0 every rank's v, joined; the others get their own back.
func (x Team) reduce(v int64, join func(a, b int64) int64) int64 {
	var b [8]byte
	if x.Root() {
		x.RecvAll(b[:], func(int) { v = join(v, GetNumber(b[:])) })
	} else {
		PutNumbers(b[:], v)
		x.Send(0, b[:])
	}
	return v
}

// allReduce gives every rank what reduce gives rank 0.
func (x Team) allReduce(v int64, join func(a, b int64) int64) int64 {
	var b [8]byte
	PutNumbers(b[:], x.reduce(v, join))
	if x.Root() {
		x.SendAll(b[:])
	} else {
		x.Recv(0, b[:])
	}
	return GetNumber(b[:])
}

func larger(a, b int64) int64  { return max(a, b) }
func smaller(a, b int64) int64 { return min(a, b) }
func sum(a, b int64) int64     { return a + b }

// MaxAtRoot gives rank 0 the largest of every rank's v; the others get their own back.
func (x Team) MaxAtRoot(v units.Nanos) units.Nanos { return units.Nanos(x.reduce(int64(v), larger)) }

// SumAtRoot gives rank 0 the sum of every rank's v; the others get their own back.
func (x Team) SumAtRoot(v int64) int64 { return x.reduce(v, sum) }

// Max gives every rank the largest of all ranks' v.
func (x Team) Max(v int64) int64 { return x.allReduce(v, larger) }

// Min gives every rank the smallest of all ranks' v.
func (x Team) Min(v int64) int64 { return x.allReduce(v, smaller) }

// Sum gives every rank the sum of all ranks' v.
func (x Team) Sum(v int64) int64 { return x.allReduce(v, sum) }

// Skip records, at rank 0, that the point would take too long.
func (x Team) Skip(estimate units.Nanos) {
	if x.Root() {
		x.Add(Batch{Phase: names.PhaseSkipped, Ranks: x.Ranks(), NS: []int64{int64(estimate)}})
	}
}

// Reopened runs f on connections with other options. After a failure the connections stay as they are: some ranks would
// not come to the second Reopen, and the team's connections are given up anyway.
func (x Team) Reopened(with plane.Socket, f func()) {
	Check(x.Reopen(with))
	f()
	Check(x.Reopen(plane.Socket{}))
}

// PutNumbers writes numbers to b, eight bytes each.
func PutNumbers(b []byte, numbers ...int64) {
	for i, v := range numbers {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
}

// GetNumbers reads what PutNumbers wrote.
func GetNumbers(b []byte, numbers []int64) {
	for i := range numbers {
		numbers[i] = GetNumber(b[8*i:])
	}
}

// Bit is the byte by which a rank tells another yes or no.
func Bit(yes bool) byte {
	if yes {
		return 1
	}
	return 0
}

func GetNumber(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }

// SendNumbers and RecvNumbers move a few numbers between ranks. They allocate: do not call them in a timed section.
func (x Team) SendNumbers(to int, numbers ...int64) {
	b := make([]byte, 8*len(numbers))
	PutNumbers(b, numbers...)
	x.Send(to, b)
}

func (x Team) RecvNumbers(from, n int) []int64 {
	b, numbers := make([]byte, 8*n), make([]int64, n)
	x.Recv(from, b)
	GetNumbers(b, numbers)
	return numbers
}

// CountersSince reads a peer's counters and subtracts those read before.
func (x Team) CountersSince(peer int, before dataset.TCP) *dataset.TCP {
	d := x.Counters(peer).Sub(before)
	return &d
}

// tcpFlags labels a batch by what the kernel counted during it. Retransmissions up to a share loss of the segments do
// not count.
func tcpFlags(t dataset.TCP, loss float64) []string {
	var f []string
	if float64(t.Retrans) > loss*float64(t.DataSegsOut) {
		f = append(f, dataset.FlagRetrans)
	}
	if t.Involuntary > 0 {
		f = append(f, dataset.FlagPreempt)
	}
	if t.StealTicks > 0 {
		f = append(f, dataset.FlagSteal)
	}
	return f
}

// Counters is how many counters a sender hands to the rank that writes the line: only the sender sees its
// retransmissions.
const Counters = 12

func counterList(t *dataset.TCP) [Counters]*int64 {
	return [Counters]*int64{&t.SegsOut, &t.SegsIn, &t.DataSegsOut, &t.DataSegsIn, &t.Retrans, &t.RwndLimited,
		&t.SndbufLimit, &t.Busy, &t.Cwnd, &t.RTT, &t.Involuntary, &t.StealTicks}
}

// CounterNumbers are the counters of t, to be sent.
func CounterNumbers(t *dataset.TCP) (numbers []int64) {
	for _, v := range counterList(t) {
		numbers = append(numbers, *v)
	}
	return numbers
}

// SetCounters overwrites the counters of t by CounterNumbers, and leaves its settings (congestion control, buffers).
func SetCounters(t *dataset.TCP, numbers []int64) {
	for i, v := range counterList(t) {
		*v = numbers[i]
	}
}

// LossBytes is the length of what SendLosses sends.
const LossBytes = 3 * 8

// SendLosses sends to a rank what only this one saw of a batch: its own retransmissions and its thread's lost time.
func (x Team) SendLosses(to int, t *dataset.TCP) {
	x.SendNumbers(to, t.Retrans, t.Involuntary, t.StealTicks)
}

// AddLosses adds what a rank sent by SendLosses to tcp.
func (x Team) AddLosses(from int, tcp *dataset.TCP) {
	n := x.RecvNumbers(from, LossBytes/8)
	tcp.Retrans += n[0]
	tcp.Involuntary += n[1]
	tcp.StealTicks = max(tcp.StealTicks, n[2])
}

// CountersOf sums those of the connections to some ranks.
func (x Team) CountersOf(peers []int) (t dataset.TCP) {
	for _, k := range peers {
		t = t.Add(x.Counters(k))
	}
	return t
}

// Push sends out to a peer that sends as well, in fragments, and reads what there is of in before each: so two ranks
// that send each other more than all buffers hold both come to an end. It returns when out is sent, with how much of in
// was read.
//
// When nothing is there and nothing can be sent, the next bytes will come: the peer reads what fills the way to it
// before it writes, and this rank has room for what the peer still has to send. Push ends when out is sent, or at the
// group's deadlines. Source: Strumpen 1994, section 3.1.3.
func Push(g plane.Mover, peer int, out, in []byte, fragment int) (got int) {
	for sent := 0; sent < len(out); {
		if got == len(in) {
			Check(g.Send(peer, out[sent:]))
			break
		}
		ready := min(Must(g.Pending(peer)), len(in)-got)
		if ready > 0 {
			Check(g.Recv(peer, in[got:got+ready]))
		}
		n := Must(g.SendSome(peer, out[sent:min(sent+fragment, len(out))], 0))
		if n == 0 && ready == 0 {
			ready = 1
			Check(g.Recv(peer, in[got:got+1]))
		}
		sent, got = sent+n, got+ready
	}
	return got
}

// LongestWait is after what time without a byte SendWhile gives up: longer than retransmission time-outs in a row.
const LongestWait = 8 * units.Second

// SendWhile sends b to a rank. While it cannot, it calls receive, which takes what has come and returns how many bytes
// that were. When nothing moves, it waits for room to send, as long as it has waited already, within bounds.
func (x Team) SendWhile(to int, b []byte, receive func() int) {
	const least, most = 50 * units.Microsecond, units.Millisecond
	var wait, since units.Nanos
	for rest := b; ; {
		n := x.SendSome(to, rest, wait)
		if rest = rest[n:]; len(rest) == 0 {
			return
		}
		if n+receive() > 0 {
			wait = 0
			continue
		}
		now := x.Now()
		if wait == 0 {
			since = now
		}
		if wait = min(max(now-since, least), most); now-since > LongestWait {
			Fail("send %d bytes to rank %d: it has taken none of the last %d within %v",
				len(b), to, len(rest), time.Duration(LongestWait))
		}
	}
}
