package bench

import (
	"sort"

	"calib/internal/dataset"
	"calib/internal/units"
)

const (
	maxIntervals = 200 // raw times kept of one stream; beyond that each is the mean of some neighbours
	rampShare    = 0.3 // of a stream that is left out while windows grow and queues fill
	maxStream    = 6 * units.Second
	streamTries  = 3    // of which all but the last are warm-up
	windowShare  = 0.02 // of a stream that its receiver's window may limit
)

func streamWindow(r *Recorder) units.Nanos {
	return units.Nanos(r.Reps(int(250*units.Millisecond), int(60*units.Millisecond)))
}

// flow is one direction of a stream of equal messages, its chunks. Several receivers get them in turn, so that each sees the
// sender's pace divided by their number, and none of their ports need carry all of it.
type flow struct {
	pairRole
	chunk []byte
	trial int // chunks whose time sets the length of the stream
	least int // chunks in that length, at the trial's rate
	most  int // chunks in all
	// ahead, if not 0, bounds what is sent by a multiple of what the path carries in the stream's time at the trial's rate:
	// a deep send buffer would take much more, and all of it must come to its end.
	ahead float64
	// note, if not nil, is what the sender hands its receiver of its own side, noteWords, when all has arrived.
	note []int64
}

// What flow.note holds: how many chunks were sent, and the time of a send once the stream is steady [ns], 0 where the
// sender had sent all it may before the end, so that its buffer may have had room to the last.
const (
	noteSent = iota
	noteTime
	noteWords
)

// flowed is what was seen of a flow.
type flowed struct {
	start
	done []int64 // at a receiver, the completions
	tcp  *dataset.TCP
	open bool // the receiver's window did not limit the sender
}

// run streams from a common start to a common end, or until the sender has sent most chunks.
func (x flow) run() (flowed, error) {
	per, err := x.chunkTime()
	if err != nil {
		return flowed{}, err
	}
	trial, err := x.largest(per * units.Nanos(x.least))
	if err != nil {
		return flowed{}, err
	}
	plan := start{Period: min(max(trial, streamWindow(x.r)), maxStream)}
	if x.ahead > 0 && trial > 0 {
		fits := x.ahead * float64(x.least) * float64(plan.Period) / float64(trial)
		plan.Reps = int(min(fits, float64(x.most)))
	}
	stamps := []int64(nil)
	if !x.sender() {
		stamps = x.r.Buffer(x.most)
	}
	// A receiver's window grows with what it reads. While it is what limits sending, the path is not, and segments are
	// cut to fit it: such a stream is a warm-up.
	for try := 1; ; try++ {
		s, err := x.announce(plan)
		if err != nil {
			return flowed{}, err
		}
		done, tcp, err := x.once(s, stamps)
		if err != nil {
			return flowed{}, err
		}
		limited, err := x.everyone(units.Nanos(tcp.RwndLimited) * units.Microsecond)
		if err != nil {
			return flowed{}, err
		}
		open := float64(limited) <= windowShare*float64(s.Period)
		if open || try == streamTries {
			return flowed{s, done, tcp, open}, nil
		}
	}
}

// once runs one announced stream. A receiver gets the completions and the sender's counters, a sender its counters.
func (x flow) once(s start, stamps []int64) (done []int64, tcp *dataset.TCP, err error) {
	before, err := x.counters()
	if err != nil {
		return nil, nil, err
	}
	if x.sender() {
		err = x.pour(s)
	} else {
		done, err = x.drain(stamps)
	}
	if err == nil && x.note != nil {
		err = x.emptied()
	}
	if err != nil {
		return nil, nil, err
	}
	tcp, err = x.handOver(x.note, before)
	return done, tcp, err
}

// emptied lets the sender go on when its receivers have all of the stream, so that its counters hold every segment.
func (x flow) emptied() error {
	var b [1]byte
	if !x.sender() {
		return x.g.Send(x.from, b[:])
	}
	for _, peer := range x.to {
		if err := x.g.Recv(peer, b[:]); err != nil {
			return err
		}
	}
	return nil
}

// chunkTime times a few chunks for each receiver, which also opens the congestion windows. A sender returns zero.
func (x flow) chunkTime() (units.Nanos, error) {
	if x.sender() {
		for i := range x.trial * len(x.to) {
			if err := x.g.Send(x.to[i%len(x.to)], x.chunk); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}
	var first units.Nanos
	for i := range x.trial {
		if err := x.g.Recv(x.from, x.chunk); err != nil {
			return 0, err
		}
		if i == 0 {
			first = x.g.Now()
		}
	}
	return (x.g.Now() - first) / units.Nanos((x.trial-1)*len(x.to)), nil
}

// pour sends chunks until the end of the stream, and marks the last of each receiver. It ends there, or when a receiver
// stops taking.
func (x flow) pour(s start) error {
	ramp, end := s.At+units.Nanos(rampShare*float64(s.Period)), s.At+s.Period
	var ramped, last struct {
		sent int
		at   units.Nanos
	}
	x.chunk[0] = 0
	if err := x.g.WaitUntil(s.At); err != nil {
		return err
	}
	most := x.most
	if s.Reps > 0 {
		most = min(most, s.Reps)
	}
	sent, turn := 0, 0
	for ; sent < most-len(x.to) || turn > 0; sent++ {
		if turn == 0 {
			now := x.g.Now()
			last.sent, last.at = sent, now
			if now >= end {
				break
			}
			if ramped.at == 0 && now >= ramp {
				ramped = last
			}
		}
		if err := x.g.Send(x.to[turn], x.chunk); err != nil {
			return err
		}
		if turn++; turn == len(x.to) {
			turn = 0
		}
	}
	x.chunk[0] = 1
	for _, peer := range x.to {
		if err := x.g.Send(peer, x.chunk); err != nil {
			return err
		}
	}
	if x.note != nil {
		x.note[noteSent], x.note[noteTime] = int64(sent+len(x.to)), 0
		if n := last.sent - ramped.sent; ramped.at != 0 && last.at >= end && n > 0 {
			x.note[noteTime] = int64(last.at-ramped.at) / int64(n)
		}
	}
	return nil
}

// drain receives until the marked chunk and returns the completion of each. It ends there, after as many as at has room
// for, or at the group's receive deadline.
func (x flow) drain(at []int64) ([]int64, error) {
	peer := x.peer()
	for i := range at {
		arrived, err := x.g.RecvAt(peer, x.chunk)
		if err != nil {
			return nil, err
		}
		at[i] = int64(arrived)
		if x.chunk[0] == 1 {
			return at[:i+1], nil
		}
	}
	return at, nil
}

// steady is the part of a stream from lo to hi, and what it says.
type steady struct {
	ns       []int64 // intervals between completions, each the mean of some neighbours,
	averaged int     // so many
	window   int64   // [ns]; 0 where the stream does not reach over it
	chunks   float64 // complete in the window, parts of one included
}

// steadyPart takes the completions from lo to hi.
func steadyPart(done []int64, lo, hi int64) steady {
	first, last := sort.Search(len(done), func(i int) bool { return done[i] >= lo }),
		sort.Search(len(done), func(i int) bool { return done[i] > hi })
	in := done[first:last]
	p := steady{averaged: max(1, (len(in)+maxIntervals-1)/maxIntervals)}
	for i := p.averaged; i < len(in); i += p.averaged {
		p.ns = append(p.ns, (in[i]-in[i-p.averaged])/int64(p.averaged))
	}
	if first > 0 && last < len(done) {
		p.window = hi - lo
		p.chunks = progressAt(done, last, hi) - progressAt(done, first, lo)
	}
	return p
}

// streamFlags labels a stream that something else than the path limited, or that has too little in its window.
func streamFlags(part steady, open bool) []string {
	var f []string
	if !open {
		f = append(f, dataset.FlagWindow)
	}
	if len(part.ns) < 2 {
		f = append(f, dataset.FlagUnsteady)
	}
	return f
}

// progressAt is how many chunks were complete at t, the part of the next one included: done[next−1] < t ≤ done[next].
func progressAt(done []int64, next int, t int64) float64 {
	part := float64(t-done[next-1]) / float64(max(1, done[next]-done[next-1]))
	return float64(next) + part
}
