package agent_test

import (
	"errors"
	"fmt"
	"testing"

	"calib/bench"
	"calib/internal/plane"
	"calib/internal/units"
)

// reopen: new connections with the options asked for, as often as one likes; messages flow at once, and unchanged.
func (s suite) reopen(t *testing.T) {
	for _, size := range []int{2, 3} {
		s.run(t, size, false, func(g bench.Group) error {
			for i, o := range []plane.Socket{
				{SndBuf: 32 * units.KiB, RcvBuf: 8 * units.KiB},
				{RcvBuf: 16 * units.KiB},
				{NoEOR: true, Nagle: true},
				{},
			} {
				if err := exchange(g, i); err != nil {
					return fmt.Errorf("before reopening with %+v: %w", o, err)
				}
				if err := g.Reopen(o); err != nil {
					return fmt.Errorf("reopen with %+v: %w", o, err)
				}
				if err := errors.Join(buffers(g, o), exchange(g, 10+i)); err != nil {
					return fmt.Errorf("reopened with %+v: %w", o, err)
				}
			}
			return nil
		})
	}
}

// exchange sends every other rank a message and then receives one from each.
func exchange(g bench.Group, seed int) error {
	const size = 2000
	for to := range g.Size() {
		if to != g.Rank() {
			if err := g.Send(to, pattern(size, seed+100*g.Rank())); err != nil {
				return err
			}
		}
	}
	b := make([]byte, size)
	for from := range g.Size() {
		if from == g.Rank() {
			continue
		}
		if err := g.Recv(from, b); err != nil {
			return err
		}
		if string(b) != string(pattern(size, seed+100*from)) {
			return fmt.Errorf("the message of rank %d was changed", from)
		}
	}
	return nil
}

// buffers compares what was granted with what was asked for, where the platform says: once or twice that, and more than
// any size asked for here where none was.
func buffers(g bench.Group, o plane.Socket) error {
	for k := range g.Size() {
		if k == g.Rank() {
			continue
		}
		c, err := g.Counters(k)
		if err != nil {
			return err
		}
		for _, b := range []struct {
			name    string
			asked   units.Bytes
			granted int64
		}{{"send", o.SndBuf, c.SndBuf}, {"receive", o.RcvBuf, c.RcvBuf}} {
			got := units.Bytes(b.granted)
			if got > 0 && b.asked > 0 && (got < b.asked || got > 2*b.asked) || got > 0 && b.asked == 0 && got <= 32*units.KiB {
				return fmt.Errorf("rank %d: asked for a %s buffer of %s, has %s", k, b.name, b.asked, got)
			}
		}
	}
	return nil
}
