package transport

import (
	"context"
	"errors"
	"strings"
	"testing"

	"calib/internal/kernel"
	"calib/internal/needs"
	"calib/internal/plane"
	"calib/internal/units"
)

// opened returns groups with every link open.
func opened(t testing.TB, meshes []*Mesh, timeout units.Nanos) []*Group {
	t.Helper()
	g := testGroups(t, meshes, timeout)
	openAll(t, g)
	return g
}

func openAll(t testing.TB, g []*Group) {
	t.Helper()
	together(t, g, (*Group).Open)
}

// together has every rank do f at once.
func together(t testing.TB, g []*Group, f func(*Group) error) {
	t.Helper()
	done := make(chan error, len(g))
	for _, rank := range g {
		go func() { done <- f(rank) }()
	}
	for range g {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A rank that dies is an error of its own, once, after all it had sent; the others are heard as before.
func TestRecvAnyOutlivesAPeer(t *testing.T) {
	for _, shared := range []bool{false, true} {
		g := testGroups(t, testMeshes(t, "127.0.0.1", 3, nil), 5*units.Second)
		if shared {
			for _, rank := range g {
				rank.Share(true)
			}
		}
		openAll(t, g)
		if err := g[1].Send(0, []byte("last words")); err != nil {
			t.Fatal(err)
		}
		g[1].Abort()
		var heard []byte
		b := make([]byte, 4)
		for {
			from, n, _, err := g[0].RecvAny(b)
			if from != 1 {
				t.Fatalf("heard %d bytes from rank %d (%v)", n, from, err)
			}
			if err != nil {
				if !errors.Is(err, ErrPeerClosed) || !strings.Contains(err.Error(), "host b") {
					t.Errorf("the dead peer: %v", err)
				}
				break
			}
			heard = append(heard, b[:n]...)
		}
		if string(heard) != "last words" {
			t.Errorf("heard %q", heard)
		}
		if err := g[2].Send(0, []byte{7}); err != nil {
			t.Fatal(err)
		}
		if from, n, _, err := g[0].RecvAny(b); from != 2 || n != 1 || b[0] != 7 || err != nil {
			t.Errorf("%d bytes from rank %d (%v)", n, from, err)
		}
		g[2].Abort()
		for _, want := range []string{"host c", "no connection is left"} {
			if _, _, _, err := g[0].RecvAny(b); !errors.Is(err, ErrPeerClosed) || !strings.Contains(err.Error(), want) {
				t.Errorf("nobody left: %v, want %q", err, want)
			}
		}
	}
}

// A silence of all harms no stream.
func TestRecvAnyTimesOut(t *testing.T) {
	g := opened(t, testMeshes(t, "127.0.0.1", 2, nil), units.Millisecond)
	was := g[0].conns[1]
	if _, _, _, err := g[0].RecvAny(make([]byte, 1)); !errors.Is(err, ErrTimeout) {
		t.Errorf("silence: %v", err)
	}
	if _, _, _, err := g[0].RecvAny(nil); err == nil {
		t.Error("receiving nothing is no error")
	}
	if err := g[1].Send(0, []byte{1}); err != nil {
		t.Fatal(err)
	}
	if from, n, _, err := g[0].RecvAny(make([]byte, 1)); from != 1 || n != 1 || err != nil || g[0].conns[1] != was {
		t.Errorf("afterwards %d bytes from rank %d (%v)", n, from, err)
	}
}

func TestRecvAnyCancelled(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	g, err := NewGroup(ctx, meshes[0], []int{0, 1}, 0, 60*units.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	openAll(t, []*Group{g, testGroups(t, meshes, units.Second)[1]})
	done := make(chan error, 1)
	go func() {
		_, _, _, err := g.RecvAny(make([]byte, 1))
		done <- err
	}()
	why := errors.New("the user pressed Ctrl-C")
	cancel(why)
	if err := <-done; !errors.Is(err, ErrStopped) || !errors.Is(err, why) {
		t.Errorf("blocked receive: %v", err)
	}
}

func TestRecvAnyCountsBytes(t *testing.T) {
	g := opened(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	g[0].conns[1].allowed = allowance(3)
	if err := g[1].Send(0, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if _, n, _, err := g[0].RecvAny(b); n != 3 || err != nil {
		t.Errorf("%d bytes (%v)", n, err)
	}
	if _, _, _, err := g[0].RecvAny(b); !errors.Is(err, ErrTicketBytes) {
		t.Errorf("the fourth byte: %v", err)
	}
}

func TestWaitingAllocatesNothing(t *testing.T) {
	needs.Allocations(t)
	g := lettered(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	msg, got := make([]byte, 64), make([]byte, 64)
	if n := testing.AllocsPerRun(500, func() {
		_, err := g[1].SendSome(0, msg, 0)
		n, err2 := g[0].Pending(1)
		_, m, _, err3 := g[0].RecvAny(got)
		err4 := g[1].SendDatagram(0, msg)
		d, err5 := g[0].RecvDatagram(got, kernel.Now()+units.Second)
		if err := errors.Join(err, err2, err3, err4, err5); err != nil || n != 64 || m != 64 || !d.Got {
			t.Error(n, m, d, err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPendingOfAPeerThatIsGone(t *testing.T) {
	g := opened(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	if err := g[1].Send(0, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	g[1].Abort()
	if n, err := g[0].Pending(1); n != 3 || err != nil {
		t.Errorf("%d bytes pending (%v), want the 3 sent before", n, err)
	}
	if err := g[0].Recv(1, make([]byte, 3)); err != nil {
		t.Error(err)
	}
	if _, err := g[0].Pending(1); !errors.Is(err, ErrPeerClosed) {
		t.Errorf("nothing left: %v", err)
	}
}

// The bytes that were not taken are not charged.
func TestSendSomeCountsBytes(t *testing.T) {
	o := plane.Socket{SndBuf: 4 * units.KiB, RcvBuf: 4 * units.KiB}
	g := opened(t, testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) { s.Socket = o }), units.Second)
	c := g[0].conns[1]
	const all = 1 << 20
	c.allowed = allowance(all)
	n, err := g[0].SendSome(1, make([]byte, all), units.Millisecond)
	if err != nil || n <= 0 || n >= all {
		t.Fatalf("%d bytes (%v)", n, err)
	}
	if left := c.allowed.Load(); left != int64(all-n) {
		t.Errorf("%d bytes went, %d of %d are left", n, left, all)
	}
	if _, err := g[0].SendSome(1, make([]byte, all), 0); !errors.Is(err, ErrTicketBytes) {
		t.Errorf("more than is left: %v", err)
	}
}

func TestSendSomeToAPeerThatDies(t *testing.T) {
	o := plane.Socket{SndBuf: 4 * units.KiB, RcvBuf: 4 * units.KiB}
	g := opened(t, testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) { s.Socket = o }), units.Second)
	done := make(chan error, 1)
	go func() {
		_, err := g[0].SendSome(1, make([]byte, 1<<20), 60*units.Second)
		done <- err
	}()
	if err := g[1].Recv(0, make([]byte, 1)); err != nil {
		t.Error(err)
	}
	g[1].Abort()
	g[1].Close() // unread bytes: a reset
	if err := <-done; !errors.Is(err, ErrPeerClosed) || !strings.Contains(err.Error(), "host b") {
		t.Errorf("send: %v", err)
	}
}

// A peer that ends while its buffer is full resets nothing: its end alone must end the send.
func TestSendSomeToAFullPeerThatEnds(t *testing.T) {
	o := plane.Socket{SndBuf: 4 * units.KiB, RcvBuf: 4 * units.KiB}
	g := opened(t, testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) { s.Socket = o }), units.Second)
	if _, err := g[0].SendSome(1, make([]byte, 1<<20), 300*units.Millisecond); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := g[0].SendSome(1, make([]byte, 1<<20), 20*units.Second)
		done <- err
	}()
	g[1].Abort()
	if err := <-done; !errors.Is(err, ErrPeerClosed) || !strings.Contains(err.Error(), "host b") {
		t.Errorf("send: %v", err)
	}
}
