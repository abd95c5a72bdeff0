package lab

import (
	"calib/internal/events"
	"calib/internal/netspec"
)

// server is one first-come first-served station.
type server struct {
	block  netspec.Block
	room   int                 // packets it can hold, in service included; 0 is unlimited
	idleAt int64               // when it has finished all it holds
	inside events.Queue[int64] // when each packet inside leaves, ascending
	most   int                 // largest number inside
}

// full reports whether there is no room for a packet that arrives at time at.
func (s *server) full(at int64) bool {
	s.leaveUntil(at)
	return s.room > 0 && s.inside.Len() >= s.room
}

// leaveUntil removes the packets that have left at time at.
func (s *server) leaveUntil(at int64) {
	for s.inside.Len() > 0 && s.inside.Peek() <= at {
		s.inside.Pop()
	}
}

// enter takes in a packet that has arrived as a whole at time at and returns when it leaves. Its service may have begun
// as soon as from, before at, and does not end before at. A negative service is a packet that waits its turn but needs
// neither time nor room.
func (s *server) enter(at, from, service int64) int64 {
	if service < 0 {
		return max(at, s.idleAt)
	}
	s.leaveUntil(at)
	s.idleAt = max(max(from, s.idleAt)+service, at)
	s.inside.Push(s.idleAt)
	s.most = max(s.most, s.inside.Len())
	return s.idleAt
}
