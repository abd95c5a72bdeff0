package transport

import (
	"errors"
	"testing"

	"calib/internal/units"

	"golang.org/x/sys/unix"
)

// A shared group stamps arrivals once it is asked, also on connections it opens later; the next group on the same
// connections is without stamps, so that round trips do not pay for them.
func TestStampLastsForOneGroup(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := testGroups(t, meshes, 5*units.Second)
	for _, rank := range g {
		rank.Share(true)
	}
	openAll(t, g)
	on := func(g *Group) bool {
		v, err := unix.GetsockoptInt(g.conns[1-g.rank].fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS)
		if err != nil {
			t.Fatal(err)
		}
		return v != 0
	}
	if on(g[0]) {
		t.Error("stamps before they were asked for")
	}
	for _, rank := range g {
		if err := rank.Stamp(); err != nil {
			t.Fatal(err)
		}
	}
	if !on(g[0]) || !on(g[1]) {
		t.Error("no stamps after Stamp")
	}
	for _, rank := range g {
		rank.Close()
	}
	g = testGroups(t, meshes, 5*units.Second)
	openAll(t, g)
	if on(g[0]) || on(g[1]) {
		t.Error("stamps in the next group")
	}
}

// A rank that polls gets its bytes, and gives up after the group's deadline.
func TestRecvPolling(t *testing.T) {
	g := testGroups(t, testMeshes(t, "127.0.0.1", 2, nil), 100*units.Millisecond)
	openAll(t, g)
	if err := g[0].Send(1, []byte("twice")); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 5)
	if err := g[1].RecvPolling(0, b); err != nil || string(b) != "twice" {
		t.Errorf("%q, %v", b, err)
	}
	if err := g[1].RecvPolling(0, b); !errors.Is(err, ErrTimeout) {
		t.Errorf("nothing came: %v, want ErrTimeout", err)
	}
}
