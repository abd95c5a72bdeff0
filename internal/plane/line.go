package plane

import (
	"calib/internal/dataset"
	"calib/internal/units"
)

// MaxLines is the largest number of connections a pair of hosts may have at once.
const MaxLines = 16

// Line is one of several connections between two hosts that carry bytes at once, each used by a thread of its own.
// Unlike the messages of a Group, its bytes have no boundaries.
type Line interface {
	// Send returns when the transport has taken all of b.
	Send(b []byte) error
	// LimitUnsent bounds the bytes that Send takes before the transport has sent them: with as many waiting, Send
	// blocks. 0 takes the bound away.
	LimitUnsent(n int64) error
	// LimitRoom bounds the bytes that Send takes before the other end has them, the network's queues included: with as
	// many on their way, Send blocks. 0 takes the bound away. There is none where the transport cannot grant so many,
	// or where a user has fixed the room.
	LimitRoom(n int64) error
	// RecvSome waits until bytes have come, and reads at most len(b) of them. It fails after the group's receive
	// deadline.
	RecvSome(b []byte) (n int, err error)
	Now() units.Nanos
	WaitUntil(t units.Nanos) error
	// State reads what the line has done so far. It makes several system calls.
	State() (LineState, error)
	// ProbesRTT reports whether the congestion control has stopped sending, for 200 ms or more, to see the path without
	// a queue (bbr's PROBE_RTT).
	ProbesRTT() (bool, error)
}

// LineState is what a line has done since it was opened.
type LineState struct {
	At  units.Nanos // when this was read
	TCP dataset.TCP
	CPU units.Nanos // time that the thread which reads this has spent on a CPU since it began
}
