package flow

import (
	"sort"

	"calib/bench"
	"calib/internal/dataset"
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
	trial int // chunks whose time sets the length of the stream
	least int // chunks in that length, at the trial's rate
	most  int // chunks in all
	// ahead bounds what is sent by a multiple of what the path carries in the stream's time at the trial's rate: a deep
	// send buffer would take much more, and all of it must arrive before the batch ends. The sender then tells its
	// receivers what it saw when all has arrived. With 0 it may instead not fill a send buffer that takes the path long
	// to empty; the time of a send then says nothing of the host.
	ahead float64
}

// told is what the sender of a stream with ahead tells its receivers.
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

// streamTime is how long a stream of messages of so many bytes is expected to take while n pairs have one each.
func streamTime(l bench.Limits, bytes int64, n, trial, least int) units.Nanos {
	path := l.OnPath()
	per := max(path.Latency/10, units.Nanos(float64(bytes)*path.PerByte*path.Sharing(n)))
	length := min(max(per*units.Nanos(least), l.Effort.StreamTime()), bench.MaxStream)
	start := path.Start(2 * n)
	return start + path.Latency + per*units.Nanos(trial) + units.Nanos(likelyTries*float64(start+length))
}

// streamed is what was seen of a stream.
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
	longest := x.Max(int64(x.span(x.trial, x.chunk)) / int64((x.trial-1)*len(x.To)))
	trial := units.Nanos(longest) * units.Nanos(x.least)
	plan := bench.Start{Period: min(max(trial, x.R.StreamTime()), bench.MaxStream)}
	if x.ahead > 0 && trial > 0 {
		fits := x.ahead * float64(x.least) * float64(plan.Period) / float64(trial)
		plan.Reps = int(min(fits, float64(x.most)))
	}
	if x.ahead == 0 {
		perByte := float64(max(1, longest)) / float64(len(x.chunk))
		trial := units.Bytes((x.trial - 1) * len(x.chunk))
		x.limit(unsentIn(plan.Period, perByte), roomIn(plan.Period, x.trip(), perByte, trial))
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
			if x.ahead == 0 {
				x.limit(0, 0)
			}
			return s
		}
	}
}

// limit bounds what a sender's connections hold unsent, and what they have on its way.
func (x stream) limit(unsent, room int64) {
	if x.Sends() {
		for _, peer := range x.To {
			bench.Check(x.Bound(peer, unsent, room))
		}
	}
}

// once runs one announced stream. A receiver gets the completions and the sender's counters, a sender its counters.
func (x stream) once(s *streamed, stamps []int64) {
	before := x.AllCounters()
	if x.Sends() {
		x.send(s)
	} else {
		s.done = x.receive(stamps)
	}
	var told []int64
	if x.ahead > 0 { // the sender goes on when its receivers have all of the stream: its counters then hold every segment
		told = s.told[:]
		var b [1]byte
		for _, peer := range x.peers() {
			if x.Sends() {
				x.Recv(peer, b[:])
			} else {
				x.Send(peer, b[:])
			}
		}
	}
	s.tcp = x.HandOver(told, before)
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
	most := x.most
	if s.Reps > 0 {
		most = min(most, s.Reps)
	}
	sent, turn := 0, 0
	for ; sent < most-len(x.To) || turn > 0; sent++ {
		if turn == 0 {
			now := x.Now()
			last.sent, last.at = sent, now
			if now >= end {
				break
			}
			if ramped.at == 0 && now >= ramp {
				ramped = last
			}
		}
		x.Send(x.To[turn], x.chunk)
		if turn++; turn == len(x.To) {
			turn = 0
		}
	}
	x.chunk[0] = 1
	for _, peer := range x.To {
		x.Send(peer, x.chunk)
	}
	s.told[toldSent] = int64(sent + len(x.To))
	if n := last.sent - ramped.sent; ramped.at != 0 && last.at >= end && n > 0 {
		s.told[toldTime] = int64(last.at-ramped.at) / int64(n)
	}
}

// receive receives until the marked chunk and returns the completion of each. It ends there, after as many as at has
// room for, or at the group's receive deadline.
func (x stream) receive(at []int64) []int64 {
	for i := range at {
		at[i] = int64(x.RecvAt(x.From, x.chunk))
		if x.chunk[0] == 1 {
			return at[:i+1]
		}
	}
	return at
}

// part is the part of a stream from one time to another.
type part struct {
	ns       []int64 // intervals between completions, each the mean of some neighbours,
	averaged int     // so many
	window   int64   // length of the part [ns]; 0 where the stream does not reach over it
	chunks   float64 // complete in it, parts of one included
}

// between takes the completions from lo to hi.
func (s streamed) between(lo, hi int64) part {
	done := s.done
	first, last := sort.Search(len(done), func(i int) bool { return done[i] >= lo }),
		sort.Search(len(done), func(i int) bool { return done[i] > hi })
	in := done[first:last]
	var p part
	p.ns, p.averaged = bench.Intervals(in)
	if first > 0 && last < len(done) {
		p.window = hi - lo
		p.chunks = progressAt(done, last, hi) - progressAt(done, first, lo)
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
		if p.window == 0 || next == 0 || next == len(done) {
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
