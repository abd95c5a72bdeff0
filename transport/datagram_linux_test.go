package transport

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"calib/internal/kernel"
	"calib/internal/plane"
	"calib/internal/units"
)

// letter sends a datagram and expects it.
func letter(t *testing.T, from, to *Group, text string) {
	t.Helper()
	before := kernel.Now()
	if err := from.SendDatagram(to.Rank(), []byte(text)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, maxDatagram)
	d, err := to.RecvDatagram(b, kernel.Now()+5*units.Second)
	if err != nil || !d.Got || d.From != from.Rank() || string(b[:d.Bytes]) != text || d.At < before ||
		d.At > kernel.Now() {
		t.Errorf("rank %d sent %q, rank %d got %+v %q (%v)", from.Rank(), text, to.Rank(), d, b[:d.Bytes], err)
	}
}

// arrived waits for what has been sent to a mesh: a busy kernel delivers later, and not in the order of the senders.
func arrived(t *testing.T, to *Mesh) {
	t.Helper()
	var b [1]byte
	until := kernel.Now() + 5*units.Second
	for kernel.Now() < until {
		if _, errno := kernel.Recv(to.udp.fd, b[:], unix.MSG_DONTWAIT|unix.MSG_PEEK); errno == 0 {
			return
		}
		runtime.Gosched()
	}
	t.Error("nothing has arrived")
}

// lettered returns groups with every link and datagrams open.
func lettered(t testing.TB, meshes []*Mesh, timeout units.Nanos) []*Group {
	t.Helper()
	g := testGroups(t, meshes, timeout)
	together(t, g, func(g *Group) error { return g.OpenDatagrams(openTimeout) })
	return g
}

func TestDatagrams(t *testing.T) {
	for _, host := range loopbacks() {
		for _, shared := range []bool{false, true} {
			g := testGroups(t, testMeshes(t, host, 3, nil), units.Second)
			for _, rank := range g {
				if shared {
					rank.Share(true)
				}
			}
			together(t, g, func(g *Group) error { return g.OpenDatagrams(openTimeout) })
			letter(t, g[0], g[1], "up")
			letter(t, g[2], g[0], "down")
			reopenAll(t, g, plane.Socket{NoEOR: true}) // the way stays
			letter(t, g[1], g[2], strings.Repeat("x", maxDatagram-1))
		}
	}
}

// A mesh on every address sends from the one its peer knows, whatever the routes say.
func TestDatagramsBetweenWildcards(t *testing.T) {
	for _, addrs := range [][2]string{{"127.0.0.3", "127.0.0.2"}, {"::1", "::1"}} {
		if addrs[0] == "::1" && len(loopbacks()) == 1 {
			continue
		}
		var meshes []*Mesh
		for range 2 {
			m, err := NewMesh(":0", Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(m.Close)
			meshes = append(meshes, m)
		}
		for self, m := range meshes {
			if err := m.SetSession(testSession(meshes, self, func(self int, s *plane.Session) {
				_, port, err := net.SplitHostPort(s.Peers[0].Addr)
				if err != nil {
					t.Fatal(err)
				}
				s.Peers[0].Addr = net.JoinHostPort(addrs[1-self], port)
			})); err != nil {
				t.Fatal(err)
			}
		}
		g := lettered(t, meshes, units.Second)
		letter(t, g[0], g[1], "up")
		letter(t, g[1], g[0], "down")
	}
}

// What comes from elsewhere, or came before the group began, is not the team's.
func TestStrayDatagrams(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := lettered(t, meshes, units.Second)
	stranger, err := net.Dial("udp", meshes[1].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if _, err := stranger.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	arrived(t, meshes[1])
	letter(t, g[0], g[1], "mine")
	if n := meshes[1].Foreign().Strays; n != 1 {
		t.Errorf("%d strays, want 1", n)
	}
	if err := g[0].SendDatagram(1, []byte("late")); err != nil {
		t.Fatal(err)
	}
	arrived(t, meshes[1])
	for _, rank := range g {
		rank.Close()
	}
	g = lettered(t, meshes, units.Second)
	letter(t, g[0], g[1], "new")
	if len(meshes[1].session.ours) == 0 {
		t.Fatal("the session knows no datagram socket of its own")
	}
	for from := range meshes[1].session.ours { // a proof of the team before, sent again
		meshes[1].stray(from)
	}
	if n := meshes[1].Foreign().Strays; n != 0 {
		t.Errorf("%d strays: a late one of a team of the session is none", n)
	}
}

// Every datagram the socket had no room for is counted, once.
func TestDroppedDatagrams(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	for range 2 { // the second group starts from 0
		g := lettered(t, meshes, units.Second)
		if err := unix.SetsockoptInt(meshes[1].udp.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 8192); err != nil {
			t.Fatal(err)
		}
		const sent = 100
		before := kernel.Dropped(meshes[1].udp.fd)
		for range sent {
			if err := g[0].SendDatagram(1, make([]byte, 500)); err != nil {
				t.Fatal(err)
			}
		}
		until := kernel.Now() + 5*units.Second
		for kernel.Dropped(meshes[1].udp.fd) == before && kernel.Now() < until { // a busy kernel delivers later
			runtime.Gosched()
		}
		got, dropped := int64(0), int64(0)
		for got+dropped < sent && kernel.Now() < until {
			d, err := g[1].RecvDatagram(make([]byte, 500), 0)
			if err != nil {
				t.Fatal(err)
			}
			if d.Got {
				got++
			} else {
				dropped = d.Dropped
			}
		}
		d, err := g[1].RecvDatagram(make([]byte, 500), 0)
		if err != nil || d.Got || got+d.Dropped != sent || got == 0 || d.Dropped == 0 {
			t.Errorf("%d sent, %d received, %d dropped, then %+v (%v)", sent, got, dropped, d, err)
		}
		for _, rank := range g {
			rank.Close()
		}
	}
}

func TestDatagramPortInUse(t *testing.T) {
	for try := 0; ; try++ {
		other, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		_, err = NewMesh(other.LocalAddr().String(), Options{})
		if try < 20 && err != nil && strings.Contains(err.Error(), "ss -ltnp") {
			continue // a TCP connection of another process happens to have that port
		}
		if !errors.Is(err, kernel.ErrPortInUse) || !strings.Contains(err.Error(), "ss -lunp") {
			t.Errorf("another process has the port: %v", err)
		}
		return
	}
}

func TestDatagramsCountBytes(t *testing.T) {
	g := lettered(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	for _, end := range []*Conn{g[0].conns[1], g[1].conns[0]} {
		end.allowed = allowance(10)
	}
	if err := g[0].SendDatagram(1, make([]byte, 10)); err != nil {
		t.Error(err)
	}
	g[1].conns[0].allowed = allowance(9)
	if _, err := g[1].RecvDatagram(make([]byte, 20), kernel.Now()+units.Second); !errors.Is(err, ErrTicketBytes) {
		t.Errorf("received beyond the limit: %v", err)
	}
	if err := g[0].SendDatagram(1, make([]byte, 1)); !errors.Is(err, ErrTicketBytes) {
		t.Errorf("sent beyond the limit: %v", err)
	}
}

// Sending ends soon after the receiver has gone; waiting for one ends in time, or with the group.
func TestPeerDiesDuringDatagrams(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	first, err := NewGroup(ctx, meshes[0], []int{0, 1}, 0, units.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	g := []*Group{first, testGroups(t, meshes, units.Second)[1]}
	together(t, g, func(g *Group) error { return g.OpenDatagrams(openTimeout) })
	letter(t, g[0], g[1], "alive")
	g[1].Abort()
	if d, err := g[0].RecvDatagram(make([]byte, 1), kernel.Now()+units.Millisecond); err != nil || d.Got {
		t.Errorf("waiting for a dead peer: %+v (%v)", d, err)
	}
	g[0].datagrams.checked[1] -= 2 * liveness
	if err := g[0].SendDatagram(1, []byte{1}); !errors.Is(err, ErrPeerClosed) || !strings.Contains(err.Error(), "host b") {
		t.Errorf("sending to a dead peer: %v", err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := g[0].RecvDatagram(make([]byte, 1), kernel.Now()+600*units.Second)
		done <- err
	}()
	why := errors.New("the user pressed Ctrl-C")
	cancel(why)
	if err := <-done; !errors.Is(err, why) {
		t.Errorf("a cancelled wait: %v", err)
	}
}

func TestDatagramTooLarge(t *testing.T) {
	g := lettered(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	if err := g[0].SendDatagram(1, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if _, err := g[1].RecvDatagram(make([]byte, 99), kernel.Now()+units.Second); err == nil ||
		!strings.Contains(err.Error(), "more than") {
		t.Errorf("100 bytes into 99: %v", err)
	}
}

// The kernel holds every connection to the limit, whichever side opened it, and Reopen does not lift it.
func TestRateLimitOfConnections(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	for _, m := range meshes {
		m.options.Rate, m.pace = 3*units.MiB, newPacer(3*units.MiB)
	}
	g := lettered(t, meshes, units.Second)
	for range 2 {
		for i := range g {
			rate, err := unix.GetsockoptUint64(g[i].conns[1-i].fd, unix.SOL_SOCKET, unix.SO_MAX_PACING_RATE)
			if err != nil || rate != 3<<20 {
				t.Errorf("rank %d: at most %d B/s (%v)", i, rate, err)
			}
		}
		reopenAll(t, g, plane.Socket{Nagle: true})
	}
	start := kernel.Now()
	for range 3 {
		if err := g[0].SendDatagram(1, make([]byte, 1024)); err != nil {
			t.Fatal(err)
		}
	}
	if took := kernel.Now() - start; took < 2*units.Second/3072 {
		t.Errorf("3 KiB at 3 MiB/s left within %v", took)
	}
}
