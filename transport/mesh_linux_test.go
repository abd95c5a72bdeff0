package transport

import (
	"cmp"
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"calib/internal/kernel"
	"calib/internal/plane"
	"calib/internal/units"
)

func TestPortInUse(t *testing.T) {
	for _, host := range loopbacks() {
		m := newTestMesh(t, host)
		_, err := NewMesh(m.Addr().String(), Options{})
		if !errors.Is(err, kernel.ErrPortInUse) || !strings.Contains(err.Error(), m.Addr().String()) ||
			!strings.Contains(err.Error(), "port=") {
			t.Errorf("second listener: %v", err)
		}
	}
}

func TestBadListenAddresses(t *testing.T) {
	for _, addr := range []string{"", "nohost", "127.0.0.1:port", ":70000", "192.0.2.77:0", "[fe80::1%nosuchif]:0"} {
		if m, err := NewMesh(addr, Options{}); err == nil {
			m.Close()
			t.Errorf("%q: listens on %v", addr, m.Addr())
		} else if !strings.Contains(err.Error(), "listen for data on "+addr) {
			t.Errorf("%q: %v", addr, err)
		}
	}
}

// An empty host takes connections of every family the host has.
func TestListenOnEveryAddress(t *testing.T) {
	for _, host := range loopbacks() {
		meshes := testMeshes(t, host, 1, nil)
		all, err := NewMesh(":0", Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer all.Close()
		meshes = append(meshes, all)
		_, port, err := net.SplitHostPort(all.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		for self, m := range meshes {
			if err := m.SetSession(testSession(meshes, self, func(self int, s *plane.Session) {
				s.Peers[0].Addr = net.JoinHostPort(host, port)
			})); err != nil {
				t.Fatal(err)
			}
		}
		warm(t, testGroups(t, meshes, units.Second))
	}
}

func TestSessionsThatCannotBe(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(s *plane.Session)
		want string
	}{
		{"ticket for others", func(s *plane.Session) { s.Tickets[0].A, s.Tickets[0].B = 5, 6 }, "this is host 0"},
		{"ticket the wrong way round", func(s *plane.Session) { s.Tickets[0].A, s.Tickets[0].B = 1, 0 }, "want 0 ≤ A < B"},
		{"ticket without a key", func(s *plane.Session) { s.Tickets[0].Key = [32]byte{} }, "without a key"},
		{"ticket for nothing", func(s *plane.Session) { s.Tickets[0].MaxBytes = 0 }, "for 0 bytes"},
		{"two tickets", func(s *plane.Session) { s.Tickets = append(s.Tickets, s.Tickets[0]) }, "has two"},
		{"two peers", func(s *plane.Session) { s.Peers = append(s.Peers, s.Peers[0]) }, "listed twice"},
		{"no peer", func(s *plane.Session) { s.Peers = nil }, "not among the peers"},
		{"congestion control", func(s *plane.Session) {}, ""},
	} {
		meshes := []*Mesh{newTestMesh(t, "127.0.0.1"), newTestMesh(t, "127.0.0.1")}
		s := testSession(meshes, 0, nil)
		c.edit(&s)
		err := meshes[0].SetSession(s)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestConnectionsThatCannotBe(t *testing.T) {
	bare := newTestMesh(t, "127.0.0.1")
	if _, err := bare.Conn(context.Background(), 1); !errors.Is(err, ErrNoSession) {
		t.Errorf("without a session: %v", err)
	}
	gone := newTestMesh(t, "127.0.0.1")
	dead := gone.Addr().String()
	gone.Close()
	meshes := testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) { s.Peers[0].Addr = dead })
	if _, err := meshes[0].Conn(context.Background(), 7); !errors.Is(err, ErrNoSession) {
		t.Errorf("unknown host: %v", err)
	}
	if _, err := meshes[0].Conn(context.Background(), 1); err == nil ||
		!strings.Contains(err.Error(), "host b ("+dead+")") ||
		!strings.Contains(err.Error(), "refused") {
		t.Errorf("nobody listens: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if _, err := meshes[1].Conn(ctx, 0); !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "host a") {
		t.Errorf("nobody dials: %v", err)
	}
	err := meshes[0].SetSession(testSession(meshes, 0, func(_ int, s *plane.Session) { s.Socket.Congestion = "no-such" }))
	if err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("unknown congestion control: %v", err)
	}
}

// A connection that is accepted under another congestion control than the session's keeps that one's timers (BBR's
// pacing), so the listener has the session's, and its own again for a session without one.
func TestAcceptedUnderTheSessionsCongestionControl(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	own := meshes[1].defaults.Congestion
	for _, name := range []string{"reno", "", "reno"} {
		session := testSession(meshes, 1, func(_ int, s *plane.Session) { s.Socket.Congestion = name })
		if err := meshes[1].SetSession(session); err != nil {
			t.Fatal(err)
		}
		if got, err := kernel.Congestion(meshes[1].fd); err != nil || got != cmp.Or(name, own) {
			t.Errorf("session with %q: the listener has %q, %v; its own is %q", name, got, err, own)
		}
	}
}

// A connection is kept for the next group, is one group's at a time, and is replaced once it has broken.
func TestConnectionsAreKeptAndReplaced(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	ctx := context.Background()
	first, err := meshes[0].Conn(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := meshes[0].Conn(ctx, 1); !errors.Is(err, ErrBusy) {
		t.Errorf("second holder: %v", err)
	}
	first.Release()
	again, err := meshes[0].Conn(ctx, 1)
	if err != nil || again != first {
		t.Fatalf("the next holder got another connection (%v)", err)
	}
	again.Shutdown()
	again.Release()
	g := testGroups(t, meshes, units.Second)
	warm(t, g)
	if g[0].conns[1] == first {
		t.Error("the broken connection was handed out again")
	}
}

func TestResetEndsWaitersAndConnections(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	waiting := make(chan error, 1)
	go func() {
		_, err := meshes[1].Conn(context.Background(), 0)
		waiting <- err
	}()
	meshes[1].Reset()
	if err := <-waiting; !errors.Is(err, ErrStopped) && !errors.Is(err, ErrNoSession) {
		t.Errorf("a waiter after Reset: %v", err)
	}
	for self, m := range meshes {
		if err := m.SetSession(testSession(meshes, self, nil)); err != nil {
			t.Fatal(err)
		}
	}
	g := testGroups(t, meshes, units.Second)
	warm(t, g)
	meshes[0].Reset()
	if err := g[0].Recv(1, make([]byte, 1)); !errors.Is(err, ErrStopped) {
		t.Errorf("this side: %v", err)
	}
	if err := g[1].Recv(0, make([]byte, 1)); !errors.Is(err, ErrPeerClosed) {
		t.Errorf("the other side: %v", err)
	}
}

func TestByteLimit(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) { s.Tickets[0].MaxBytes = 1000 })
	g := testGroups(t, meshes, units.Second)
	msg := make([]byte, 500)
	both(t,
		func() error { return errors.Join(g[0].Send(1, msg), g[0].Recv(1, msg)) },
		func() error { return errors.Join(g[1].Recv(0, msg), g[1].Send(0, msg)) })
	if err := g[0].Send(1, msg[:1]); !errors.Is(err, ErrTicketBytes) || !strings.Contains(err.Error(), "host b") {
		t.Errorf("byte 1001: %v", err)
	}
	// A new connection of the pair has no new allowance.
	if err := g[0].Send(1, msg[:1]); !errors.Is(err, ErrTicketBytes) {
		t.Errorf("byte 1001 over another connection: %v", err)
	}
}

func TestTicketExpiresDuringAConnection(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := testGroups(t, meshes, units.Second)
	warm(t, g)
	meshes[0].expire(meshes[0].session, 1)
	if err := g[0].Recv(1, make([]byte, 1)); !errors.Is(err, ErrTicket) {
		t.Errorf("after the expiry: %v", err)
	}
}

// Callers that say nothing, or a part of a hello, do not keep a peer out, however many they are.
func TestSilentStrangers(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	for i := range maxPending + 100 {
		_, _ = knock(t, meshes[1]).Write([]byte(magic)[:i%len(magic)]) // the other end may have closed
	}
	warm(t, testGroups(t, meshes, units.Second))
	meshes[1].mu.Lock()
	defer meshes[1].mu.Unlock()
	if n := len(meshes[1].pending); n > maxPending {
		t.Errorf("%d handshakes in progress, the limit is %d", n, maxPending)
	}
}

// A run that begins a session anew has no new allowance beyond the agent's own limit; another run has.
func TestByteLimitOfARun(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	for _, m := range meshes {
		m.options.Most = 1000
	}
	begin := func(run string) []*Group {
		for self, m := range meshes {
			if err := m.SetSession(testSession(meshes, self, func(_ int, s *plane.Session) { s.Run = run })); err != nil {
				t.Fatal(err)
			}
		}
		return opened(t, meshes, units.Second)
	}
	msg := make([]byte, 600)
	send := func(g []*Group) error {
		received := make(chan error, 1)
		go func() { received <- g[1].Recv(0, make([]byte, len(msg))) }()
		err := g[0].Send(1, msg)
		if err != nil {
			g[1].Abort()
		}
		<-received
		for _, rank := range g {
			rank.Close()
		}
		return err
	}
	if err := send(begin("one")); err != nil {
		t.Fatal(err)
	}
	if err := send(begin("one")); !errors.Is(err, ErrTicketBytes) {
		t.Errorf("1,200 of 1,000 bytes in two sessions of a run: %v", err)
	}
	if err := send(begin("another")); err != nil {
		t.Errorf("another run: %v", err)
	}
}
