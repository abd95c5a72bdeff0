package bench

import (
	"encoding/binary"
	"fmt"
	"sort"

	"calib/internal/dataset"
	"calib/internal/units"
)

const (
	trialChunks  = 4
	minChunks    = 14      // in the length of a stream, at the trial's rate
	maxChunk     = 1 << 20 // bytes
	maxChunks    = 1 << 18 // stamps a receiver has room for
	maxIntervals = 200     // raw times kept of one stream; beyond that each is the mean of some neighbours
	rampShare    = 0.3     // of a stream that is left out while windows grow and queues fill
	maxStream    = 6 * units.Second
	streamTries  = 3    // of which all but the last are warm-up
	windowShare  = 0.02 // of a stream that its receiver's window may limit
)

func streamWindow(r *Recorder) units.Nanos {
	return units.Nanos(r.Reps(int(250*units.Millisecond), int(60*units.Millisecond)))
}

// stream measures one direction of one point: all senders send chunks back to back from a common start to a common end,
// and the receivers keep the completions between rampShare and the end, when all pairs are busy.
func stream(x pairRole) error {
	chunk, err := x.agreeChunk()
	if err != nil {
		return err
	}
	per, err := x.chunkTime(chunk)
	if err != nil {
		return err
	}
	length, err := x.largest(per * minChunks)
	if err != nil {
		return err
	}
	length = min(max(length, streamWindow(x.r)), maxStream)
	stamps := []int64(nil)
	if !x.sender() {
		stamps = x.r.Buffer(maxChunks)
	}
	// A receiver's window grows with what it reads. While it is what limits sending, the path is not, and segments are
	// cut to fit it: such a stream is a warm-up.
	for try := 1; ; try++ {
		s, err := x.announce(start{Period: length})
		if err != nil {
			return err
		}
		done, tcp, err := x.streamOnce(s, chunk, stamps)
		if err != nil {
			return err
		}
		limited, err := x.everyone(units.Nanos(tcp.RwndLimited) * units.Microsecond)
		if err != nil {
			return err
		}
		open := float64(limited) <= windowShare*float64(length)
		if !open && try < streamTries {
			continue
		}
		if !x.sender() {
			x.addStream(s, len(chunk), done, tcp, open)
		}
		return nil
	}
}

// streamOnce runs one announced stream. A receiver gets the completions and the sender's counters, a sender its counters.
func (x pairRole) streamOnce(s start, chunk []byte, stamps []int64) (done []int64, tcp *dataset.TCP, err error) {
	before, err := x.g.Counters(x.peer())
	if err != nil {
		return nil, nil, err
	}
	if x.sender() {
		err = x.pour(s, chunk)
	} else {
		done, err = x.drain(chunk, stamps)
	}
	if err != nil {
		return nil, nil, err
	}
	tcp, err = x.handOver(nil, before)
	return done, tcp, err
}

// agreeChunk makes the buffer of a chunk: as many whole segments as are nearest to streamChunk, because the rest of a
// message that does not fill its last segment would cost a fixed time of its own, and b is the limit without it. The
// sender's segment size decides.
func (x pairRole) agreeChunk() ([]byte, error) {
	var b [8]byte
	if x.sender() {
		c, err := x.g.Counters(x.peer())
		if err != nil {
			return nil, err
		}
		size := int64(streamChunk)
		if c.MSS > 0 {
			size = max(1, (size+c.MSS/2)/c.MSS) * c.MSS
		}
		binary.LittleEndian.PutUint64(b[:], uint64(size))
		return make([]byte, size), x.g.Send(x.peer(), b[:])
	}
	if err := x.g.Recv(x.peer(), b[:]); err != nil {
		return nil, err
	}
	size := binary.LittleEndian.Uint64(b[:])
	if size < 1 || size > maxChunk {
		return nil, fmt.Errorf("stream: the sender announced chunks of %d bytes, want 1 to %d", size, maxChunk)
	}
	return make([]byte, size), nil
}

// chunkTime times a few chunks, which also opens the congestion window. A sender returns zero.
func (x pairRole) chunkTime(chunk []byte) (units.Nanos, error) {
	var first units.Nanos
	for i := range trialChunks {
		if x.sender() {
			if err := x.g.Send(x.peer(), chunk); err != nil {
				return 0, err
			}
			continue
		}
		if err := x.g.Recv(x.peer(), chunk); err != nil {
			return 0, err
		}
		if i == 0 {
			first = x.g.Now()
		}
	}
	if x.sender() {
		return 0, nil
	}
	return (x.g.Now() - first) / (trialChunks - 1), nil
}

// pour sends chunks until the end of the stream, and marks the last. It ends there, or when a receiver stops taking.
func (x pairRole) pour(s start, chunk []byte) error {
	peer := x.peer()
	end := s.At + s.Period
	chunk[0] = 0
	if err := x.g.WaitUntil(s.At); err != nil {
		return err
	}
	for i := 0; i < maxChunks-1 && x.g.Now() < end; i++ {
		if err := x.g.Send(peer, chunk); err != nil {
			return err
		}
	}
	chunk[0] = 1
	return x.g.Send(peer, chunk)
}

// drain receives until the marked chunk and returns the completion of each. It ends there, after maxChunks, or at the
// group's receive deadline.
func (x pairRole) drain(chunk []byte, at []int64) ([]int64, error) {
	peer := x.peer()
	for i := range at {
		arrived, err := x.g.RecvAt(peer, chunk)
		if err != nil {
			return nil, err
		}
		at[i] = int64(arrived)
		if chunk[0] == 1 {
			return at[:i+1], nil
		}
	}
	return at, nil
}

// addStream keeps the completions in the common window as intervals, each the mean of "averaged" of them, and counts the
// chunks of the whole window: the rate of all pairs together is their sum over one and the same time. A pair's own
// intervals say less, because they begin and end when that pair was being served.
func (x pairRole) addStream(s start, chunk int, done []int64, tcp *dataset.TCP, open bool) {
	hi := int64(s.At + s.Period)
	lo := hi - int64((1-rampShare)*float64(s.Period))
	first, last := sort.Search(len(done), func(i int) bool { return done[i] >= lo }),
		sort.Search(len(done), func(i int) bool { return done[i] > hi })
	in := done[first:last]
	join := max(1, (len(in)+maxIntervals-1)/maxIntervals)
	var ns []int64
	for i := join; i < len(in); i += join {
		ns = append(ns, (in[i]-in[i-join])/int64(join))
	}
	b := Batch{Phase: "stream", Point: x.p, Ranks: x.ranks(), NS: ns, TCP: tcp, Aux: x.aux()}
	b.Aux["averaged"], b.Aux["chunk_bytes"] = float64(join), float64(chunk)
	if first > 0 && last < len(done) {
		b.Aux["window_ns"] = float64(hi - lo)
		b.Aux["window_chunks"] = progressAt(done, last, hi) - progressAt(done, first, lo)
	}
	if !open {
		b.Flags = append(b.Flags, dataset.FlagWindow)
	}
	if len(ns) < 2 {
		b.Flags = append(b.Flags, dataset.FlagUnsteady)
	}
	x.r.Add(b)
}

// progressAt is how many chunks were complete at t, the part of the next one included: done[next−1] < t ≤ done[next].
func progressAt(done []int64, next int, t int64) float64 {
	part := float64(t-done[next-1]) / float64(max(1, done[next]-done[next-1]))
	return float64(next) + part
}
