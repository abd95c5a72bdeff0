// Package incast is traffic of many senders to one: rank 0 is the root, all other ranks send to it. Its experiments are
// gather and flood.
package incast

import (
	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/dataset/names"
	"calib/internal/units"
)

// ReadBytes is what the root reads at a time.
const ReadBytes = 64 * units.KiB

// MaxTime bounds a time that grows with the effort: a receive may wait no longer before a silent peer is given up.
const MaxTime = 8 * units.Second

// TimeLimit scales a standard time by the effort, between a second and MaxTime.
func TimeLimit(e bench.Effort, standard units.Nanos) units.Nanos {
	return min(e.Time(standard, units.Second), MaxTime)
}

// Team is one rank's part in what all other ranks send to rank 0, the root.
type Team struct {
	bench.Team
	Signal []byte // one byte, whose arrival is what it says
}

// NewTeam returns a rank's part. The team must be of as many hosts as the point has senders, and the root.
func NewTeam(g bench.Group, p bench.Point, r *bench.Recorder) (Team, error) {
	err := bench.CheckSize(g, int(p[names.FactorSenders])+1)
	return Team{Team: bench.Team{G: g, R: r, P: p}, Signal: []byte{0}}, err
}

// Connection is the peer whose counters stand for a rank's own: a sender's is the root.
func (x Team) Connection() int {
	if x.Root() {
		return 1
	}
	return 0
}

// Counters reads this rank's own once the root has all that was sent before: otherwise some of that would be counted
// later.
func (x Team) Counters() (dataset.TCP, error) {
	if _, err := x.Announce(bench.Start{}); err != nil {
		return dataset.TCP{}, err
	}
	return x.G.Counters(x.Connection())
}

// Collect gives the root the sum of the senders' counters since before and the sum of their numbers; every rank must
// give as many numbers. The root calls it when all that was sent has arrived: until then the senders keep still, so
// that no report is taken for data. The others get nil.
func (x Team) Collect(before dataset.TCP, numbers ...int64) (*dataset.TCP, int64, error) {
	b := x.R.Bytes(int64(bench.CounterBytes + 8*len(numbers)))
	if !x.Root() {
		return nil, 0, x.report(before, b, numbers)
	}
	if err := x.SendAll(x.Signal); err != nil {
		return nil, 0, err
	}
	own, err := bench.CountersSince(x.G, x.Connection(), before)
	if err != nil {
		return nil, 0, err
	}
	total := dataset.TCP{
		MSS: own.MSS, Congestion: own.Congestion, SndBuf: own.SndBuf, RcvBuf: own.RcvBuf,
		Involuntary: own.Involuntary, StealTicks: own.StealTicks,
	}
	var sum int64
	err = x.RecvAll(b, func(int) {
		var t dataset.TCP
		bench.GetCounters(b, &t)
		involuntary := total.Involuntary + t.Involuntary // each sender's thread has its own
		total = total.Add(t)
		total.Involuntary, total.Cwnd, total.RTT = involuntary, t.Cwnd, t.RTT
		for i := range numbers {
			sum += bench.GetNumber(b[bench.CounterBytes+8*i:])
		}
	})
	return &total, sum, err
}

// report is a sender's part of Collect. It reads its counters when the root has it all: before that some of it may
// still wait to be sent.
func (x Team) report(before dataset.TCP, b []byte, numbers []int64) error {
	if err := x.G.Recv(0, x.Signal); err != nil {
		return err
	}
	own, err := bench.CountersSince(x.G, x.Connection(), before)
	if err != nil {
		return err
	}
	bench.PutCounters(b, own)
	bench.PutNumbers(b[bench.CounterBytes:], numbers...)
	return x.G.Send(0, b)
}

// Skip records, at the root, that the point would take too long.
func (x Team) Skip(estimate units.Nanos) {
	if x.Root() {
		x.R.Add(bench.Batch{Phase: names.PhaseSkipped, Point: x.P, Ranks: x.Ranks(), NS: []int64{int64(estimate)}})
	}
}
