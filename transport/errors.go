package transport

import (
	"errors"

	"calib/internal/units"
)

// Classes of failure. Errors of this package wrap exactly one of them where one applies, and name the host concerned.
var (
	// ErrTimeout: the peer was silent, or did not take data, for as long as the socket's timeout.
	ErrTimeout = errors.New("timed out")
	// ErrPeerClosed: the peer ended the connection, or its host reset it.
	ErrPeerClosed = errors.New("peer closed the connection")
	// ErrStopped: this side shut the connection down: cancelled, reset or closed.
	ErrStopped = errors.New("connection stopped on this side")
	// ErrTicket: a connection without a valid ticket for this run and pair, on either side.
	ErrTicket = errors.New("ticket refused")
	// ErrConsent: a host that is not known to have agreed to this run. It is not dialled, or what became of it is not
	// told.
	ErrConsent = errors.New("not known as a host of this run")
	// ErrTicketBytes: the pair's byte allowance is used up.
	ErrTicketBytes = errors.New("this pair may move no more bytes in this run (calib agent --max-bytes)")
	// ErrNoSession: the mesh has no run, or the run has no such peer.
	ErrNoSession = errors.New("no session with this host")
	// ErrBusy: the connection to a peer is in use by another group.
	ErrBusy = errors.New("connection in use by another group")
	// ErrUnsupported: this operating system lacks what the measured data plane needs.
	ErrUnsupported = errors.New("measuring needs linux")
)

// Options of a mesh. The zero value limits nothing, and hides nothing.
type Options struct {
	// Rate bounds the sending [B/s]: of each data connection, and of all datagrams together; 0 is no limit of
	// connections, and DatagramRate of datagrams.
	Rate units.Bytes
	// Most bounds the bytes that a pair may move in one run, whatever its tickets say and however often a session of the
	// run begins; 0 is what they say.
	Most units.Bytes
	// Discreet is set where the mesh's caller is not to learn from it which ports are open elsewhere: until a host has
	// proven its ticket, all that becomes of dialling it is one and the same error, at one and the same time. Discreet is
	// told what it was.
	Discreet func(error)
}

// Foreign is what has reached a mesh and was not of its run.
type Foreign struct {
	Strays  int64  // datagrams from elsewhere
	Refused int64  // connections without a valid ticket
	Why     string // of the last refused
}
