package transport

import (
	"testing"

	"calib/internal/plane"
	"calib/internal/units"
)

// TestLineGivenUp: a line that one rank has opened and given up, before the other asked for it, is not what the next
// groups send on.
func TestLineGivenUp(t *testing.T) {
	meshes := testMeshes(t, "127.0.0.1", 2, nil)
	g := testGroups(t, meshes, units.Second)
	warm(t, g)
	_, l, err := meshes[1].link(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g[0].connect(t.Context(), 1, 1, true); err != nil {
		t.Fatal(err)
	}
	<-l.arrived
	g[0].Abort()
	for _, rank := range g {
		rank.Close()
	}
	g = testGroups(t, meshes, units.Second)
	both(t,
		func() error {
			return g[0].Lines(1, 2, func(_ int, l plane.Line) error { return l.Send([]byte{1}) })
		},
		func() error {
			return g[1].Lines(0, 2, func(_ int, l plane.Line) error {
				_, err := l.RecvSome(make([]byte, 1))
				return err
			})
		})
}
