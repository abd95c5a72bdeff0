package bench

import (
	"fmt"

	"calib/internal/plane"
	"calib/internal/units"
)

// Team is one rank's part in what a team does together at one point, outside timed sections: starting at one time,
// agreeing on a number.
type Team struct {
	G Group
	R *Recorder
	P Point
}

// CheckSize reports a team of another size than the experiment's Teams asks for.
func CheckSize(g Group, want int) error {
	if g.Size() != want {
		return fmt.Errorf("team of %d, want %d", g.Size(), want)
	}
	return nil
}

// CheckEven reports a team that does not consist of pairs.
func CheckEven(g Group) error {
	if g.Size()%2 != 0 {
		return fmt.Errorf("team of %d, want pairs", g.Size())
	}
	return nil
}

// Root reports whether this is rank 0.
func (x Team) Root() bool { return x.G.Rank() == 0 }

// Ranks lists every rank.
func (x Team) Ranks() []int { return FirstHosts(x.G.Size())[0][0] }

// Start is what rank 0 tells the team before a timed section.
type Start struct {
	At     units.Nanos // on rank 0's clock
	Period units.Nanos // between repetitions, or length of a stream
	Reps   int
}

const startBytes = 3 * 8

// Announce gives every rank the start that rank 0 chose, in the rank's own time. The start lies far enough ahead for
// the message to reach every rank first. The experiment must be Synchronised.
func (x Team) Announce(s Start) (Start, error) {
	b := x.R.start[:]
	if x.Root() {
		s.At = x.G.Now() + x.R.Clocks.MaxRTT()*units.Nanos(x.G.Size()) + 2*units.Millisecond
		PutNumbers(b, int64(s.At), int64(s.Period), int64(s.Reps))
		if err := x.SendAll(b); err != nil {
			return s, err
		}
	} else {
		if err := x.G.Recv(0, b); err != nil {
			return s, err
		}
		s = Start{units.Nanos(GetNumber(b)), units.Nanos(GetNumber(b[8:])), int(GetNumber(b[16:]))}
	}
	s.At = x.R.Clocks.ToLocal(x.G.Rank(), s.At)
	return s, nil
}

// SendAll sends b from rank 0 to every other rank.
func (x Team) SendAll(b []byte) error {
	for k := 1; k < x.G.Size(); k++ {
		if err := x.G.Send(k, b); err != nil {
			return err
		}
	}
	return nil
}

// RecvAll receives len(b) bytes from every rank but 0, in order, and calls f with each.
func (x Team) RecvAll(b []byte, f func(rank int)) error {
	for k := 1; k < x.G.Size(); k++ {
		if err := x.G.Recv(k, b); err != nil {
			return err
		}
		f(k)
	}
	return nil
}

// reduce gives rank 0 every rank's v, joined; the others get their own back.
func (x Team) reduce(v int64, join func(a, b int64) int64) (int64, error) {
	var b [8]byte
	if !x.Root() {
		PutNumbers(b[:], v)
		return v, x.G.Send(0, b[:])
	}
	err := x.RecvAll(b[:], func(int) { v = join(v, GetNumber(b[:])) })
	return v, err
}

// allReduce gives every rank what reduce gives rank 0.
func (x Team) allReduce(v int64, join func(a, b int64) int64) (int64, error) {
	v, err := x.reduce(v, join)
	if err != nil {
		return 0, err
	}
	var b [8]byte
	if x.Root() {
		PutNumbers(b[:], v)
		return v, x.SendAll(b[:])
	}
	err = x.G.Recv(0, b[:])
	return GetNumber(b[:]), err
}

func larger(a, b int64) int64 { return max(a, b) }
func sum(a, b int64) int64    { return a + b }

// MaxAtRoot gives rank 0 the largest of every rank's v; the others get their own back.
func (x Team) MaxAtRoot(v units.Nanos) (units.Nanos, error) {
	most, err := x.reduce(int64(v), larger)
	return units.Nanos(most), err
}

// SumAtRoot gives rank 0 the sum of every rank's v; the others get their own back.
func (x Team) SumAtRoot(v int64) (int64, error) { return x.reduce(v, sum) }

// Max gives every rank the largest of all ranks' v.
func (x Team) Max(v int64) (int64, error) { return x.allReduce(v, larger) }

// Sum gives every rank the sum of all ranks' v.
func (x Team) Sum(v int64) (int64, error) { return x.allReduce(v, sum) }

// Reopened runs f on connections with other options. After an error the connections stay as they are: some ranks would
// not come to the second Reopen, and the team's connections are given up anyway.
func Reopened(g Group, with plane.Socket, f func() error) error {
	if err := g.Reopen(with); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return g.Reopen(plane.Socket{})
}
