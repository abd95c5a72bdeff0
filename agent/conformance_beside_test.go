package agent_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"calib/bench"
	"calib/internal/needs"
	"calib/internal/plane"
)

// beside: the second thread moves messages while the first computes, as often as one likes, messages larger than all
// buffers too; the group's messages go on afterwards.
func (s suite) beside(t *testing.T) {
	s.run(t, 2, false, func(g bench.Group) error {
		peer := 1 - g.Rank()
		for round, n := range []int{1, 5000, 300_000, 3_000_000} {
			out, in := pattern(n, round), make([]byte, n)
			exchange := func(m plane.Mover) error {
				return bench.Caught(func() {
					if got := bench.Push(m, peer, out, in, 16_384); got < n {
						bench.Check(m.Recv(peer, in[got:]))
					}
				})
			}
			err := g.Beside(exchange, func(second plane.Second) error {
				for range 3 {
					clear(in)
					check(second.Start())
					if took := must(g.Machine().Work(100_000)); took <= 0 {
						return errors.New("a computation without a time")
					}
					check(second.Wait())
					if !bytes.Equal(in, out) {
						return fmt.Errorf("a message of %d bytes was changed", n)
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
			check(bounce(g, make([]byte, 10)))
		}
		return nil
	})
}

// besideFails: errors of a transfer come out of Wait, those of f out of Beside, and not to wait is one.
func (s suite) besideFails(t *testing.T) {
	s.run(t, 1, true, func(g bench.Group) error {
		why := errors.New("why")
		transfer := func(plane.Mover) error { return why }
		err := g.Beside(transfer, func(second plane.Second) error {
			for range 2 {
				check(second.Start())
				if err := second.Wait(); !errors.Is(err, why) {
					return fmt.Errorf("the transfer's error is %w", err)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := g.Beside(transfer, func(plane.Second) error { return why }); !errors.Is(err, why) {
			return fmt.Errorf("the error of f is %w", err)
		}
		if g.Beside(transfer, func(second plane.Second) error { return second.Start() }) == nil {
			return errors.New("not to wait is no error")
		}
		return nil
	})
}

// besidePeerLeaves: a transfer from a rank that leaves ends, and so does one under way when f fails.
func (s suite) besidePeerLeaves(t *testing.T) {
	s.run(t, 2, true, func(g bench.Group) error {
		b := make([]byte, 1)
		check(bounce(g, b))
		if g.Rank() == 1 {
			return nil
		}
		err := g.Beside(func(m plane.Mover) error { return m.Recv(1, b) }, func(second plane.Second) error {
			check(second.Start())
			return second.Wait()
		})
		if err == nil {
			return errors.New("a receive from a rank that has left is no error")
		}
		return nil
	})
	s.run(t, 2, true, func(g bench.Group) error {
		b := make([]byte, 1)
		check(bounce(g, b))
		why := errors.New("why")
		err := g.Beside(func(m plane.Mover) error { return m.Recv(1-g.Rank(), b) }, func(second plane.Second) error {
			check(second.Start())
			return why
		})
		if !errors.Is(err, why) {
			return fmt.Errorf("the error is %w", err)
		}
		return nil
	})
}

// besideAllocates: handing over a transfer allocates nothing.
func (s suite) besideAllocates(t *testing.T) {
	needs.Allocations(t)
	const times = 200
	s.run(t, 2, false, func(g bench.Group) error {
		peer, out, in := 1-g.Rank(), make([]byte, 100), make([]byte, 100)
		exchange := func(m plane.Mover) error {
			if err := m.Send(peer, out); err != nil {
				return err
			}
			return m.Recv(peer, in)
		}
		return g.Beside(exchange, func(second plane.Second) error {
			steps := func() error {
				for range times {
					if err := second.Start(); err != nil {
						return err
					}
					if err := second.Wait(); err != nil {
						return err
					}
				}
				return nil
			}
			check(steps())
			return allocates(times, steps)
		})
	})
}
