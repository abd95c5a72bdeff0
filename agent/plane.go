package agent

import (
	"context"

	"calib/bench"
	"calib/internal/plane"
	"calib/internal/units"
	"calib/transport"
)

// dataPlane is what a server needs of package transport. Tests put their own in its place.
type dataPlane interface {
	Addr() string
	// Consent is what peers must have been told to open one.
	Consent() string
	// Foreign is what has come since the last call and was not of the run.
	Foreign() transport.Foreign
	// Prepare forgets the session before and takes this one.
	Prepare(plane.Session) error
	// Group is a rank's view of a task's team, with every connection of it open, none of them from an earlier epoch.
	// Cancelling ctx shuts its connections down, which ends every call on it.
	Group(ctx context.Context, t bench.Task) (group, error)
	// Thread prepares the calling thread, which is locked, for timing, and turns the garbage collector off until
	// restore is called or the heap has grown by room.
	Thread(room units.Bytes) (restore func(), err error)
	Reset()
	Close()
}

// group is a bench.Group with an end: Close keeps its connections for the next, Abort breaks them.
type group interface {
	bench.Group
	Abort()
	Close()
}
