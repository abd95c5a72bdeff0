package paired

import (
	"fmt"

	"calib/bench"
	"calib/bench/flow"
	"calib/internal/dataset/names"
)

const (
	leastChunks  = 14      // in the length of a stream, at the trial's rate
	mostChunks   = 1 << 18 // stamps a receiver has room for
	largestChunk = 1 << 20 // bytes
)

// stream measures one direction of one point: all senders send chunks back to back from a common start to a common end,
// and the receivers keep the completions after the ramp, when all pairs are busy. Every pair counts the chunks of the same
// window: the rate of all pairs together is their sum over its length. A pair's own intervals say less, because they begin
// and end when that pair was being served.
func stream(x flow.Role) error {
	chunk, err := agreeChunk(x)
	if err != nil {
		return err
	}
	f := flow.Stream{Role: x, Chunk: chunk, Trial: bench.TrialChunks, Least: leastChunks, Most: mostChunks}
	seen, err := f.Run()
	if err != nil || x.Sends() {
		return err
	}
	hi := int64(seen.At + seen.Period)
	part := seen.Between(hi-int64((1-bench.RampShare)*float64(seen.Period)), hi)
	b := x.Batch(names.PhaseStream, part.NS, seen.TCP)
	b.Aux[names.AuxAveraged], b.Aux[names.AuxChunk] = float64(part.Averaged), float64(len(chunk))
	if part.Window > 0 {
		b.Aux[names.AuxWindow], b.Aux[names.AuxWindowChunks] = float64(part.Window), part.Chunks
	}
	b.Flags = part.Flags()
	x.R.Add(b)
	return nil
}

// agreeChunk makes the buffer of a chunk: as many whole segments as are nearest to ChunkSize, because a last segment that
// is not full would cost a fixed time of its own, and b is the limit without it. The sender's segment size decides.
func agreeChunk(x flow.Role) ([]byte, error) {
	if x.Sends() {
		c, err := x.G.Counters(x.Peer())
		if err != nil {
			return nil, err
		}
		size := bench.WholeSegments(int64(bench.ChunkSize), c.MSS)
		return make([]byte, size), bench.SendNumbers(x.G, x.Peer(), size)
	}
	size, err := bench.RecvNumbers(x.G, x.Peer(), 1)
	if err != nil {
		return nil, err
	}
	if size[0] < 1 || size[0] > largestChunk {
		return nil, fmt.Errorf("stream: the sender announced chunks of %d bytes, want 1 to %d", size[0], largestChunk)
	}
	return make([]byte, size[0]), nil
}
