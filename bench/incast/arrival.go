package incast

import (
	"encoding/binary"

	"calib/bench"
	"calib/internal/units"
)

// arrivalBytes is the size of one.
const arrivalBytes = 8 + 8 + 4 + 4

// arrival is a datagram at the root.
type arrival struct {
	at     units.Nanos // on the root's clock
	sent   units.Nanos // on the sender's
	from   uint32      // rank
	number uint32      // within the sender's share
}

// readArrival is what a datagram of at least minDatagram bytes says of itself.
func readArrival(at units.Nanos, b []byte) arrival {
	return arrival{
		at: at, sent: units.Nanos(bench.GetNumber(b[atSendTime:])),
		from: binary.LittleEndian.Uint32(b[atSender:]), number: binary.LittleEndian.Uint32(b[atSequence:]),
	}
}
