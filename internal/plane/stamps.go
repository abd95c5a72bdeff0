package plane

import "calib/internal/units"

// The stamps of a message are times at which its last byte passed a place on its way, as the host's kernel or its
// network interface noted them. The kernel's are on the host's wall clock, the interface's on a clock of its own; 0 is
// a stamp that was not taken.

// Departure is the stamps of a message that a host sent.
type Departure struct {
	Scheduled units.Nanos // the kernel handed it to the device's queue (SCHED)
	Sent      units.Nanos // the device's driver took it (SND)
	NIC       units.Nanos // the interface sent it
}

// Arrival is the stamps of a message that a host received.
type Arrival struct {
	Taken units.Nanos // the kernel took it from the device
	NIC   units.Nanos // the interface received it
}
