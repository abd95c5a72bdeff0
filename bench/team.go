package bench

import (
	"encoding/binary"

	"calib/internal/dataset"
	"calib/internal/units"
)

// crew is one rank's part in what a whole team does together, outside timed sections: starting at one time, and agreeing
// on a number. The team's experiment is Synchronised.
type crew struct {
	g Group
	r *Recorder
}

// start is what rank 0 tells the team before a timed section.
type start struct {
	At     units.Nanos // on rank 0's clock
	Period units.Nanos // burst: between repetitions; stream: length of the stream
	Reps   int
}

// announce makes every rank know the start that rank 0 chose, in each rank's own time. The start lies far enough ahead
// for the message to have reached every rank.
func (x crew) announce(s start) (start, error) {
	b := x.r.words[:]
	if x.g.Rank() == 0 {
		lead := x.r.time.maxRTT()*units.Nanos(x.g.Size()) + 2*units.Millisecond
		s.At = x.g.Now() + lead
		putWords(b, []int64{int64(s.At), int64(s.Period), int64(s.Reps)})
		if err := tellAll(x.g, b); err != nil {
			return s, err
		}
	} else {
		if err := x.g.Recv(0, b); err != nil {
			return s, err
		}
		var v [3]int64
		getWords(b, v[:])
		s = start{units.Nanos(v[0]), units.Nanos(v[1]), int(v[2])}
	}
	s.At = x.r.time.toLocal(x.g.Rank(), s.At)
	return s, nil
}

// reduce gives rank 0 every rank's v, put together; the others get their own back.
func (x crew) reduce(v int64, join func(a, b int64) int64) (int64, error) {
	var b [8]byte
	word := []int64{v}
	if x.g.Rank() != 0 {
		putWords(b[:], word)
		return v, x.g.Send(0, b[:])
	}
	for k := 1; k < x.g.Size(); k++ {
		if err := x.g.Recv(k, b[:]); err != nil {
			return 0, err
		}
		getWords(b[:], word)
		v = join(v, word[0])
	}
	return v, nil
}

// agree gives every rank what reduce gives rank 0.
func (x crew) agree(v int64, join func(a, b int64) int64) (int64, error) {
	v, err := x.reduce(v, join)
	if err != nil {
		return 0, err
	}
	var b [8]byte
	word := []int64{v}
	if x.g.Rank() == 0 {
		putWords(b[:], word)
		return v, tellAll(x.g, b[:])
	}
	err = x.g.Recv(0, b[:])
	getWords(b[:], word)
	return word[0], err
}

func larger(a, b int64) int64 { return max(a, b) }
func sum(a, b int64) int64    { return a + b }

// largest gives rank 0 the largest of every rank's v; the others get their own back.
func (x crew) largest(v units.Nanos) (units.Nanos, error) {
	most, err := x.reduce(int64(v), larger)
	return units.Nanos(most), err
}

// everyone gives every rank the largest of all ranks' v.
func (x crew) everyone(v units.Nanos) (units.Nanos, error) {
	most, err := x.agree(int64(v), larger)
	return units.Nanos(most), err
}

// total gives every rank the sum of all ranks' v.
func (x crew) total(v int64) (int64, error) { return x.agree(v, sum) }

// counterWords is the length of the counters a sender hands its receiver: retransmissions are seen by the sender alone,
// and the receiver writes the line.
const counterWords = 12

func counterList(t *dataset.TCP) [counterWords]*int64 {
	return [counterWords]*int64{&t.SegsOut, &t.SegsIn, &t.DataSegsOut, &t.DataSegsIn, &t.Retrans, &t.RwndLimited,
		&t.SndbufLimit, &t.Busy, &t.Cwnd, &t.RTT, &t.Involuntary, &t.StealTicks}
}

// putCounters and getCounters move counters between ranks, in counterBytes.
const counterBytes = 8 * counterWords

func putCounters(b []byte, t *dataset.TCP) {
	for i, v := range counterList(t) {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(*v))
	}
}

// getCounters overwrites the counters of t and leaves what they do not hold (congestion control, buffers).
func getCounters(b []byte, t *dataset.TCP) {
	for i, v := range counterList(t) {
		*v = int64(binary.LittleEndian.Uint64(b[8*i:]))
	}
}
