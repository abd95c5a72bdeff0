// Package flow is one-way traffic from one sender to one receiver, or to several in turn: the roles of the ranks,
// streams of messages sent back to back, and streams of bytes. Its experiments are paired and gap.
package flow

import (
	"sort"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/lists"
	"calib/internal/units"
)

const (
	streamTries = 3    // of which all but the last are warm-up
	windowShare = 0.02 // of a stream that its receiver's window may limit
)

// stream is one direction of a stream of equal messages, its chunks. Several receivers get them in turn, so that each
// sees the sender's rate divided by their number, and none of their ports need carry all of it.
type stream struct {
	Role
	chunk []byte
	most  int // chunks in all
	// ahead bounds what is sent by a multiple of what the path carries in the stream's time at the trial's rate: a deep
	// send buffer would take much more, and all of it must arrive before the batch ends.
	ahead float64
}

// told is what the sender of a stream tells its receivers when all has arrived.
const (
	// toldSent is how many chunks were sent.
	toldSent = iota
	// toldTime is the time of a send once the stream is steady [ns]. It is 0 where the sender had sent all it may
	// before the end, so that its buffer may have had room to the last.
	toldTime
	toldNumbers
)

// likelyTries is how often a stream is run on average, because the first one only opened the windows.
const likelyTries = 1.5

// streamTime is how long a stream of messages of so many bytes is expected to take. It ends early where the most
// messages are sent before: a host takes about half of a path's latency for one.
func streamTime(l bench.Limits, bytes int64, most int) units.Nanos {
	path := l.OnPath()
	ofBytes := units.Nanos(float64(bytes) * path.PerByte * path.Sharing(1))
	per := max(path.Latency/10, ofBytes)
	all := max(path.Latency/2, ofBytes) * units.Nanos(most)
	length := min(max(per*gapWindow, l.Effort.StreamTime()), bench.MaxStream, all)
	start := path.Start(2)
	return start + path.Latency + per*gapTrial + units.Nanos(likelyTries*float64(start+length))
}

type streamed struct {
	bench.Start
	done []int64 // at a receiver, the completions
	tcp  *dataset.TCP
	told [toldNumbers]int64
	open bool // the receiver's window did not limit the sender
}

// run streams from a common start to a common end, or until the sender has sent its most chunks.
func (x stream) run() streamed {
	// A few chunks for each receiver tell how long one takes, and open the congestion windows.
	longest := x.Max(int64(x.span(gapTrial, x.chunk)) / int64((gapTrial-1)*len(x.To)))
	plan := bench.Start{Period: min(max(units.Nanos(longest)*gapWindow, x.R.StreamTime()), bench.MaxStream), Reps: x.most}
	if longest > 0 {
		plan.Reps = int(min(x.ahead*float64(plan.Period)/float64(longest), float64(x.most)))
	}
	stamps := []int64(nil)
	if !x.Sends() {
		stamps = x.R.Buffer(x.most)
	}
	// A receiver's window grows with what it reads. While the window limits sending, the path does not, and segments
	// are cut to fit it: such a stream is a warm-up.
	for try := 1; ; try++ {
		s := streamed{Start: x.Announce(plan)}
		x.once(&s, stamps)
		limited := x.Max(s.tcp.RwndLimited * int64(units.Microsecond))
		s.open = float64(limited) <= windowShare*float64(s.Period)
		if s.open || try == streamTries {
			return s
		}
	}
}

// once runs one announced stream. A receiver gets the completions and the sender's counters, a sender its counters.
func (x stream) once(s *streamed, stamps []int64) {
	before := x.AllCounters()
	if x.Sends() {
		x.send(s)
	} else {
		// To the marked chunk, as many as stamps has room for, or to the group's receive deadline.
		for s.done, x.chunk[0] = stamps[:0], 0; x.chunk[0] == 0 && len(s.done) < len(stamps); {
			s.done = append(s.done, int64(x.RecvAt(x.From, x.chunk)))
		}
	}
	// The sender goes on when its receivers have all of the stream: then it has counted every segment.
	var b [1]byte
	for _, peer := range x.peers() {
		if x.Sends() {
			x.Recv(peer, b[:])
		} else {
			x.Send(peer, b[:])
		}
	}
	s.tcp = x.HandOver(s.told[:], before)
}

// send sends chunks until the end of the stream, and marks the last of each receiver. It ends there, or when a receiver
// stops taking.
func (x stream) send(s *streamed) {
	ramp, end := s.At+units.Nanos(bench.RampShare*float64(s.Period)), s.At+s.Period
	var ramped, last struct {
		sent int
		at   units.Nanos
	}
	x.chunk[0] = 0
	x.WaitUntil(s.At)
	sent, n := 0, len(x.To)
	for ; sent < s.Reps-n || sent%n > 0; sent++ {
		if sent%n == 0 {
			now := x.Now()
			last.sent, last.at = sent, now
			if now >= end {
				break
			}
			if ramped.at == 0 && now >= ramp {
				ramped = last
			}
		}
		x.Send(x.To[sent%n], x.chunk)
	}
	x.chunk[0] = 1
	for _, peer := range x.To {
		x.Send(peer, x.chunk)
	}
	s.told[toldSent] = int64(sent + n)
	if in := last.sent - ramped.sent; ramped.at != 0 && last.at >= end && in > 0 {
		s.told[toldTime] = int64(last.at-ramped.at) / int64(in)
	}
}

// part is the part of a stream from one time to another.
type part struct {
	ns       []int64 // intervals between completions, each the mean of some neighbours,
	averaged int     // so many
	window   int64   // length of the part [ns]; 0 where the stream does not reach over it
	chunks   float64 // complete in it, parts of one included
}

// between takes the completions from lo to hi.
func (s streamed) between(lo, hi int64) (p part) {
	first, last := sort.Search(len(s.done), func(i int) bool { return s.done[i] >= lo }),
		sort.Search(len(s.done), func(i int) bool { return s.done[i] > hi })
	p.ns, p.averaged = bench.Intervals(s.done[first:last])
	if first > 0 && last < len(s.done) {
		p.window = hi - lo
		p.chunks = progressAt(s.done, last, hi) - progressAt(s.done, first, lo)
	}
	return p
}

// slice replaces the intervals by those of n equal slices of the window, which ends at hi: the length of a slice over
// the chunks that were complete in it, parts of one included.
func (p *part) slice(done []int64, hi int64, n int) {
	p.ns, p.averaged = nil, max(1, int(p.chunks)/n)
	before := 0.0
	for i := range n + 1 {
		t := hi - p.window + p.window*int64(i)/int64(n)
		next := sort.Search(len(done), func(i int) bool { return done[i] >= t })
		if p.chunks < float64(n) || next == 0 || next == len(done) {
			continue
		}
		now := progressAt(done, next, t)
		if i > 0 && now > before {
			p.ns = append(p.ns, int64(float64(p.window)/float64(n)/(now-before)+0.5))
		}
		before = now
	}
}

// flags labels a stream that something else than the path limited, or that has too little in its window.
func (s streamed) flags(p part) (f []string) {
	if !s.open {
		f = append(f, dataset.FlagWindow)
	}
	if len(p.ns) < 2 {
		f = append(f, dataset.FlagUnsteady)
	}
	return f
}

// progressAt is how many chunks were complete at t, the part of the next one included: done[next−1] < t ≤ done[next].
func progressAt(done []int64, next int, t int64) float64 {
	part := float64(t-done[next-1]) / float64(max(1, done[next]-done[next-1]))
	return float64(next) + part
}

// Role is one rank's place in a batch.
type Role struct {
	bench.Team
	Direction int   // 0, 1, …: which rank of the team, or of each pair, sends
	From      int   // the sender's rank
	To        []int // the receivers of that sender
}

// inPairs is a rank's place among pairs: direction 0 sends from even to odd ranks, direction 1 back.
func inPairs(x bench.Team, direction int) Role {
	from := x.Rank()&^1 | direction
	return Role{Team: x, Direction: direction, From: from, To: []int{from ^ 1}}
}

func BothDirections(x bench.Team, f func(Role)) {
	for direction := range 2 {
		f(inPairs(x, direction))
	}
}

func (x Role) Sends() bool { return x.Rank() == x.From }

// Peer is the sender, or for the sender its first receiver.
func (x Role) Peer() int { return x.peers()[0] }

// peers are all that this rank exchanges messages with.
func (x Role) peers() []int {
	if x.Sends() {
		return x.To
	}
	return []int{x.From}
}

// Batch is a line of this rank with its peer first: at a receiver, sender and receiver.
func (x Role) Batch(phase string, ns []int64, tcp *dataset.TCP) bench.Batch {
	return bench.Batch{
		Phase: phase, Ranks: []int{x.Peer(), x.Rank()}, NS: ns, TCP: tcp,
		Aux: map[string]float64{names.AuxDirection: float64(x.Direction)},
	}
}

// AllCounters reads those of every peer.
func (x Role) AllCounters() []dataset.TCP { return lists.Map(x.peers(), x.Counters) }

// trip gives every rank the longest of the smallest round trips between senders and their peers.
func (x Role) trip() units.Nanos {
	return units.Nanos(x.Max(x.Counters(x.Peer()).MinRTT * int64(units.Microsecond)))
}

// HandOver moves the sender's numbers and counters to each receiver, which returns them. before is by peer.
func (x Role) HandOver(numbers []int64, before []dataset.TCP) (sent *dataset.TCP) {
	for i, peer := range x.peers() {
		sent = x.CountersSince(peer, before[i])
		x.hand(peer, numbers, sent)
	}
	return sent
}

// hand overwrites a receiver's numbers and counters by those of the sender. How the receiver's thread was disturbed is
// kept where that is worse.
func (x Role) hand(peer int, numbers []int64, tcp *dataset.TCP) {
	if x.Sends() {
		x.SendNumbers(peer, append(numbers[:len(numbers):len(numbers)], bench.CounterNumbers(tcp)...)...)
		return
	}
	got, own := x.RecvNumbers(peer, len(numbers)+bench.Counters), *tcp
	bench.SetCounters(tcp, got[copy(numbers, got):])
	tcp.Retrans += own.Retrans
	tcp.Involuntary, tcp.StealTicks = max(tcp.Involuntary, own.Involuntary), max(tcp.StealTicks, own.StealTicks)
}

// RecvSpan receives n messages of len(b) bytes from the sender. It returns the time from the first to the last.
func (x Role) RecvSpan(n int, b []byte) units.Nanos {
	var first units.Nanos
	for i := range n {
		x.Recv(x.From, b)
		if i == 0 {
			first = x.Now()
		}
	}
	return x.Now() - first
}

// span sends n messages of b to each receiver in turn, or receives them and returns the time from the first to the
// last.
func (x Role) span(n int, b []byte) units.Nanos {
	if !x.Sends() {
		return x.RecvSpan(n, b)
	}
	for i := range n * len(x.To) {
		x.Send(x.To[i%len(x.To)], b)
	}
	return 0
}
