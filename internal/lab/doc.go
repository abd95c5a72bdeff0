// Package lab builds a network of known parameters out of the kernel's own TCP/IP, so that the parameters which calib
// finds can be compared with the true ones. Every host is a network namespace with one TUN device; one process, the
// wire, holds the other ends of all devices and moves each packet through the servers of a netspec.Spec: the sender's
// block, the medium, the delay L with that of the fabric, the receiver's block.
//
// Its opinions. Packets move in scheduled time, not at the moments when the wire handles them: a packet enters the
// sender's block when its kernel stamped it (TCP on Linux 6.7 and later; any other packet, when it is read from the
// device), every later stage starts at the scheduled end of the one before, and only the last step, handing the packet
// to the receiving kernel, happens in real time. So lateness does not accumulate, and it can be measured: the wire
// keeps a histogram of it, and Judge says when a lab was too late for its results to be used. The histogram leaves out
// the time in which the receiving host wakes up and reads, which real hosts need too: some microseconds where a CPU is
// awake, tens where a virtual one must be woken.
//
// Packets without payload, pure acknowledgements above all, pass the servers free and at once, taking the delay L
// alone, so that what is measured is the data; FIN and RST are free too but wait their turn behind the data. A loss is
// drawn and the fabric's delay taken only for packets that are charged.
//
// Traffic control (netem) was rejected: it charges bytes by a rate, has no cost per packet, works in ticks of its own,
// and does not report when it was late.
//
// The order of events is pure and is tested without a socket (engine.go); everything that touches the kernel is in
// files for Linux alone.
package lab

import (
	"errors"

	"calib/internal/exit"
)

// Classes of errors. Each is wrapped with what was attempted and how to mend it.
var (
	ErrExists      = errors.New("the lab exists already")
	ErrNoLab       = errors.New("no such lab")
	ErrWire        = errors.New("the wire is not running")
	ErrPermission  = errors.New("not allowed to build a lab")
	ErrUnsupported = errors.New("the lab needs Linux: network namespaces and TUN devices")
	ErrUse         = exit.Usagef("wrong use")
)
