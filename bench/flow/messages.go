package flow

import (
	"fmt"

	"calib/bench"
	"calib/internal/dataset/names"
)

const (
	minMessages    = 14      // in the length of a stream of messages, at the trial's rate
	maxMessages    = 1 << 18 // stamps a receiver has room for
	largestMessage = 1 << 20 // bytes
)

// messages measures one direction of one point: all senders send messages of one size back to back, each ending at the
// end of a segment, from a common start to a common end. The receivers keep the completions after the ramp, when all
// pairs are busy. Every pair counts the messages of the same window, as with streams.
func messages(x Role) error {
	msg, err := agreeMessage(x)
	if err != nil {
		return err
	}
	f := Stream{Role: x, Chunk: msg, Trial: bench.TrialChunks, Least: minMessages, Most: maxMessages, Bound: true}
	seen, err := f.Run()
	if err != nil || x.Sends() {
		return err
	}
	hi := int64(seen.At + seen.Period)
	part := seen.Between(hi-int64((1-bench.RampShare)*float64(seen.Period)), hi)
	b := x.Batch(names.PhaseMessages, part.NS, seen.TCP)
	b.Aux[names.AuxAveraged], b.Aux[names.AuxChunk] = float64(part.Averaged), float64(len(msg))
	if part.Window > 0 {
		b.Aux[names.AuxWindow], b.Aux[names.AuxWindowChunks] = float64(part.Window), part.Chunks
	}
	b.Flags, b.Loss = part.Flags(), bearableLoss
	x.R.Add(b)
	return nil
}

// agreeMessage makes the buffer of a message: as many whole segments as are nearest to the point's size, because a last
// segment that is not full would cost a fixed time of its own. The sender's segment size decides.
func agreeMessage(x Role) ([]byte, error) {
	if x.Sends() {
		c, err := x.G.Counters(x.Peer())
		if err != nil {
			return nil, err
		}
		size := bench.WholeSegments(x.P[names.FactorBytes], c.MSS)
		return x.R.Bytes(size), bench.SendNumbers(x.G, x.Peer(), size)
	}
	size, err := bench.RecvNumbers(x.G, x.Peer(), 1)
	if err != nil {
		return nil, err
	}
	if size[0] < 1 || size[0] > largestMessage {
		return nil, fmt.Errorf("messages: the sender announced %d bytes, want 1 to %d", size[0], largestMessage)
	}
	return x.R.Bytes(size[0]), nil
}
