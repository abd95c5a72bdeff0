package bench

import (
	"encoding/binary"
	"fmt"

	"calib/internal/dataset"
)

const (
	trialChunks = 4
	minChunks   = 14      // in the length of a stream, at the trial's rate
	maxChunk    = 1 << 20 // bytes
	maxChunks   = 1 << 18 // stamps a receiver has room for
)

// stream measures one direction of one point: all senders send chunks back to back from a common start to a common end,
// and the receivers keep the completions between rampShare and the end, when all pairs are busy.
func stream(x pairRole) error {
	chunk, err := x.agreeChunk()
	if err != nil {
		return err
	}
	f := flow{pairRole: x, chunk: chunk, trial: trialChunks, least: minChunks, most: maxChunks}
	seen, err := f.run()
	if err != nil || x.sender() {
		return err
	}
	x.addStream(seen.start, len(chunk), seen.done, seen.tcp, seen.open)
	return nil
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
		size := wholeSegments(int64(streamChunk), c.MSS)
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

// wholeSegments is the number of bytes nearest to size that fills its segments, one at least; size where the segment is not
// known (0).
func wholeSegments(size, segment int64) int64 {
	if segment <= 0 {
		return size
	}
	return max(1, (size+segment/2)/segment) * segment
}

// addStream keeps the completions in the common window as intervals, each the mean of "averaged" of them, and counts the
// chunks of the whole window: the rate of all pairs together is their sum over one and the same time. A pair's own
// intervals say less, because they begin and end when that pair was being served.
func (x pairRole) addStream(s start, chunk int, done []int64, tcp *dataset.TCP, open bool) {
	hi := int64(s.At + s.Period)
	part := steadyPart(done, hi-int64((1-rampShare)*float64(s.Period)), hi)
	b := Batch{Phase: "stream", Point: x.p, Ranks: x.ranks(), NS: part.ns, TCP: tcp, Aux: x.aux()}
	b.Aux["averaged"], b.Aux["chunk_bytes"] = float64(part.averaged), float64(chunk)
	if part.window > 0 {
		b.Aux["window_ns"], b.Aux["window_chunks"] = float64(part.window), part.chunks
	}
	b.Flags = streamFlags(part, open)
	x.r.Add(b)
}
