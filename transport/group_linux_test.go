package transport

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"calib/internal/units"
)

// Every pair of a team exchanges its ranks, whoever has to dial.
func TestTeamExchanges(t *testing.T) {
	for _, host := range loopbacks() {
		g := testGroups(t, testMeshes(t, host, 4, nil), 5*units.Second)
		done := make(chan error, len(g))
		for _, rank := range g {
			go func() { done <- exchangeRanks(rank) }()
		}
		for range g {
			if err := <-done; err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
	}
}

func exchangeRanks(g *Group) error {
	b := make([]byte, 1)
	for step := 1; step < g.Size(); step++ {
		peer := g.Rank() ^ step // a pairing of 4 ranks in each step
		b[0] = byte(g.Rank())
		if err := g.Send(peer, b); err != nil {
			return err
		}
		if err := g.Recv(peer, b); err != nil {
			return err
		}
		if b[0] != byte(peer) {
			return fmt.Errorf("rank %d heard %d from %d", g.Rank(), b[0], peer)
		}
	}
	return nil
}

// Three ranks whose first sends count on buffers: with lazy links alone rank 2 would wait for rank 0 to dial it, rank 0
// for rank 1's message, and rank 1 for rank 2's.
func TestOpenLeavesNoRendezvous(t *testing.T) {
	g := testGroups(t, testMeshes(t, "127.0.0.1", 3, nil), 5*units.Second)
	b := [3][1]byte{}
	done := make(chan error, 3)
	run := func(rank int, step ...func() error) {
		err := g[rank].Open()
		for _, f := range step {
			if err == nil {
				err = f()
			}
		}
		done <- err
	}
	go run(0, func() error { return g[0].Recv(1, b[0][:]) }, func() error { return g[0].Recv(2, b[0][:]) })
	go run(1, func() error { return g[1].Recv(2, b[1][:]) }, func() error { return g[1].Send(0, b[1][:]) })
	go run(2, func() error { return g[2].Send(0, b[2][:]) }, func() error { return g[2].Send(1, b[2][:]) })
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestGroupCancelledWhileBlocked(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	ctx, cancel := context.WithCancelCause(context.Background())
	g, err := NewGroup(ctx, meshes[1], []int{0, 1}, 1, units.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	other := testGroups(t, meshes, units.Second)[0]
	warm(t, []*Group{other, g})
	done := make(chan error, 1)
	go func() { done <- g.Recv(0, make([]byte, 8)) }()
	why := errors.New("the user pressed Ctrl-C")
	cancel(why)
	if err := <-done; !errors.Is(err, ErrStopped) || !errors.Is(err, why) {
		t.Errorf("blocked receive: %v", err)
	}
	if err := g.Send(0, []byte{1}); err == nil {
		t.Error("a cancelled group still sends")
	}
	if err := g.WaitUntil(g.Now() + 60*units.Second); !errors.Is(err, why) {
		t.Errorf("wait: %v", err)
	}
	if err := other.Recv(1, make([]byte, 1)); !errors.Is(err, ErrPeerClosed) {
		t.Errorf("the peer: %v", err)
	}
}

// After a failure the same group works again over a new connection, and a silent peer has been named.
func TestGroupGoesOnAfterATimeout(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := testGroups(t, meshes, units.Millisecond)
	warm(t, g)
	if err := g[0].Recv(1, make([]byte, 1)); !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), "host b") {
		t.Errorf("silent peer: %v", err)
	}
	if err := g[1].Recv(0, make([]byte, 1)); !errors.Is(err, ErrPeerClosed) && !errors.Is(err, ErrTimeout) {
		t.Errorf("the peer: %v", err)
	}
	g[0].timeout, g[1].timeout = units.Second, units.Second
	warm(t, g)
}

// What an aborted group left in the stream is not the next group's to read.
func TestAbortLeavesNothingBehind(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := testGroups(t, meshes, units.Second)
	warm(t, g)
	if err := g[0].Send(1, []byte("stale")); err != nil {
		t.Fatal(err)
	}
	for _, rank := range g {
		rank.Abort()
		rank.Close()
	}
	g = testGroups(t, meshes, units.Second)
	b := make([]byte, 1)
	both(t,
		func() error { return g[0].Send(1, []byte{7}) },
		func() error { return g[1].Recv(0, b) })
	if b[0] != 7 {
		t.Errorf("the next group read %q", b)
	}
}

func TestGroupRejectsRanks(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := testGroups(t, meshes, units.Second)[0]
	if g.Rank() != 0 || g.Size() != 2 {
		t.Errorf("group %+v", g)
	}
	for _, rank := range []int{-1, 0, 2} {
		if err := g.Send(rank, []byte{1}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("rank %d of 2", rank)) {
			t.Errorf("send to %d: %v", rank, err)
		}
	}
}

func TestGroupCounters(t *testing.T) {
	g := testGroups(t, testMeshes(t, "127.0.0.1", 2, nil), units.Second)
	warm(t, g)
	before, err := g[0].Counters(1)
	if err != nil {
		t.Fatal(err)
	}
	warm(t, g)
	after, err := g[0].Counters(1)
	if err != nil {
		t.Fatal(err)
	}
	if after.DataSegsOut-before.DataSegsOut != 1 || after.StealTicks < before.StealTicks {
		t.Errorf("before %+v, after %+v", before, after)
	}
}
