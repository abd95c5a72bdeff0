package transport

import (
	"context"
	"errors"
	"strings"
	"testing"

	"calib/internal/dataset"
	"calib/internal/kernel"
	"calib/internal/plane"
	"calib/internal/units"
)

func reopenAll(t testing.TB, g []*Group, o plane.Socket) {
	t.Helper()
	together(t, g, func(rank *Group) error { return rank.Reopen(o) })
}

func countersOf(t testing.TB, g *Group, peer int) dataset.TCP {
	t.Helper()
	n, err := g.Counters(peer)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// What Reopen sets holds for every link of the team, and ends with the group.
func TestReopenIsUndone(t *testing.T) {
	for _, host := range loopbacks() {
		meshes := testMeshes(t, host, 3, nil)
		g := opened(t, meshes, 5*units.Second)
		free := countersOf(t, g[2], 0)
		for _, o := range []plane.Socket{
			{SndBuf: 16 * units.KiB, RcvBuf: 8 * units.KiB, Congestion: "reno"}, {SndBuf: 32 * units.KiB},
			{RcvBuf: 16 * units.KiB},
		} {
			reopenAll(t, g, o)
			for i := range g {
				for j := range g {
					if i == j {
						continue
					}
					n := countersOf(t, g[i], j)
					if o.SndBuf > 0 && n.SndBuf != 2*int64(o.SndBuf) || o.RcvBuf > 0 && n.RcvBuf != 2*int64(o.RcvBuf) ||
						o.RcvBuf == 0 && n.RcvBuf < free.RcvBuf || o.Congestion != "" && n.Congestion != o.Congestion {
						t.Errorf("%s, %d to %d, asked for %+v: %+v", host, i, j, o, n)
					}
				}
			}
		}
		was := g[2].conns[0]
		for _, rank := range g {
			rank.Close()
		}
		g = opened(t, meshes, 5*units.Second)
		n := countersOf(t, g[2], 0)
		if g[2].conns[0] == was || n.RcvBuf != free.RcvBuf || n.SndBuf != free.SndBuf || n.Congestion != free.Congestion {
			t.Errorf("the next group has %+v, the first had %+v", n, free)
		}
	}
}

// Connections that were given the session's options in the end serve the next group.
func TestReopenedConnectionsAreKept(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := opened(t, meshes, units.Second)
	reopenAll(t, g, plane.Socket{NoEOR: true})
	reopenAll(t, g, plane.Socket{})
	was := g[0].conns[1]
	for _, rank := range g {
		rank.Close()
	}
	g = opened(t, meshes, units.Second)
	if g[0].conns[1] != was {
		t.Error("a connection with the session's options was dropped")
	}
	warm(t, g)
}

// A rank that is done and gone before another has come out of Reopen has sent its last message to it all the same.
func TestReopenThenLeave(t *testing.T) {
	g := opened(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	done := make(chan error, 1)
	go func() {
		err := errors.Join(g[0].Reopen(plane.Socket{NoEOR: true}), g[0].Send(1, []byte("bye")))
		g[0].Close()
		done <- err
	}()
	// Rank 1 does its part of Reopen step by step, and is slow before the last.
	var err error
	if g[1].overridden, err = g[1].mesh.override(nil, g[1].hosts, &plane.Socket{NoEOR: true}); err != nil {
		t.Fatal(err)
	}
	if err := g[1].askToRedial(0, kernel.Now()+units.Second); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if _, err := g[1].connect(context.Background(), 0, 0, true); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3)
	if err := g[1].Recv(0, b); err != nil || string(b) != "bye" {
		t.Errorf("heard %q (%v)", b, err)
	}
	if err := g[1].Recv(0, b); !errors.Is(err, ErrPeerClosed) {
		t.Errorf("more: %v", err)
	}
}

// Neither side waits for one that has died: the dialler sees the old connection end, and the other is told by its
// context.
func TestPeerDiesDuringReopen(t *testing.T) {
	g := opened(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	done := make(chan error, 1)
	go func() { done <- g[0].Reopen(plane.Socket{NoEOR: true}) }()
	g[1].Abort()
	if err := <-done; !errors.Is(err, ErrPeerClosed) || !strings.Contains(err.Error(), "host b") {
		t.Errorf("the dialling side: %v", err)
	}

	g = opened(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	go func() { done <- g[1].Reopen(plane.Socket{NoEOR: true}) }()
	if err := g[0].Send(1, []byte(here)); err != nil {
		t.Fatal(err)
	}
	if err := g[0].Recv(1, make([]byte, len(ready))); err != nil { // rank 1 is past its old connection
		t.Fatal(err)
	}
	g[0].Abort()
	g[1].Abort()
	if err := <-done; !errors.Is(err, ErrStopped) || !strings.Contains(err.Error(), "host a") {
		t.Errorf("the other side: %v", err)
	}
}

// Both ends look for them.
func TestReopenWithBytesUnderWay(t *testing.T) {
	for sends := range 2 {
		g := opened(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
		if err := g[sends].Send(1-sends, []byte("messages")); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- g[sends].Reopen(plane.Socket{}) }()
		if err := g[1-sends].Reopen(plane.Socket{}); err == nil || !strings.Contains(err.Error(), "under way") {
			t.Errorf("reopened: %v", err)
		}
		g[sends].Abort()
		<-done
	}
}

// A rank that comes to its group while another is in Reopen already finds the connection that both have kept.
func TestReopenBeforeAnotherHasOpened(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	for range 200 {
		g := opened(t, meshes, units.Second)
		for _, rank := range g {
			rank.Close()
		}
		g = testGroups(t, meshes, units.Second)
		done := make(chan error, 1)
		go func() {
			done <- errors.Join(g[1].Open(), g[1].Reopen(plane.Socket{NoEOR: true}), g[1].Send(0, []byte("new")))
		}()
		b := make([]byte, 3)
		err := errors.Join(g[0].Open(), g[0].Reopen(plane.Socket{NoEOR: true}), g[0].Recv(1, b))
		if err = errors.Join(err, <-done); err != nil || string(b) != "new" {
			t.Fatalf("heard %q (%v)", b, err)
		}
		for _, rank := range g {
			rank.Close()
		}
	}
}

func TestReopenWithoutASession(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := opened(t, meshes, units.Second)
	meshes[1].Reset()
	if err := g[1].Reopen(plane.Socket{}); !errors.Is(err, ErrNoSession) {
		t.Errorf("no session: %v", err)
	}
}
