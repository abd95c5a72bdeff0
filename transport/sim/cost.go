package sim

import (
	"math"

	"calib/internal/units"
)

// Cost is the time a call takes on its own host, before anything else (Send, SendSome, SendDatagram) or after it (Recv,
// RecvAny, RecvDatagram, Now, Pending), and what the host's kernel takes for a packet that arrives. With m the bytes of the
// call, or of the packet:
//
//	O_s(m) = Send + SendByte·m
//	U_r(m) = Recv + RecvByte·m
//	O_r(m) = Arrive + ArriveByte·m
//
// O_r is a first-come first-served server of the host's, behind its receiving block: Recv gets a packet's bytes when it has
// been handled. So for messages of one packet a round trip is 2(O_s + L + O_r + U_r), with L the way from block to block.
type Cost struct {
	Send, Recv, Now    units.Nanos // Now is the cost of Pending too
	SendByte, RecvByte float64     // ns/B
	Arrive             units.Nanos
	ArriveByte         float64 // ns/B
}

func (c *Cost) send(n int) instant { return linear(c.Send, c.SendByte, n) }

func (c *Cost) recv(n int) instant { return linear(c.Recv, c.RecvByte, n) }

func (c *Cost) arrive(n int) instant { return linear(c.Arrive, c.ArriveByte, n) }

func linear(fixed units.Nanos, perByte float64, n int) instant {
	t := fromNanos(fixed)
	if perByte != 0 {
		t += instant(math.Round(perByte * float64(n) * perNano))
	}
	return t
}
