// Package plane holds the types that experiments, agents and data planes (package transport, package sim) share:
// sessions and tickets, socket options, datagrams, and what an experiment may do with the host itself. It has no
// behaviour, so that experiments and data planes need not import each other.
package plane

import "calib/internal/units"

// Socket holds the options of a data connection. Zero values leave the kernel's default: automatic buffers, the
// system's congestion control, messages kept apart, Nagle's algorithm off.
type Socket struct {
	// SndBuf and RcvBuf are asked of the kernel as SO_SNDBUF and SO_RCVBUF [B]; it grants twice that, up to
	// net.core.wmem_max and rmem_max. What it granted is in the counters.
	SndBuf, RcvBuf units.Bytes
	// Congestion names the congestion control ("cubic", "bbr").
	Congestion string
	// NoEOR lets the kernel merge the end of one message and the start of the next into one segment.
	NoEOR bool
	// Nagle leaves TCP_NODELAY off.
	Nagle bool
}

// Datagram is what one call of RecvDatagram returned.
type Datagram struct {
	Got   bool        // false: the time ended and nothing had come
	From  int         // rank
	Bytes int         // its length
	At    units.Nanos // when it reached this host, as with RecvAt
	// Dropped counts the datagrams that this host's own socket had no room for since the team began: those were not
	// lost in the network.
	Dropped int64
}

// Place is where a rank runs.
type Place struct {
	Shared bool // other ranks may run on the same machine
	CPU    int  // on which its thread is pinned; −1 if on none
}

// Machine is the host itself, as far as an experiment uses it beside its network. Its calls are made by the thread that
// times.
type Machine interface {
	// CPUs is how many the agent may use.
	CPUs() int
	// Caches are the sizes of the data caches one CPU sees, nearest first; none where the host does not say.
	Caches() []units.Bytes
	// Compute does work steps of one fixed computation on some of the CPUs the agent may use, counted from 0, or on
	// every one where none is named, all at once, and returns the sum of the times the CPUs took. The computation
	// neither allocates nor sleeps nor touches memory that others use.
	Compute(work int64, cpus ...int) (units.Nanos, error)
	// Work does so many steps of the same computation on the calling thread, and returns the time they took.
	Work(steps int64) (units.Nanos, error)
	// Received is how much each of those CPUs has done of taking in what arrives, since some time in the past: a number
	// that grows with every interrupt for packets. It is nil where the host does not say.
	Received() []int64
	// StayAwake keeps every CPU out of sleep states from which waking takes time, until release. It fails where the
	// process may not ask for that.
	StayAwake() (release func(), err error)
	// Copy makes n copies one after the other and returns the time of all of them.
	Copy(c Copy, n int) (units.Nanos, error)
	// Cold is the memory that copies from or to memory go through, taken at the first of them.
	Cold() units.Bytes
}

// Copy is one kind of copying within a host's memory.
type Copy struct {
	Bytes units.Bytes
	// ColdFrom and ColdTo say that source and destination are in no cache, because so much other memory has been
	// touched since they were; otherwise they were used just before.
	ColdFrom, ColdTo bool
	// Loop copies byte by byte, as a program that converts data does; otherwise all at once.
	Loop bool
}

// Route is how packets leave for another host.
type Route struct {
	Device int // index of the interface that they leave by
	MTU    int // largest packet that the kernel sends on this way [B]
}
