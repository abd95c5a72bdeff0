package bench

import (
	"context"
	"fmt"
	"math"

	"calib/internal/dataset"
	"calib/internal/units"
)

// Paired is the experiment of Stoica, Sultan and Keyes 1994, section 4: host 2i−1 sends to host 2i for i = 1..n, all
// starting together, for each n up to half the hosts. From how the time grows with n the fit separates the hosts' blocks
// (a, b) from the network's (a_c, b_c) by eq. 16-17.
//
// Phase "burst" sends one message a pair and times its delivery at the receiver against the sender's own start; the
// fit takes the last delivery of the n (rule 3 bounds every message by the last). Phase "stream" sends messages back to
// back and times completions at the receivers while all pairs are busy: time per byte. Both run in both directions, so
// that a clock offset cancels in the mean.
type Paired struct{}

// Name implements Experiment.
func (Paired) Name() string { return "paired" }

// Synchronised implements Synchronised: a burst is a one-way time.
func (Paired) Synchronised() {}

const (
	// streamChunk is about the message of the stream phase: small enough for a slow network to deliver a dozen in a second,
	// large enough for a fast one not to be limited by system calls. The real one is whole segments.
	streamChunk = 16 * units.KiB
	// maxPairCounts bounds the distinct n of a design; above it n grows geometrically.
	maxPairCounts = 16
)

// burstSizes keep three sizes within one packet, where a' is read off, and some above it as a cross-check of b'.
var (
	burstSizes      = []units.Bytes{1, 181, 1123, 5003, 20011}
	burstSizesQuick = []units.Bytes{1, 1123, 5003}
)

// Design implements Experiment: every n, every burst size, and one stream for each n.
func (Paired) Design(l Limits) []Point {
	sizes := burstSizes
	if l.thin() {
		sizes = burstSizesQuick
	}
	if l.Sizes != nil {
		sizes = l.Sizes
	}
	var out []Point
	for _, n := range pairCounts(l.Hosts / 2) {
		for _, x := range sizes {
			if l.MaxBytes == 0 || x <= l.MaxBytes {
				out = append(out, Point{"bytes": int64(x), "pairs": int64(n)})
			}
		}
		out = append(out, Point{"pairs": int64(n), "stream": 1})
	}
	return out
}

// pairCounts lists n = 1..most, or about maxPairCounts values from 1 to most where there are more.
func pairCounts(most int) []int {
	var out []int
	if most <= maxPairCounts {
		for n := 1; n <= most; n++ {
			out = append(out, n)
		}
		return out
	}
	for i := range maxPairCounts {
		n := int(math.Round(math.Pow(float64(most), float64(i)/(maxPairCounts-1))))
		if len(out) == 0 || n > out[len(out)-1] {
			out = append(out, n)
		}
	}
	return out
}

// Teams implements Experiment: the first 2n hosts, alone on the network.
func (Paired) Teams(_ Limits, p Point) []Step {
	team := make([]int, 2*p["pairs"])
	for i := range team {
		team[i] = i
	}
	return []Step{{team}}
}

// Cost implements Experiment.
func (Paired) Cost(l Limits, p Point) Cost {
	if p["stream"] != 0 {
		// The stream is bounded by time, not by bytes: this is what its window holds at 1 Gbit/s.
		window := streamWindow(NewRecorder(Task{Reps: l.Effort}))
		bytes := units.Bytes(2 * 125e6 * window.Seconds())
		return Cost{Bytes: bytes, Messages: int(bytes / streamChunk)}
	}
	n := 2 * (maxReps + 1)
	return Cost{Bytes: units.Bytes(int64(n) * p["bytes"]), Messages: n}
}

// Run implements Experiment.
func (e Paired) Run(_ context.Context, g Group, p Point, r *Recorder) error {
	if g.Size()%2 != 0 || r.time == nil {
		return fmt.Errorf("paired: team of %d without a timeline: want an even team and synchronised clocks", g.Size())
	}
	run := burst
	if p["stream"] != 0 {
		run = stream
	}
	for dir := range 2 {
		if err := run(inPairs(crew{g, r}, p, dir)); err != nil {
			return err
		}
	}
	return nil
}

// pairRole is one rank's place in a batch: one host that sends, to one receiver or to several in turn.
type pairRole struct {
	crew
	p    Point
	dir  int
	from int   // the sender's rank
	to   []int // the receivers of that sender
}

// inPairs is a rank's place among pairs: direction 0 sends from even to odd ranks, direction 1 back.
func inPairs(c crew, p Point, dir int) pairRole {
	from := c.g.Rank()&^1 | dir
	return pairRole{crew: c, p: p, dir: dir, from: from, to: []int{from ^ 1}}
}

func (x pairRole) sender() bool { return x.g.Rank() == x.from }

// peer is the sender, or for the sender its first receiver.
func (x pairRole) peer() int {
	if x.sender() {
		return x.to[0]
	}
	return x.from
}

// peers are all that this rank exchanges messages with.
func (x pairRole) peers() []int {
	if x.sender() {
		return x.to
	}
	return []int{x.from}
}

// aux and ranks are those of a receiver's line: the direction; sender, receiver.
func (x pairRole) aux() map[string]float64 { return map[string]float64{"dir": float64(x.dir)} }

func (x pairRole) ranks() []int { return []int{x.peer(), x.g.Rank()} }

// counters reads those of every peer.
func (x pairRole) counters() ([]dataset.TCP, error) {
	var all []dataset.TCP
	for _, peer := range x.peers() {
		c, err := x.g.Counters(peer)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// handOver moves the sender's stamps and counters to each receiver, which returns them. before is by peer.
func (x pairRole) handOver(stamps []int64, before []dataset.TCP) (sent *dataset.TCP, err error) {
	for i, peer := range x.peers() {
		own, err := delta(x.g, peer, before[i])
		if err != nil {
			return nil, err
		}
		if sent, err = x.handTo(peer, stamps, own); err != nil {
			return nil, err
		}
	}
	return sent, nil
}

func (x pairRole) handTo(peer int, stamps []int64, own *dataset.TCP) (*dataset.TCP, error) {
	b := make([]byte, 8*len(stamps)+counterBytes)
	if x.sender() {
		putWords(b, stamps)
		putCounters(b[8*len(stamps):], own)
		return own, x.g.Send(peer, b)
	}
	if err := x.g.Recv(peer, b); err != nil {
		return nil, err
	}
	getWords(b, stamps)
	sent := *own // keeps the congestion control and the buffers
	getCounters(b[8*len(stamps):], &sent)
	sent.Retrans += own.Retrans
	sent.Involuntary = max(sent.Involuntary, own.Involuntary)
	sent.StealTicks = max(sent.StealTicks, own.StealTicks)
	return &sent, nil
}
