package agent

import (
	"context"

	"calib/bench"
	"calib/internal/plane"
	"calib/internal/units"
)

// dataPlane is what a server needs of package transport. Tests put their own in its place.
type dataPlane interface {
	// Addr is host:port where data connections are taken.
	Addr() string
	// Prepare forgets the session before and takes this one.
	Prepare(plane.Session) error
	// Group is a rank's view of a team, with every connection of it open. Cancelling ctx shuts its connections down, which
	// ends every call on it.
	Group(ctx context.Context, team []int, rank int, recv units.Nanos) (group, error)
	// Thread prepares the calling thread, which is locked, for timing in a team, and turns the garbage collector off until restore is
	// called or the heap has grown by room.
	Thread(team []int, room units.Bytes) (restore func(), err error)
	// Reset closes all data connections and forgets the session.
	Reset()
	Close()
}

// group is a bench.Group with an end: Close keeps its connections for the next, Abort breaks them.
type group interface {
	bench.Group
	Abort()
	Close()
}
