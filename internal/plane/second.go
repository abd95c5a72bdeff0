package plane

import "calib/internal/units"

// Mover is a group as a thread uses it that moves messages and does nothing else.
type Mover interface {
	Send(to int, b []byte) error
	Recv(from int, b []byte) error
	Pending(from int) (int, error)
	SendSome(to int, b []byte, patience units.Nanos) (int, error)
}

// Second is a second thread of a rank, which moves messages while the first computes.
type Second interface {
	// Start lets the second thread make its transfer once, and returns at once. From then until Wait has returned, the
	// group's connections and the transfer's buffers are the second thread's.
	Start() error
	// Wait returns when the transfer has ended, with its error. It is called once for each Start, before the next.
	Wait() error
}
