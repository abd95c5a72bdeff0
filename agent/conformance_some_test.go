package agent_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"calib/bench"
	"calib/internal/plane"
	"calib/internal/units"
)

// patience bounds waiting for what must come, on the group's clock: far above what it takes, so that a busy machine
// does not matter.
const patience = 5 * units.Second

// awaitPending returns when n bytes from a rank can be received. Unlike a receive it does not meet the group's
// deadline.
func awaitPending(g bench.Group, from, n int) error {
	for end := g.Now() + patience; ; {
		got, err := g.Pending(from)
		switch {
		case err != nil:
			return err
		case got >= n:
			return nil
		case g.Now() > end:
			return fmt.Errorf("%d bytes from rank %d are pending, %d were sent", got, from, n)
		}
		if err := g.WaitUntil(g.Now() + 200*units.Microsecond); err != nil {
			return err
		}
	}
}

// recvAny: everything of every sender arrives, in each sender's order, and not before what came earlier from it.
func (s suite) recvAny(t *testing.T) {
	const size, messages, each = 4, 30, 700
	s.run(t, size, false, func(g bench.Group) error {
		if g.Rank() != 0 {
			all := pattern(messages*each, g.Rank())
			for i := range messages {
				check(g.Send(0, all[i*each:(i+1)*each]))
			}
			// What it sends next must not be taken for a part of this.
			return errors.Join(awaitPending(g, 0, 1), g.Recv(0, all[:1]))
		}
		var got [size]int
		var last [size]units.Nanos
		b := make([]byte, 1000)
		for left := (size - 1) * messages * each; left > 0; {
			from, n, at, err := g.RecvAny(b)
			switch {
			case err != nil:
				return err
			case from < 1 || from >= size || n < 1 || n > len(b):
				return fmt.Errorf("%d bytes from rank %d", n, from)
			case got[from]+n > messages*each:
				return fmt.Errorf("rank %d sent %d bytes, %d came", from, messages*each, got[from]+n)
			case string(b[:n]) != string(pattern(messages*each, from)[got[from]:got[from]+n]):
				return fmt.Errorf("bytes %d to %d of rank %d are not those sent", got[from], got[from]+n, from)
			case at < last[from] || at > g.Now():
				return fmt.Errorf("bytes of rank %d came at %d, those before at %d, and it is %d", from, at, last[from], g.Now())
			}
			got[from], last[from], left = got[from]+n, at, left-n
		}
		for k := 1; k < size; k++ {
			check(g.Send(k, b[:1]))
		}
		return nil
	})
}

// turns: of ranks that all have bytes waiting none is kept waiting by the others.
func (s suite) turns(t *testing.T) {
	const size, rounds = 4, 5
	s.run(t, size, false, func(g bench.Group) error {
		b := make([]byte, rounds)
		if g.Rank() != 0 {
			return g.Send(0, b)
		}
		for k := 1; k < size; k++ {
			check(awaitPending(g, k, rounds))
		}
		for round := range rounds {
			var served [size]int
			for range size - 1 {
				from, n, _, err := g.RecvAny(b[:1])
				if err != nil {
					return err
				}
				served[from] += n
			}
			if served != [size]int{0, 1, 1, 1} {
				return fmt.Errorf("round %d served the ranks %v times", round, served)
			}
		}
		return nil
	})
}

// anySilence: waiting for anybody ends when nobody sends.
func (s suite) anySilence(t *testing.T) {
	s.run(t, 3, true, func(g bench.Group) error {
		if _, _, _, err := g.RecvAny(make([]byte, 1)); err == nil {
			return errors.New("received a byte nobody sent")
		}
		return nil
	})
}

// pending: counts what was sent and not yet received, and takes nothing.
func (s suite) pending(t *testing.T) {
	s.run(t, 2, false, func(g bench.Group) error {
		whole, done := pattern(3000, 5), make([]byte, 1)
		if g.Rank() == 1 { // it sends no more before rank 0 has counted
			return errors.Join(g.Send(0, whole), awaitPending(g, 0, 1), g.Recv(0, done))
		}
		check(awaitPending(g, 1, len(whole)))
		b := make([]byte, len(whole))
		for at := 0; at < len(b); at += 1000 {
			if n, err := g.Pending(1); err != nil || n != len(b)-at {
				return fmt.Errorf("%d bytes are pending after %d of %d (%v)", n, at, len(b), err)
			}
			check(g.Recv(1, b[at:at+1000]))
		}
		if n, err := g.Pending(1); err != nil || n != 0 {
			return fmt.Errorf("%d bytes are pending after all (%v)", n, err)
		}
		if string(b) != string(whole) {
			return errors.New("the message was changed")
		}
		return g.Send(1, done)
	})
}

// sendSome: stalls into a rank that does not read, and goes on behind what was taken. Rank 2 tells the reader when.
func (s suite) sendSome(t *testing.T) {
	s.run(t, 3, false, func(g bench.Group) error {
		check(g.Reopen(plane.Socket{SndBuf: 16 * units.KiB, RcvBuf: 16 * units.KiB}))
		whole, count := pattern(4<<20, 3), make([]byte, 8)
		switch g.Rank() {
		case 0:
			n := must(g.SendSome(1, whole, 20*units.Millisecond))
			if n <= 0 || n >= len(whole) {
				return fmt.Errorf("%d of %d bytes went to a rank that reads none", n, len(whole))
			}
			more, err := g.SendSome(1, whole[n:], 0)
			if err != nil || more < 0 || n+more >= len(whole) {
				return fmt.Errorf("without patience, %d bytes more (%v)", more, err)
			}
			n += more
			binary.BigEndian.PutUint64(count, uint64(n))
			check(g.Send(2, count))
			// The reader reads now: what is left goes in one.
			if more, err = g.SendSome(1, whole[n:], patience); err != nil || more != len(whole)-n {
				return fmt.Errorf("%d of the %d bytes left went to a rank that reads (%v)", more, len(whole)-n, err)
			}
			return nil
		case 2:
			return errors.Join(awaitPending(g, 0, 8), g.Recv(0, count), g.Send(1, count))
		}
		check(errors.Join(awaitPending(g, 2, 8), g.Recv(2, count)))
		b := make([]byte, len(whole))
		n := binary.BigEndian.Uint64(count)
		check(errors.Join(g.Recv(0, b[:n]), g.Recv(0, b[n:])))
		if string(b) != string(whole) {
			return errors.New("the message was changed")
		}
		return nil
	})
}

// unacked: what a rank has read, its host acknowledges in the end, and never more was on its way than was sent.
func (s suite) unacked(t *testing.T) {
	const size = 100_000
	s.run(t, 2, false, func(g bench.Group) error {
		whole := make([]byte, size)
		if g.Rank() == 1 {
			return g.Recv(0, whole)
		}
		check(g.Send(1, whole))
		for {
			n, err := g.Unacked(1)
			if err != nil || n == 0 {
				return err
			}
			if n < 0 || n > size {
				return fmt.Errorf("%d bytes of %d are unacknowledged", n, size)
			}
			check(g.WaitUntil(g.Now() + 100*units.Microsecond))
		}
	})
}

// bounds bounds what Send to a rank takes: its connection is line 0.
func bounds(g bench.Group, rank int, unsent, room int64) {
	check(g.Lines(rank, 1, func(_ int, l plane.Line) error { return l.Bound(unsent, room) }))
}

// limitUnsent: with a bound, a rank whose receiver does not read is stopped long before its send buffer is full;
// without one it fills the buffer; and all it sent arrives. Rank 2 tells the reader when.
func (s suite) limitUnsent(t *testing.T) {
	s.run(t, 3, false, func(g bench.Group) error {
		const deep = 150_000
		check(g.Reopen(plane.Socket{SndBuf: deep, RcvBuf: 4 * units.KiB}))
		whole, ready := pattern(8*deep, 5), make([]byte, 1)
		switch g.Rank() {
		case 0:
			bounds(g, 1, 20_000, 0)
			bound := must(g.SendSome(1, whole, 20*units.Millisecond))
			bounds(g, 1, 0, 0)
			n := bound + must(g.SendSome(1, whole[bound:], 20*units.Millisecond))
			if bound <= 0 || bound > deep/2 || n < deep {
				return fmt.Errorf("%d bytes were taken with a bound of 20000, %d without, and the buffer is for %d", bound, n, deep)
			}
			check(g.Send(2, ready))
			if more, err := g.SendSome(1, whole[n:], patience); err != nil || more != len(whole)-n {
				return fmt.Errorf("%d of the %d bytes left went to a rank that reads (%v)", more, len(whole)-n, err)
			}
			return nil
		case 2:
			return errors.Join(awaitPending(g, 0, 1), g.Recv(0, ready), g.Send(1, ready))
		}
		check(errors.Join(awaitPending(g, 2, 1), g.Recv(2, ready)))
		b := make([]byte, len(whole))
		check(g.Recv(0, b))
		if string(b) != string(whole) {
			return errors.New("the message was changed")
		}
		return nil
	})
}
