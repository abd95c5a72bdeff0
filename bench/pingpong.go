package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"calib/internal/dataset"
	"calib/internal/units"
)

// PingPong sends a message to and fro between two hosts and records half of each round trip, by rank 0's clock alone:
// T(x) of every model, provided that the two directions are alike. Limits.AllPairs measures every pair, for the pair
// matrix; otherwise every host is in at least one pair, so that a slow one is seen.
type PingPong struct{}

const (
	pingMax       = 4 * units.MiB
	pingPerDecade = 6
	pingJitter    = 0.5 // of a step between sizes

	// A batch is as many repetitions as fit into pingBudget, within these bounds and pingBytes each way; all but
	// pingMinReps scale with the effort.
	pingBudget  = 50 * units.Millisecond
	pingBytes   = 16 * units.MiB
	pingReps    = 200
	pingMinReps = 5

	pingWarm    = 2  // untimed repetitions before a batch, at least,
	pingWarmMax = 10 // and at most, within pingBytes, while the congestion window still grows
)

// Name implements Experiment.
func (PingPong) Name() string { return "pingpong" }

// Design implements Experiment: sizes from 1 B to 4 MiB, about 6 a decade, or 3 where the effort is below 1.
func (PingPong) Design(l Limits) []Point {
	if l.Hosts < 2 {
		return nil
	}
	sizes := l.Sizes
	if sizes == nil {
		top, density := pingMax, pingPerDecade
		if l.MaxBytes > 0 {
			top = min(top, l.MaxBytes)
		}
		if l.Effort > 0 && l.Effort < 1 {
			density /= 2
		}
		sizes = units.Geometric(1, top, density, pingJitter, rand.New(rand.NewPCG(l.Seed, 0x70696e67)).Float64)
	}
	var out []Point
	for _, x := range sizes {
		if l.MaxBytes == 0 || x <= l.MaxBytes {
			out = append(out, Point{"bytes": int64(x)})
		}
	}
	return out
}

// Teams implements Experiment.
func (PingPong) Teams(l Limits, _ Point) []Step {
	if l.AllPairs {
		return Colouring(l.Hosts)
	}
	return neighbours(l.Hosts)
}

// Cost implements Experiment. Bytes counts both directions of the link.
func (PingPong) Cost(l Limits, p Point) Cost {
	r := NewRecorder(Task{Reps: l.Effort})
	x := units.Bytes(p["bytes"])
	trips := mostPings(r, x) + mostWarm(x)
	return Cost{Bytes: 2*x*units.Bytes(trips) + pingControl, Messages: 2*trips + pingControlMessages}
}

// Between batches rank 0 sends orders, rank 1 acknowledges each, and hands over its counters after the last.
const (
	orderBytes          = 8
	reportBytes         = 3 * 8
	mostOrders          = pingWarmMax + 2
	pingControl         = mostOrders*(orderBytes+1) + reportBytes
	pingControlMessages = 2*mostOrders + 1
)

// mostPings bounds the repetitions of a batch of x bytes.
func mostPings(r *Recorder, x units.Bytes) int {
	byBytes := int(min(units.Bytes(r.Reps(int(pingBytes), 0))/max(x, 1), pingReps<<10))
	return max(pingMinReps, min(r.Reps(pingReps, pingMinReps), byBytes))
}

// mostWarm bounds the repetitions before a batch of x bytes.
func mostWarm(x units.Bytes) int {
	return max(pingWarm, int(min(pingBytes/max(x, 1), pingWarmMax)))
}

// Run implements Experiment. Rank 0 decides how often, rank 1 answers. It ends with the batch, or when a receive meets the
// group's deadline.
func (PingPong) Run(ctx context.Context, g Group, p Point, r *Recorder) error {
	if g.Size() != 2 {
		return fmt.Errorf("pingpong: team of %d, want 2", g.Size())
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	msg := r.payload(p["bytes"])
	if g.Rank() == 1 {
		return answerPings(g, msg)
	}
	trip, err := warmPings(g, msg)
	if err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	reps := mostPings(r, units.Bytes(len(msg)))
	if budget := r.Reps(int(pingBudget), 0); trip > 0 {
		reps = max(pingMinReps, min(reps, budget/int(trip)))
	}
	ns := r.Buffer(reps)
	if err := order(g, reps); err != nil {
		return err
	}
	before, err := g.Counters(1)
	if err != nil {
		return err
	}
	if err := pings(g, msg, ns); err != nil {
		return err
	}
	tcp, err := delta(g, 1, before)
	if err != nil {
		return err
	}
	if err := finishPings(g, tcp); err != nil {
		return err
	}
	r.Add(Batch{Point: p, Ranks: []int{0, 1}, NS: ns, TCP: tcp})
	return nil
}

// payload returns n bytes that no link can compress, touched.
func (r *Recorder) payload(n int64) []byte {
	b := make([]byte, n)
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(r.slot))
	// Read of a ChaCha8 never fails.
	_, _ = rand.NewChaCha8(seed).Read(b)
	return b
}

// pings is rank 0's timed section: it fills ns with half round trips.
func pings(g Group, msg []byte, ns []int64) error {
	for i := range ns {
		start := g.Now()
		if err := g.Send(1, msg); err != nil {
			return err
		}
		if err := g.Recv(1, msg); err != nil {
			return err
		}
		ns[i] = elapsed(g, start) / 2
	}
	return nil
}

// warmPings passes messages until the congestion window holds one whole or has stopped growing, and returns the time of
// the last round trip.
func warmPings(g Group, msg []byte) (units.Nanos, error) {
	trip := []int64{0}
	var window int64
	for i := range mostWarm(units.Bytes(len(msg))) {
		if err := order(g, 1); err != nil {
			return 0, err
		}
		if err := pings(g, msg, trip); err != nil {
			return 0, err
		}
		c, err := g.Counters(1)
		if err != nil {
			return 0, err
		}
		grew := c.Cwnd*c.MSS > window
		window = c.Cwnd * c.MSS
		if i+1 >= pingWarm && (window >= int64(len(msg)) || !grew) {
			break
		}
	}
	return units.Nanos(2 * trip[0]), nil
}

// order tells rank 1 to answer n messages, and returns when it is about to: nothing is under way then.
func order(g Group, n int) error {
	var b [orderBytes]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	if err := g.Send(1, b[:]); err != nil {
		return err
	}
	return g.Recv(1, b[:1])
}

// answerPings is rank 1's part: it follows orders until one of zero, then reports what it counted during the order
// before that.
func answerPings(g Group, msg []byte) error {
	var b [orderBytes]byte
	var last dataset.TCP
	for {
		if err := g.Recv(0, b[:]); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint64(b[:])
		before, err := g.Counters(0)
		if err != nil {
			return err
		}
		if err := g.Send(0, b[:1]); err != nil {
			return err
		}
		if n == 0 {
			return report(g, last)
		}
		if err := pongs(g, msg, n); err != nil {
			return err
		}
		d, err := delta(g, 0, before)
		if err != nil {
			return err
		}
		last = *d
	}
}

// pongs is rank 1's timed section.
func pongs(g Group, msg []byte, n uint64) error {
	for range n {
		if err := g.Recv(0, msg); err != nil {
			return err
		}
		if err := g.Send(0, msg); err != nil {
			return err
		}
	}
	return nil
}

func report(g Group, t dataset.TCP) error {
	var b [reportBytes]byte
	for i, v := range []int64{t.Retrans, t.Involuntary, t.StealTicks} {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
	return g.Send(0, b[:])
}

// finishPings dismisses rank 1 and adds to tcp what only rank 1 could see: its own retransmissions and its thread's lost
// time.
func finishPings(g Group, tcp *dataset.TCP) error {
	var b [reportBytes]byte
	if err := order(g, 0); err != nil {
		return err
	}
	if err := g.Recv(1, b[:]); err != nil {
		return err
	}
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	tcp.Retrans += at(0)
	tcp.Involuntary += at(1)
	tcp.StealTicks = max(tcp.StealTicks, at(2))
	return nil
}
