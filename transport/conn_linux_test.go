package transport

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"calib/internal/dataset"
	"calib/internal/kernel"
	"calib/internal/needs"
	"calib/internal/plane"
	"calib/internal/units"
)

func TestMessagesArriveWhole(t *testing.T) {
	for _, host := range loopbacks() {
		for _, o := range []plane.Socket{{}, {NoEOR: true, Nagle: true}, {SndBuf: 4 * units.KiB, RcvBuf: 4 * units.KiB}} {
			t.Run(fmt.Sprintf("%s/%+v", host, o), func(t *testing.T) {
				a, b := testPair(t, host, o)
				sizes := []int{1, 2, 64, 1447, 1448, 2048, 2049, 65536, 1<<20 + 1}
				if o.RcvBuf == 0 {
					sizes = append(sizes, 4<<20)
				}
				fill := rand.New(rand.NewPCG(1, 2))
				for _, n := range sizes {
					msg, got := make([]byte, n), make([]byte, n)
					for i := range msg {
						msg[i] = byte(fill.Uint32())
					}
					both(t,
						func() error { return errors.Join(a.Send(msg), a.Recv(got)) },
						func() error {
							echo := make([]byte, n)
							return errors.Join(b.Recv(echo), b.Send(echo))
						})
					if !bytes.Equal(msg, got) {
						t.Fatalf("%d bytes came back changed", n)
					}
				}
			})
		}
	}
}

// Small messages sent faster than they are read are one segment each, by the kernel's own count.
func TestMessagesAreKeptApart(t *testing.T) {
	const n = 1000
	a, b := testPair(t, "127.0.0.1", plane.Socket{})
	before, err := a.Counters()
	if err != nil {
		t.Fatal(err)
	}
	both(t,
		func() error {
			for i := range n {
				if err := a.Send([]byte{byte(i)}); err != nil {
					return err
				}
			}
			return nil
		},
		func() error {
			got := make([]byte, 1)
			for i := range n {
				if err := b.Recv(got); err != nil {
					return err
				}
				if got[0] != byte(i) {
					return fmt.Errorf("message %d holds %d", i, got[0])
				}
			}
			return nil
		})
	after, err := a.Counters()
	if err != nil {
		t.Fatal(err)
	}
	if segs := after.DataSegsOut - before.DataSegsOut - (after.Retrans - before.Retrans); segs < n {
		t.Errorf("%d messages left in %d segments", n, segs)
	}
}

func TestCountersSayWhatWasGranted(t *testing.T) {
	a, b := testPair(t, "127.0.0.1", plane.Socket{SndBuf: 64 * units.KiB, RcvBuf: 32 * units.KiB, Congestion: "reno"})
	for _, c := range []*Conn{a, b} {
		n, err := c.Counters()
		if err != nil {
			t.Fatal(err)
		}
		if n.Congestion != "reno" || n.SndBuf != 128<<10 || n.RcvBuf != 64<<10 || n.MSS == 0 || n.Cwnd == 0 {
			t.Errorf("%s: counters %+v", c.peer, n)
		}
	}
}

// A bound of what is on its way fixes the send buffer, and its end gives back one that grows. The kernel grants no more
// than net.core.wmem_max, and a buffer that the user has fixed stays.
func TestLimitRoom(t *testing.T) {
	state := func(c *Conn) [2]int {
		t.Helper()
		snd, _, err := kernel.Buffers(c.fd)
		locks, err2 := unix.GetsockoptInt(c.fd, unix.SOL_SOCKET, unix.SO_BUF_LOCK)
		if err := errors.Join(err, err2); err != nil {
			t.Fatal(err)
		}
		return [2]int{snd, locks & unix.SOCK_SNDBUF_LOCK}
	}
	limit := func(c *Conn, n int64, want [2]int) {
		t.Helper()
		if err := c.Bound(0, n); err != nil {
			t.Fatal(err)
		}
		if got := state(c); got != want {
			t.Errorf("a room of %d: a send buffer of %d bytes, fixed %d; want %d", n, got[0], got[1], want)
		}
	}
	own, _ := testPair(t, "127.0.0.1", plane.Socket{})
	free := state(own)
	limit(own, 0, free)
	for _, n := range []int64{64 << 10, 16 << 10} {
		limit(own, n, [2]int{int(2 * n), unix.SOCK_SNDBUF_LOCK})
	}
	limit(own, 0, [2]int{min(free[0], 2*maxSendBuffer(t)), 0})
	limit(own, 1<<40, [2]int{min(free[0], 2*maxSendBuffer(t)), 0})
	users, _ := testPair(t, "127.0.0.1", plane.Socket{SndBuf: 32 * units.KiB})
	for _, n := range []int64{16 << 10, 0} {
		limit(users, n, [2]int{64 << 10, unix.SOCK_SNDBUF_LOCK})
	}
}

// maxSendBuffer is the largest send buffer that can be asked for [B].
func maxSendBuffer(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/sys/net/core/wmem_max")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A session without sizes after one that had them leaves the buffers to the kernel again.
func TestListenerForgetsBuffers(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	granted := func(o plane.Socket) dataset.TCP {
		for self, m := range meshes {
			if err := m.SetSession(testSession(meshes, self, func(_ int, s *plane.Session) { s.Socket = o })); err != nil {
				t.Fatal(err)
			}
		}
		g := testGroups(t, meshes, units.Second)
		warm(t, g)
		n, err := g[1].Counters(0)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	free := granted(plane.Socket{})
	if n := granted(plane.Socket{RcvBuf: 16 * units.KiB}); n.RcvBuf != 32<<10 {
		t.Errorf("asked for 16 KiB, granted %d", n.RcvBuf)
	}
	if n := granted(plane.Socket{}); n.RcvBuf != free.RcvBuf {
		t.Errorf("the kernel's own receive buffer was %d and is now %d", free.RcvBuf, n.RcvBuf)
	}
}

func TestSilenceEndsAtTheTimeout(t *testing.T) {
	a, b := testPair(t, "127.0.0.1", plane.Socket{SndBuf: 4 * units.KiB, RcvBuf: 4 * units.KiB})
	for _, c := range []*Conn{a, b} {
		if err := c.SetTimeouts(units.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	// b reads nothing, so the send cannot end; then a sends nothing whole, so the receive cannot either.
	if err := a.Send(make([]byte, 8<<20)); !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "host b") {
		t.Errorf("send to a peer that does not read: %v", err)
	}
	a, _ = testPair(t, "127.0.0.1", plane.Socket{})
	if err := a.SetTimeouts(units.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := a.Recv(make([]byte, 64)); !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "host b") {
		t.Errorf("receive from a silent peer: %v", err)
	}
	if err := a.Send([]byte{1}); !errors.Is(err, ErrStopped) {
		t.Errorf("the connection after that: %v", err)
	}
}

func TestPeerThatCloses(t *testing.T) {
	a, b := testPair(t, "127.0.0.1", plane.Socket{})
	b.Shutdown()
	if err := a.Recv(make([]byte, 8)); !errors.Is(err, ErrPeerClosed) || !strings.Contains(err.Error(), "host b") {
		t.Errorf("receive: %v", err)
	}
	if err := b.Recv(make([]byte, 8)); !errors.Is(err, ErrStopped) {
		t.Errorf("receive on the side that closed: %v", err)
	}
}

// Stopping while both directions are in use returns both, and nobody's descriptor goes under them.
func TestShutdownWhileBlocked(t *testing.T) {
	a, _ := testPair(t, "127.0.0.1", plane.Socket{})
	done := make(chan error, 2)
	go func() { done <- a.Recv(make([]byte, 8)) }()
	go func() { done <- a.Send(make([]byte, 64<<20)) }()
	a.Shutdown()
	for range 2 {
		if err := <-done; !errors.Is(err, ErrStopped) {
			t.Errorf("blocked call returned %v", err)
		}
	}
}

func TestTimedPathAllocatesNothing(t *testing.T) {
	needs.Allocations(t)
	g := testGroups(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	warm(t, g)
	msg := make([]byte, 64)
	if n := testing.AllocsPerRun(1000, func() {
		t0 := g[0].Now()
		err := errors.Join(g[0].Send(1, msg), g[1].Recv(0, msg), g[0].WaitUntil(t0))
		if err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations for a message", n)
	}
}
