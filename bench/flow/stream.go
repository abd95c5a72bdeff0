package flow

import (
	"errors"
	"sort"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
)

const (
	streamTries = 3    // of which all but the last are warm-up
	windowShare = 0.02 // of a stream that its receiver's window may limit
)

// Stream is one direction of a stream of equal messages, its chunks. Several receivers get them in turn, so that each
// sees the sender's rate divided by their number, and none of their ports need carry all of it.
type Stream struct {
	Role
	Chunk []byte
	Trial int // chunks whose time sets the length of the stream
	Least int // chunks in that length, at the trial's rate
	Most  int // chunks in all
	// Ahead, if not 0, bounds what is sent by a multiple of what the path carries in the stream's time at the trial's
	// rate: a deep send buffer would take much more, and all of it must arrive before the batch ends.
	Ahead float64
	// Bound keeps the sender from filling a send buffer that takes the path long to empty. The time of a send then says
	// nothing of the host.
	Bound bool
	// Report, if not nil, has ReportNumbers entries, in which the sender hands its receivers what it saw when all has
	// arrived.
	Report []int64
}

// What Stream.Report holds.
const (
	// ReportSent is how many chunks were sent.
	ReportSent = iota
	// ReportTime is the time of a send once the stream is steady [ns]. It is 0 where the sender had sent all it may
	// before the end, so that its buffer may have had room to the last.
	ReportTime
	// ReportNumbers is how many there are.
	ReportNumbers
)

// likelyTries is how often a stream is run on average, because the first one only opened the windows.
const likelyTries = 1.5

// StreamTime is how long a Stream of messages of so many bytes is expected to take while n pairs have one each.
func StreamTime(l bench.Limits, bytes int64, n, trial, least int) units.Nanos {
	path := l.OnPath()
	per := max(path.Latency/10, units.Nanos(float64(bytes)*path.PerByte*path.Sharing(n)))
	length := min(max(per*units.Nanos(least), l.Effort.StreamTime()), bench.MaxStream)
	start := path.Start(2 * n)
	return start + path.Latency + per*units.Nanos(trial) + units.Nanos(likelyTries*float64(start+length))
}

// Result is what was seen of a stream.
type Result struct {
	bench.Start
	Done []int64 // at a receiver, the completions
	TCP  *dataset.TCP
	open bool // the receiver's window did not limit the sender
}

// Run streams from a common start to a common end, or until the sender has sent Most chunks.
func (x Stream) Run() (Result, error) {
	per, err := x.chunkTime()
	if err != nil {
		return Result{}, err
	}
	longest, err := x.Max(int64(per))
	if err != nil {
		return Result{}, err
	}
	trial := units.Nanos(longest) * units.Nanos(x.Least)
	plan := bench.Start{Period: min(max(trial, x.R.StreamTime()), bench.MaxStream)}
	if x.Ahead > 0 && trial > 0 {
		fits := x.Ahead * float64(x.Least) * float64(plan.Period) / float64(trial)
		plan.Reps = int(min(fits, float64(x.Most)))
	}
	if x.Bound {
		perByte := float64(max(1, longest)) / float64(len(x.Chunk))
		trip, err := x.trip()
		if err != nil {
			return Result{}, err
		}
		trial := units.Bytes((x.Trial - 1) * len(x.Chunk))
		if err := x.limit(unsentIn(plan.Period, perByte), roomIn(plan.Period, trip, perByte, trial)); err != nil {
			return Result{}, err
		}
	}
	stamps := []int64(nil)
	if !x.Sends() {
		stamps = x.R.Buffer(x.Most)
	}
	// A receiver's window grows with what it reads. While the window limits sending, the path does not, and segments
	// are cut to fit it: such a stream is a warm-up.
	for try := 1; ; try++ {
		s, err := x.Announce(plan)
		if err != nil {
			return Result{}, err
		}
		done, tcp, err := x.once(s, stamps)
		if err != nil {
			return Result{}, err
		}
		limited, err := x.Max(tcp.RwndLimited * int64(units.Microsecond))
		if err != nil {
			return Result{}, err
		}
		open := float64(limited) <= windowShare*float64(s.Period)
		if open || try == streamTries {
			if x.Bound {
				err = x.limit(0, 0)
			}
			return Result{s, done, tcp, open}, err
		}
	}
}

// limit bounds what a sender's connections hold unsent, and what they have on its way.
func (x Stream) limit(unsent, room int64) error {
	if !x.Sends() {
		return nil
	}
	for _, peer := range x.To {
		if err := errors.Join(x.G.LimitUnsent(peer, unsent), x.G.LimitRoom(peer, room)); err != nil {
			return err
		}
	}
	return nil
}

// once runs one announced stream. A receiver gets the completions and the sender's counters, a sender its counters.
func (x Stream) once(s bench.Start, stamps []int64) (done []int64, tcp *dataset.TCP, err error) {
	before, err := x.Counters()
	if err != nil {
		return nil, nil, err
	}
	if x.Sends() {
		err = x.send(s)
	} else {
		done, err = x.receive(stamps)
	}
	if err == nil && x.Report != nil {
		err = x.awaitArrival()
	}
	if err != nil {
		return nil, nil, err
	}
	tcp, err = x.HandOver(x.Report, before)
	return done, tcp, err
}

// awaitArrival lets the sender go on when its receivers have all of the stream, so that its counters hold every
// segment.
func (x Stream) awaitArrival() error {
	var b [1]byte
	if !x.Sends() {
		return x.G.Send(x.From, b[:])
	}
	for _, peer := range x.To {
		if err := x.G.Recv(peer, b[:]); err != nil {
			return err
		}
	}
	return nil
}

// chunkTime times a few chunks for each receiver, which also opens the congestion windows. A sender returns zero.
func (x Stream) chunkTime() (units.Nanos, error) {
	if x.Sends() {
		for i := range x.Trial * len(x.To) {
			if err := x.G.Send(x.To[i%len(x.To)], x.Chunk); err != nil {
				return 0, err
			}
		}
		return 0, nil
	}
	span, err := x.RecvSpan(x.Trial, x.Chunk)
	return span / units.Nanos((x.Trial-1)*len(x.To)), err
}

// send sends chunks until the end of the stream, and marks the last of each receiver. It ends there, or when a receiver
// stops taking.
func (x Stream) send(s bench.Start) error {
	ramp, end := s.At+units.Nanos(bench.RampShare*float64(s.Period)), s.At+s.Period
	var ramped, last struct {
		sent int
		at   units.Nanos
	}
	x.Chunk[0] = 0
	if err := x.G.WaitUntil(s.At); err != nil {
		return err
	}
	most := x.Most
	if s.Reps > 0 {
		most = min(most, s.Reps)
	}
	sent, turn := 0, 0
	for ; sent < most-len(x.To) || turn > 0; sent++ {
		if turn == 0 {
			now := x.G.Now()
			last.sent, last.at = sent, now
			if now >= end {
				break
			}
			if ramped.at == 0 && now >= ramp {
				ramped = last
			}
		}
		if err := x.G.Send(x.To[turn], x.Chunk); err != nil {
			return err
		}
		if turn++; turn == len(x.To) {
			turn = 0
		}
	}
	x.Chunk[0] = 1
	for _, peer := range x.To {
		if err := x.G.Send(peer, x.Chunk); err != nil {
			return err
		}
	}
	if x.Report != nil {
		x.Report[ReportSent], x.Report[ReportTime] = int64(sent+len(x.To)), 0
		if n := last.sent - ramped.sent; ramped.at != 0 && last.at >= end && n > 0 {
			x.Report[ReportTime] = int64(last.at-ramped.at) / int64(n)
		}
	}
	return nil
}

// receive receives until the marked chunk and returns the completion of each. It ends there, after as many as at has
// room for, or at the group's receive deadline.
func (x Stream) receive(at []int64) ([]int64, error) {
	for i := range at {
		arrived, err := x.G.RecvAt(x.From, x.Chunk)
		if err != nil {
			return nil, err
		}
		at[i] = int64(arrived)
		if x.Chunk[0] == 1 {
			return at[:i+1], nil
		}
	}
	return at, nil
}

// Part is the part of a stream from one time to another.
type Part struct {
	NS       []int64 // intervals between completions, each the mean of some neighbours,
	Averaged int     // so many
	Window   int64   // length of the part [ns]; 0 where the stream does not reach over it
	Chunks   float64 // complete in it, parts of one included
	open     bool
}

// Between takes the completions from lo to hi.
func (s Result) Between(lo, hi int64) Part {
	done := s.Done
	first, last := sort.Search(len(done), func(i int) bool { return done[i] >= lo }),
		sort.Search(len(done), func(i int) bool { return done[i] > hi })
	in := done[first:last]
	p := Part{open: s.open}
	p.NS, p.Averaged = bench.Intervals(in)
	if first > 0 && last < len(done) {
		p.Window = hi - lo
		p.Chunks = progressAt(done, last, hi) - progressAt(done, first, lo)
	}
	return p
}

// Slice replaces the intervals by those of n equal slices of the window, which ends at hi: the length of a slice over
// the chunks that were complete in it, parts of one included.
func (p *Part) Slice(done []int64, hi int64, n int) {
	p.NS, p.Averaged = nil, max(1, int(p.Chunks)/n)
	before := 0.0
	for i := range n + 1 {
		t := hi - p.Window + p.Window*int64(i)/int64(n)
		next := sort.Search(len(done), func(i int) bool { return done[i] >= t })
		if p.Window == 0 || next == 0 || next == len(done) {
			continue
		}
		now := progressAt(done, next, t)
		if i > 0 && now > before {
			p.NS = append(p.NS, int64(float64(p.Window)/float64(n)/(now-before)+0.5))
		}
		before = now
	}
}

// Flags labels a stream that something else than the path limited, or that has too little in its window.
func (p Part) Flags() []string {
	var f []string
	if !p.open {
		f = append(f, dataset.FlagWindow)
	}
	if len(p.NS) < 2 {
		f = append(f, dataset.FlagUnsteady)
	}
	return f
}

// progressAt is how many chunks were complete at t, the part of the next one included: done[next−1] < t ≤ done[next].
func progressAt(done []int64, next int, t int64) float64 {
	part := float64(t-done[next-1]) / float64(max(1, done[next]-done[next-1]))
	return float64(next) + part
}
