package bench

import (
	"context"
	"fmt"

	"calib/internal/plane"
	"calib/internal/units"
)

// NoDelay passes messages to and fro with Nagle's algorithm (nagle 1: TCP_NODELAY left off) and without (nagle 0), as one
// write or as two, a header and the rest, and records half of each round trip. Nagle keeps a partial segment back while
// anything is unacknowledged; the receiver keeps the acknowledgement back for some 40 ms unless it has something to send.
// So sizes lie around whole segments, and around the buffers that a connection begins with. Messages may share segments
// in all of it: that is what the algorithm is about.
type NoDelay struct{}

const (
	nodelayHeader = 16 // bytes of the first of two writes, at most half the message
	nodelayLeast  = 2  // repetitions: one that stalls takes a tenth of a second
	// nodelayMSS stands for the segment size while a plan is laid, before there is a connection to ask.
	nodelayMSS = 1448
	maxNodelay = 64 * units.MiB
)

// nodelaySizes are segments and an offset in bytes.
var nodelaySizes = [][2]int64{{0, 1}, {0, 100}, {1, -1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 100}, {6, 1}}

// nodelayBuffers are the send and receive buffers that Linux gives a new connection, and a byte more.
var nodelayBuffers = []units.Bytes{16 * units.KiB, 16*units.KiB + 1, 128 * units.KiB, 128*units.KiB + 1}

// Name implements Experiment.
func (NoDelay) Name() string { return "nodelay" }

// Design implements Experiment: sizes as segments and offset, or in bytes, each with and without Nagle and, from two bytes
// up, in one write and in two.
func (NoDelay) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	var sizes []Point
	if l.Sizes == nil {
		for _, s := range nodelaySizes {
			p := Point{"segments": s[0], "offset": s[1]}
			if x := units.Bytes(nodelayBytes(p, nodelayMSS)); l.MaxBytes == 0 || x <= l.MaxBytes {
				sizes = append(sizes, p)
			}
		}
	}
	if l.Sizes != nil || !l.thin() {
		for _, x := range l.sizes(nodelayBuffers) {
			sizes = append(sizes, Point{"bytes": int64(x)})
		}
	}
	var out []Point
	for _, s := range sizes {
		for writes := int64(1); writes <= min(2, nodelayBytes(s, nodelayMSS)); writes++ {
			for nagle := range int64(2) {
				p := Point{"writes": writes, "nagle": nagle}
				for k, v := range s {
					p[k] = v
				}
				out = append(out, p)
			}
		}
	}
	return out
}

// nodelayBytes is the size of a message at a point.
func nodelayBytes(p Point, mss int64) int64 {
	if x := p["bytes"]; x > 0 {
		return x
	}
	return p["segments"]*mss + p["offset"]
}

// Teams implements Experiment.
func (NoDelay) Teams(l Limits, _ Point) []Step { return neighbours(l.Hosts) }

// Cost implements Experiment, for segments of nodelayMSS bytes. Where they are longer a batch moves more.
func (NoDelay) Cost(l Limits, p Point) Cost {
	return nodelayDose(nodelayBytes(p, nodelayMSS), p).cost(l.Effort)
}

func nodelayDose(bytes int64, p Point) dose {
	return dose{bytes: units.Bytes(bytes), sends: int(p["writes"]), most: pingReps, least: nodelayLeast}
}

// Run implements Experiment. It ends with the batch, or when a receive meets the group's deadline. A batch whose exchanges
// begin to stall is cut short.
func (NoDelay) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if err := checkPair(ctx, g, "nodelay"); err != nil {
		return err
	}
	return reopened(g, plane.Socket{NoEOR: true, Nagle: p["nagle"] == 1}, func() error {
		return passSegments(g, p, r)
	})
}

func passSegments(g Group, p Point, r *Recorder) error {
	mss, size, err := agreeSize(g, p)
	if err != nil {
		return err
	}
	msg := wholeMessage(1-g.Rank(), r.payload(size))
	if p["writes"] == 2 {
		header := min(nodelayHeader, size/2)
		msg.pieces = [][]byte{msg.bytes[:header], msg.bytes[header:]}
	}
	t, err := rally{g, r, msg, nodelayDose(size, p)}.run()
	if err != nil || g.Rank() == 1 {
		return err
	}
	r.Add(Batch{Point: p, Ranks: []int{0, 1}, NS: t.ns, TCP: t.tcp,
		Aux: map[string]float64{"bytes": float64(size), "mss": float64(mss)}})
	return nil
}

// agreeSize tells rank 1 the segment size of rank 0's connection and what follows from it.
func agreeSize(g Group, p Point) (mss, size int64, err error) {
	if g.Rank() == 1 {
		w, err := recvWords(g, 0, 2)
		if err != nil {
			return 0, 0, err
		}
		if w[1] < p["writes"] || w[1] > int64(maxNodelay) {
			return 0, 0, fmt.Errorf("nodelay: rank 0 announced messages of %d bytes, want %d to %d", w[1], p["writes"], maxNodelay)
		}
		return w[0], w[1], nil
	}
	c, err := g.Counters(1)
	if err != nil {
		return 0, 0, err
	}
	mss = c.MSS
	if mss <= 0 {
		mss = nodelayMSS
	}
	size = nodelayBytes(p, mss)
	return mss, size, sendWords(g, 1, mss, size)
}
