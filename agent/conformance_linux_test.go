package agent_test

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"

	"calib/agent"
	"calib/bench"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/transport/sim"
)

// The conformance suite of bench.Group: what every experiment expects of real TCP, of the simulator and of any other
// transport is tested here and nowhere else.

// conformance runs the suite. make returns the groups of a fresh team of size ranks, connected to each other and nobody
// else. A receive on them must end within a few seconds when nothing comes: give them a short deadline. A group that is
// an io.Closer is closed when its rank is done; what else must be undone belongs into t.Cleanup.
func conformance(t *testing.T, make func(t *testing.T, size int) []bench.Group) {
	s := suite{make}
	for _, c := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"identity", s.identity}, {"content", s.content}, {"stream", s.stream}, {"all to all", s.allToAll},
		{"ring", s.ring}, {"no peer", s.noPeer}, {"clock", s.clock}, {"arrival", s.arrival}, {"counters", s.counters},
		{"silence", s.silence},
		{"peer leaves", s.peerLeaves}, {"sender notices", s.senderNotices}, {"no allocation", s.noAllocation},
		{"receive from any", s.recvAny}, {"turns", s.turns}, {"silence of all", s.anySilence}, {"pending", s.pending},
		{"unacked", s.unacked},
		{"send some", s.sendSome}, {"limit unsent", s.limitUnsent}, {"reopen", s.reopen}, {"datagrams", s.datagrams},
		{"no datagram", s.datagramSilence},
		{"beside", s.beside}, {"beside fails", s.besideFails}, {"beside a rank that leaves", s.besidePeerLeaves},
		{"beside without allocation", s.besideAllocates}, {"lines", s.lines}, {"line fails", s.lineFails},
		{"machine", s.machine},
		{"patterns", s.patterns},
	} {
		t.Run(c.name, c.run)
	}
}

// TestPlaneConforms is on real TCP over loopback.
func TestPlaneConforms(t *testing.T) {
	for _, c := range []struct {
		name   string
		shared bool
	}{{"own machines", false}, {"shared machine", true}} {
		t.Run(c.name, func(t *testing.T) {
			conformance(t, func(t *testing.T, size int) []bench.Group { return agent.LoopbackTeam(t, size, c.shared) })
		})
	}
}

func TestSimulatorConforms(t *testing.T) {
	s := netspec.Spec{
		Name: "test", Mode: netspec.Switched, MSS: 1000,
		Host: netspec.Block{A: 100e-6, B: 0.3e-6}, Medium: netspec.Block{A: 50e-6, B: 0.2e-6},
	}
	conformance(t, func(t *testing.T, size int) []bench.Group {
		s.Hosts = size
		n := sim.New(s, sim.Options{ClockOffset: 3 * units.Second, ClockDrift: 50})
		groups, hosts := make([]bench.Group, size), bench.FirstHosts(size)[0][0]
		errs := make(chan error, size)
		for rank := range size {
			go func() {
				g, err := n.Group(t.Context(), "test", hosts, rank)
				groups[rank] = g
				errs <- err
			}()
		}
		for range size {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		return groups
	})
}

type suite struct {
	make func(t *testing.T, size int) []bench.Group
}

// run calls f as every rank of a new team. Unless alone is set, the ranks close their groups together, so that none
// misses the last message of another.
func (s suite) run(t *testing.T, size int, alone bool, f func(g bench.Group) error) {
	t.Helper()
	groups := s.make(t, size)
	if len(groups) != size {
		t.Fatalf("a team of %d has %d groups", size, len(groups))
	}
	var wg sync.WaitGroup
	for _, g := range groups {
		wg.Go(func() {
			defer closeGroup(t, g)
			err := caught(func() error { return f(g) })
			if err == nil && !alone {
				err = barrier(g)
			}
			if err != nil {
				t.Errorf("rank %d of %d: %v", g.Rank(), size, err)
			}
		})
	}
	wg.Wait()
}

// check ends a rank's part in a test on an error; must does too, and otherwise returns the value.
func check(err error) {
	if err != nil {
		panic(failed{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// failed is what check panics with.
type failed struct{ error }

// caught returns the error of f, or that with which check ended it.
func caught(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failed:
			err = p.error
		default:
			panic(p)
		}
	}()
	return f()
}

func closeGroup(t *testing.T, g bench.Group) {
	if c, ok := g.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Errorf("rank %d: close: %v", g.Rank(), err)
		}
	}
}

// barrier returns when every rank has come to it.
func barrier(g bench.Group) error {
	b := make([]byte, 1)
	if g.Rank() != 0 {
		return errors.Join(g.Send(0, b), g.Recv(0, b))
	}
	for _, call := range []func(int, []byte) error{g.Recv, g.Send} {
		for k := 1; k < g.Size(); k++ {
			if err := call(k, b); err != nil {
				return fmt.Errorf("barrier with rank %d: %w", k, err)
			}
		}
	}
	return nil
}

// identity: ranks are 0..size-1 in the order of the slice, and a team may have one rank.
func (s suite) identity(t *testing.T) {
	for _, size := range []int{1, 2, 5} {
		for i, g := range s.make(t, size) {
			if g.Rank() != i || g.Size() != size {
				t.Errorf("group %d of %d says rank %d of %d", i, size, g.Rank(), g.Size())
			}
			closeGroup(t, g)
		}
	}
}

// content: messages of any size arrive whole, unchanged and in order, both ways.
func (s suite) content(t *testing.T) {
	sizes := []int{0, 1, 2, 7, 1447, 1448, 1449, 4096, 65_535, 65_536, 300_001, 1 << 20, 3, 0, 1}
	s.run(t, 2, false, func(g bench.Group) error {
		peer := 1 - g.Rank()
		for round, n := range sizes {
			if (round+g.Rank())%2 == 0 {
				check(g.Send(peer, pattern(n, round)))
				continue
			}
			b := make([]byte, n)
			check(g.Recv(peer, b))
			if string(b) != string(pattern(n, round)) {
				return fmt.Errorf("message %d of %d bytes was changed", round, n)
			}
		}
		return nil
	})
}

// pattern depends on place and seed, with a period that is no size of anything.
func pattern(n, seed int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte((i*7 + seed*31 + i/251) % 253)
	}
	return b
}

// stream: receives need not match sends, only their sum.
func (s suite) stream(t *testing.T) {
	s.run(t, 2, false, func(g bench.Group) error {
		whole := pattern(10_000, 1)
		sends, recvs := []int{3, 5, 2000, 1, 7991}, []int{8, 1999, 3, 7990}
		if g.Rank() == 0 {
			for at := 0; len(sends) > 0; sends = sends[1:] {
				check(g.Send(1, whole[at:at+sends[0]]))
				at += sends[0]
			}
			return nil
		}
		for at := 0; len(recvs) > 0; recvs = recvs[1:] {
			b := make([]byte, recvs[0])
			check(g.Recv(0, b))
			if string(b) != string(whole[at:at+recvs[0]]) {
				return fmt.Errorf("bytes %d to %d are not those sent", at, at+recvs[0])
			}
			at += recvs[0]
		}
		return nil
	})
}

// arrival: an answer arrives after its question was sent and not after it was read, and later answers not earlier.
func (s suite) arrival(t *testing.T) {
	s.run(t, 2, false, func(g bench.Group) error {
		b := make([]byte, 3000)
		last := g.Now()
		for i := range 20 {
			sent := g.Now()
			if g.Rank() == 1 {
				check(errors.Join(g.Recv(0, b), g.Send(0, b)))
				continue
			}
			check(g.Send(1, b))
			at := must(g.RecvAt(1, b))
			if now := g.Now(); at < sent || at < last || at > now {
				return fmt.Errorf("answer %d arrived at %d: sent at %d, the one before arrived at %d, read at %d", i, at, sent,
					last, now)
			}
			last = at
		}
		return nil
	})
}

// allToAll: connections are kept apart, whatever the order of receiving.
func (s suite) allToAll(t *testing.T) {
	const size, rounds = 5, 4
	s.run(t, size, false, func(g bench.Group) error {
		for round := range rounds {
			for d := 1; d < size; d++ {
				to := (g.Rank() + d) % size
				check(g.Send(to, pattern(500, 100*round+10*g.Rank()+to)))
			}
		}
		b := make([]byte, 500)
		for d := size - 1; d > 0; d-- {
			from := (g.Rank() + d) % size
			for round := range rounds {
				check(g.Recv(from, b))
				if string(b) != string(pattern(500, 100*round+10*from+g.Rank())) {
					return fmt.Errorf("message %d of rank %d was changed or came out of order", round, from)
				}
			}
		}
		return nil
	})
}

// ring: a token passes every rank; everyone waits for someone.
func (s suite) ring(t *testing.T) {
	const size, times = 4, 25
	s.run(t, size, false, func(g bench.Group) error {
		token := []byte{0}
		next, before := (g.Rank()+1)%size, (g.Rank()+size-1)%size
		for i := range times {
			if g.Rank() == 0 {
				check(g.Send(next, token))
			}
			check(g.Recv(before, token))
			if g.Rank() == 0 {
				if int(token[0]) != (i+1)*(size-1) {
					return fmt.Errorf("time %d round the ring: the token says %d", i, token[0])
				}
				continue
			}
			token[0]++
			check(g.Send(next, token))
		}
		return nil
	})
}

// noPeer: a rank outside the team, or one's own, is an error.
func (s suite) noPeer(t *testing.T) {
	s.run(t, 2, false, func(g bench.Group) error {
		b := make([]byte, 1)
		for _, k := range []int{-1, 2, 1000, g.Rank()} {
			if g.Send(k, b) == nil || g.Recv(k, b) == nil {
				return fmt.Errorf("sending to rank %d or receiving from it is no error", k)
			}
			if _, err := g.Counters(k); err == nil {
				return fmt.Errorf("counters of rank %d are no error", k)
			}
			if _, err := g.Unacked(k); err == nil {
				return fmt.Errorf("bytes unacknowledged by rank %d are no error", k)
			}
			if _, err := g.Pending(k); err == nil {
				return fmt.Errorf("asking what rank %d has sent is no error", k)
			}
			if _, err := g.SendSome(k, b, 0); err == nil || g.SendDatagram(k, b) == nil {
				return fmt.Errorf("sending some or a datagram to rank %d is no error", k)
			}
		}
		return nil
	})
}

// clock: never runs back; WaitUntil never returns early, and at once when the time is past.
func (s suite) clock(t *testing.T) {
	s.run(t, 2, false, func(g bench.Group) error {
		last := g.Now()
		for range 1000 {
			now := g.Now()
			if now < last {
				return fmt.Errorf("the clock went from %d to %d", last, now)
			}
			last = now
		}
		for _, d := range []units.Nanos{-units.Second, 0, 1, units.Microsecond, 300 * units.Microsecond,
			2 * units.Millisecond} {
			until := g.Now() + d
			check(g.WaitUntil(until))
			if now := g.Now(); now < until {
				return fmt.Errorf("waiting until %d ended at %d", until, now)
			}
		}
		return nil
	})
}
