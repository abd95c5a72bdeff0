package agent_test

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"

	"calib/bench"
	"calib/internal/plane"
)

// lines: every line carries its own bytes, unchanged and in order, all lines at once, as often as one likes; the
// group's messages go on afterwards; counters and CPU time never fall.
func (s suite) lines(t *testing.T) {
	const write, writes = 30_000, 20
	s.run(t, 2, false, func(g bench.Group) error {
		runtime.LockOSThread() // CPU time is the thread's
		defer runtime.UnlockOSThread()
		peer := 1 - g.Rank()
		for _, k := range []int{1, 4, 2, 4} {
			err := g.Lines(peer, k, inLine(func(i int, l plane.Line) error {
				first := must(l.State())
				want := bytes.Repeat(pattern(write, i), writes)
				if g.Rank() == 0 {
					for j := range writes {
						check(l.Bound(0, int64(j%3*10_000))) // none, and none again
						check(l.Send(want[:write]))
					}
					check(l.Bound(0, 0))
					// No more than one: on line 0 the bytes of the peer's next message may have come.
					end := make([]byte, 1)
					if n := must(l.RecvSome(end)); n != 1 || end[0] != 1 {
						return fmt.Errorf("line %d of %d: %d bytes at the end, %v, want one that is 1", i, k, n, end)
					}
				} else {
					var got []byte
					for b := make([]byte, 100_000); len(got) < len(want); {
						got = append(got, b[:must(l.RecvSome(b))]...)
					}
					if !bytes.Equal(got, want) {
						return fmt.Errorf("line %d of %d: the bytes were changed", i, k)
					}
					check(l.Send([]byte{1}))
				}
				last := must(l.State())
				if last.At < first.At || last.CPU < first.CPU || last.TCP.SegsOut <= first.TCP.SegsOut || last.TCP.MSS == 0 {
					return fmt.Errorf("line %d of %d: %+v and then %+v", i, k, first, last)
				}
				if probes := must(l.ProbesRTT()); probes {
					return fmt.Errorf("line %d of %d probes the round trip", i, k)
				}
				return nil
			}))
			if err != nil {
				return err
			}
			bounds(g, peer, 0, 20_000)
			if err := exchange(g, k); err != nil {
				return fmt.Errorf("after %d lines: %w", k, err)
			}
		}
		return nil
	})
}

// lineFails: an error of f ends the call on both sides.
func (s suite) lineFails(t *testing.T) {
	groups := s.make(t, 2)
	errs := make(chan error)
	for _, g := range groups {
		go func() {
			defer closeGroup(t, g)
			errs <- g.Lines(1-g.Rank(), 3, func(i int, l plane.Line) error {
				if g.Rank() == 0 && i == 1 {
					return fmt.Errorf("line %d fails", i)
				}
				if g.Rank() == 0 {
					return nil
				}
				_, err := l.RecvSome(make([]byte, 1))
				return err
			})
		}()
	}
	for range groups {
		if err := <-errs; err == nil {
			t.Error("no error")
		}
	}
}

// inLine is caught for f, which runs on threads of its own.
func inLine(f func(int, plane.Line) error) func(int, plane.Line) error {
	return func(i int, l plane.Line) error { return caught(func() error { return f(i, l) }) }
}
