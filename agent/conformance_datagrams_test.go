package agent_test

import (
	"fmt"
	"testing"

	"calib/bench"
	"calib/internal/units"
)

// datagrams: each arrives or does not, but is never changed, is said to be from its sender, and waiting ends in time.
func (s suite) datagrams(t *testing.T) {
	const size, each = 3, 20
	length := func(i int) int { return 1 + i*1398/(each-1) }
	s.run(t, size, false, func(g bench.Group) error {
		check(g.OpenDatagrams(10 * units.Second))
		check(barrier(g))
		if g.Rank() != 0 {
			for i := range each {
				b := pattern(length(i), i+50*g.Rank())
				b[0] = byte(i)
				check(g.SendDatagram(0, b))
			}
			return nil
		}
		var got [size][each]int
		b := make([]byte, 1400)
		last, arrived := units.Nanos(0), 0
		for arrived < (size-1)*each {
			until := g.Now() + 100*units.Millisecond
			d := must(g.RecvDatagram(b, until))
			if !d.Got {
				break
			}
			i := int(b[0])
			if d.From < 1 || d.From >= size || d.Bytes < 1 || d.Bytes > len(b) || i >= each || d.At > g.Now() || d.Dropped < 0 {
				return fmt.Errorf("datagram %d: %+v", i, d)
			}
			want := pattern(length(i), i+50*d.From)
			want[0] = byte(i)
			if string(b[:d.Bytes]) != string(want) {
				return fmt.Errorf("datagram %d of rank %d was changed: %d bytes, %d were sent", i, d.From, d.Bytes, len(want))
			}
			if got[d.From][i]++; got[d.From][i] > 1 {
				return fmt.Errorf("datagram %d of rank %d came twice", i, d.From)
			}
			last, arrived = max(last, d.At), arrived+1
		}
		if arrived == 0 {
			return fmt.Errorf("none of %d datagrams came", (size-1)*each)
		}
		return nil
	})
}

// datagramSilence: waiting for a datagram ends when its time has come, and not before.
func (s suite) datagramSilence(t *testing.T) {
	s.run(t, 2, false, func(g bench.Group) error {
		check(g.OpenDatagrams(10 * units.Second))
		for _, d := range []units.Nanos{-units.Second, 0, 300 * units.Microsecond, 5 * units.Millisecond} {
			until := g.Now() + d
			got := must(g.RecvDatagram(make([]byte, 10), until))
			if got.Got || g.Now() < until {
				return fmt.Errorf("waiting until %d for nothing ended at %d with %+v", until, g.Now(), got)
			}
		}
		peer := 1 - g.Rank()
		for _, n := range []int{0, 1400, 70_000} {
			if g.SendDatagram(peer, make([]byte, n)) == nil {
				return fmt.Errorf("a datagram of %d bytes is no error", n)
			}
		}
		return nil
	})
}
