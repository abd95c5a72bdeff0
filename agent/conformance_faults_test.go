package agent_test

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"

	"calib/bench"
	"calib/internal/needs"
)

// counters: never fall, and know the segments of what was sent where the platform counts at all.
func (s suite) counters(t *testing.T) {
	const messages = 20
	s.run(t, 2, false, func(g bench.Group) error {
		peer := 1 - g.Rank()
		before := must(g.Counters(peer))
		check(barrier(g)) // or a message may have come before the peer reads its counters
		b := make([]byte, 100)
		for range messages {
			check(bounce(g, b))
		}
		after := must(g.Counters(peer))
		d := after.Sub(before)
		if d.SegsOut < 0 || d.SegsIn < 0 || d.DataSegsOut < 0 || d.DataSegsIn < 0 || d.Retrans < 0 {
			return fmt.Errorf("counters fell: %+v", d)
		}
		if after.MSS > 0 && (d.DataSegsOut < messages || d.DataSegsIn < messages) {
			return fmt.Errorf("%d messages each way, each on its own, are %d segments out and %d in",
				messages, d.DataSegsOut, d.DataSegsIn)
		}
		return nil
	})
}

// bounce is one round trip of b between ranks 0 and 1.
func bounce(g bench.Group, b []byte) error {
	peer := 1 - g.Rank()
	if g.Rank() == 0 {
		if err := g.Send(peer, b); err != nil {
			return err
		}
		return g.Recv(peer, b)
	}
	if err := g.Recv(peer, b); err != nil {
		return err
	}
	return g.Send(peer, b)
}

// silence: two ranks that wait for each other both get an error in the end.
func (s suite) silence(t *testing.T) {
	s.run(t, 2, true, func(g bench.Group) error {
		if g.Recv(1-g.Rank(), make([]byte, 1)) == nil {
			return errors.New("received a byte nobody sent")
		}
		return nil
	})
}

// peerLeaves: what a rank sent before it left still arrives; waiting for more is an error, not a hang.
func (s suite) peerLeaves(t *testing.T) {
	s.run(t, 3, true, func(g bench.Group) error {
		b := pattern(5000, 1)
		if g.Rank() == 0 {
			return errors.Join(g.Send(1, b), g.Send(2, b))
		}
		if err := g.Recv(0, b); err != nil {
			return fmt.Errorf("what was sent before leaving: %w", err)
		}
		if g.Recv(0, b[:1]) == nil {
			return errors.New("received more than was sent")
		}
		return nil
	})
}

// senderNotices: sending to a rank that has left fails before long.
func (s suite) senderNotices(t *testing.T) {
	s.run(t, 2, true, func(g bench.Group) error {
		if _, ok := g.(io.Closer); !ok || g.Rank() == 1 {
			return nil
		}
		b := make([]byte, 64<<10)
		for range 10_000 {
			if g.Send(1, b) != nil {
				return nil
			}
		}
		return errors.New("sent 640 MB to a rank that had left")
	})
}

// noAllocation: the timed path allocates nothing.
func (s suite) noAllocation(t *testing.T) {
	needs.Allocations(t)
	const warm, runs = 50, 200
	s.run(t, 2, false, func(g bench.Group) error {
		b := make([]byte, 3000)
		bounces := func(times int) error {
			for range times {
				start := g.Now()
				if err := bounce(g, b); err != nil {
					return err
				}
				if err := g.WaitUntil(start); err != nil {
					return err
				}
			}
			return nil
		}
		check(bounces(warm))
		return allocates(runs, func() error { return bounces(runs) })
	})
}

// allocates fails when f, which does something so many times, allocates every fourth time or more often. All ranks
// count what the whole process allocates, so what the others and the test do is among it. It is used rather than
// testing.AllocsPerRun, which leaves Go one processor: a rank that waits keeps that for up to 10 ms, and the other rank
// starves.
func allocates(times int, f func() error) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := f(); err != nil {
		return err
	}
	runtime.ReadMemStats(&after)
	if n := after.Mallocs - before.Mallocs; n > uint64(times)/4 {
		return fmt.Errorf("%d times made %d allocations", times, n)
	}
	return nil
}
