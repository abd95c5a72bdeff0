package transport

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"calib/internal/plane"
	"calib/internal/units"
)

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(runtime.NumCPU() + 16) // each rank's receive keeps one while it waits
	goleak.VerifyTestMain(m)
}

// loopbacks lists the loopback addresses of the families this host has; IPv4 is always among them.
func loopbacks() []string {
	addrs := []string{"127.0.0.1"}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil {
		l.Close()
		addrs = append(addrs, "::1")
	}
	return addrs
}

func newTestMesh(t testing.TB, host string) *Mesh {
	t.Helper()
	m, err := NewMesh(net.JoinHostPort(host, "0"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

func testTicket(a, b int) plane.Ticket {
	return plane.Ticket{A: a, B: b, Key: [32]byte{1, byte(a), byte(b)}, MaxBytes: 1 << 30,
		Expires: ticketsExpire}
}

// ticketsExpire is read once: both ends of a pair must hold the same ticket.
var ticketsExpire = time.Now().Add(time.Hour).Unix()

// testMeshes returns n meshes on loopback with a session of run "run" that joins all of them. edit may change each
// host's session before it is set.
func testMeshes(t testing.TB, host string, n int, edit func(self int, s *plane.Session)) []*Mesh {
	t.Helper()
	meshes := make([]*Mesh, n)
	for i := range meshes {
		meshes[i] = newTestMesh(t, host)
	}
	for self, m := range meshes {
		if err := m.SetSession(testSession(meshes, self, edit)); err != nil {
			t.Fatal(err)
		}
	}
	return meshes
}

func testSession(meshes []*Mesh, self int, edit func(self int, s *plane.Session)) plane.Session {
	s := plane.Session{Run: "run", Self: self}
	for i, m := range meshes {
		if i == self {
			continue
		}
		s.Peers = append(s.Peers, plane.Peer{Host: i, Name: string(rune('a' + i)), Addr: m.Addr().String(),
			Consent: m.Consent()})
		s.Tickets = append(s.Tickets, testTicket(min(i, self), max(i, self)))
	}
	if edit != nil {
		edit(self, &s)
	}
	return s
}

// testGroups returns one group for each mesh, over all of them.
func testGroups(t testing.TB, meshes []*Mesh, timeout units.Nanos) []*Group {
	t.Helper()
	team := make([]int, len(meshes))
	for i := range team {
		team[i] = i
	}
	groups := make([]*Group, len(meshes))
	for i, m := range meshes {
		g, err := NewGroup(context.Background(), m, team, i, timeout)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Close)
		groups[i] = g
	}
	return groups
}

// both runs two ranks to their end and fails the test on an error of either.
func both(t testing.TB, a, b func() error) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- b() }()
	if err := a(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// warm opens the link between ranks 0 and 1.
func warm(t testing.TB, g []*Group) {
	t.Helper()
	both(t,
		func() error { return g[0].Send(1, []byte{1}) },
		func() error { return g[1].Recv(0, make([]byte, 1)) })
}

// testPair returns the two ends of a warm connection.
func testPair(t testing.TB, host string, o plane.Socket) (a, b *Conn) {
	t.Helper()
	meshes := testMeshes(t, host, 2, func(_ int, s *plane.Session) { s.Socket = o })
	var err error
	if a, err = meshes[0].Conn(context.Background(), 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Release)
	if b, err = meshes[1].Conn(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Release)
	return a, b
}

// Conn takes line 0.
func (m *Mesh) Conn(ctx context.Context, host int) (*Conn, error) { return m.take(ctx, host, 0, false) }
