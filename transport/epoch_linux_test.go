package transport

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"calib/internal/plane"
	"calib/internal/units"
)

// ports sends a message each way and returns the connection's port as either end sees it.
func ports(t *testing.T, meshes []*Mesh) (a, b int64) {
	t.Helper()
	g := testGroups(t, meshes, 2*units.Second)
	see := func(rank int, port *int64) func() error {
		return func() error {
			byte := make([]byte, 1)
			err := errors.Join(g[rank].Send(1-rank, byte), g[rank].Recv(1-rank, byte))
			n, err2 := g[rank].Counters(1 - rank)
			*port = n.Port
			g[rank].Close()
			return errors.Join(err, err2)
		}
	}
	both(t, see(0, &a), see(1, &b))
	return a, b
}

// A new epoch has connections of its own, whichever side begins it first; within an epoch they are kept.
func TestEpochs(t *testing.T) {
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			meshes := testMeshes(t, "127.0.0.1", 2, nil)
			seen := map[int64]bool{}
			for epoch := range 5 {
				for _, m := range order {
					meshes[m].Epoch(epoch)
				}
				for range 2 {
					a, b := ports(t, meshes)
					if a == 0 || a != b {
						t.Fatalf("epoch %d: ports %d and %d", epoch, a, b)
					}
					seen[a] = true
				}
				if len(seen) != epoch+1 {
					t.Fatalf("epoch %d: %d ports", epoch, len(seen))
				}
			}
		})
	}
}

// A connection of an earlier epoch is not taken, and one of a later epoch waits for it.
func TestEpochOfTheOtherSide(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	meshes[0].Epoch(2)
	c, err := meshes[0].Conn(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	c.Release()
	early, _ := ports(t, meshes) // the listener of epoch 0 has it
	meshes[1].Epoch(2)
	if a, _ := ports(t, meshes); a != early {
		t.Errorf("port %d, then %d of the same epoch", early, a)
	}
	meshes[1].Epoch(3)
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if _, err := meshes[1].Conn(ctx, 0); !errors.Is(err, ErrTimeout) {
		t.Errorf("epoch 3 of the listener, 2 of the dialler: %v", err)
	}
}

// The bytes of a ticket are those of the pair's connections of all epochs.
func TestEpochsShareTheTicket(t *testing.T) {
	const most = 100_000
	meshes := testMeshes(t, "127.0.0.1", 2, func(_ int, s *plane.Session) {
		for i := range s.Tickets {
			s.Tickets[i].MaxBytes = most
		}
	})
	b := make([]byte, most/4)
	var err error
	epochs := 0
	for ; err == nil && epochs < 10; epochs++ {
		for _, m := range meshes {
			m.Epoch(epochs)
		}
		g := testGroups(t, meshes, 2*units.Second)
		received := make(chan error, 1)
		go func() { received <- g[1].Recv(0, make([]byte, len(b))) }()
		if err = g[0].Send(1, b); err != nil {
			g[0].Abort()
			g[1].Abort() // as the coordinator ends a team of which one has failed
		}
		<-received
		for _, x := range g {
			x.Close()
		}
	}
	if !errors.Is(err, ErrTicketBytes) || epochs != 5 {
		t.Errorf("epoch %d: %v, want the fifth quarter refused", epochs, err)
	}
}

// A session begins with epoch 0, whatever the one before had.
func TestEpochEndsWithTheSession(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	for _, m := range meshes {
		m.Epoch(7)
	}
	ports(t, meshes)
	for self, m := range meshes {
		if err := m.SetSession(testSession(meshes, self, nil)); err != nil {
			t.Fatal(err)
		}
	}
	if a, b := ports(t, meshes); a == 0 || a != b {
		t.Errorf("ports %d and %d", a, b)
	}
}
