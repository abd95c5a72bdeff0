package lab

import (
	"math"
	"math/rand/v2"

	"calib/internal/lists"
	"calib/internal/netspec"
)

type passage uint8

const (
	// charged packets queue and take service time: every packet with a payload.
	charged passage = iota
	// free packets skip every queue and take the delays alone: acknowledgements, SYN, probes.
	free
	// ordered packets queue but take no service time: FIN and RST, which must not overtake the data before them (a FIN
	// that did would make the sender believe the data lost).
	ordered
)

// packet is a packet in flight. The bytes stay with the caller, who knows them by buf.
type packet struct {
	buf      int32
	src, dst int32 // host indices; dst is −1 for an address outside the lab
	payload  int32 // bytes of data: TCP and UDP behind their headers, any other protocol behind the IP headers
	pass     passage
	// stamp is the TCP timestamp: when the sending kernel made the segment, in its own unit.
	stamp   uint32
	stamped bool
}

// crossing is a packet that reaches the medium.
type crossing struct {
	p packet
	// from is the earliest time at which the medium may have begun with it: when it reaches the medium, or before that
	// where the medium cuts through.
	from int64
	link int // the link's server that it passes next; −1 is none
}

// flight knows when each packet is delivered, in nanoseconds of the caller's clock. The same arrivals give the same
// deliveries and the same drops. A host's packets arrive in order of time, so the end of the sending block is computed
// at once. A packet then waits in an event heap until the time it reaches a link or the medium.
type flight struct {
	path     *netspec.Network[int64]
	soonest  int64 // least time from the end of the sender's block to the delivery of a charged packet
	atMedium netspec.Heap[int64, crossing]
	due      netspec.Heap[int64, packet]
	onDrop   func(packet, netspec.Drop)
}

// newFlight returns an idle network. It calls onDrop for every packet that the medium drops, so that its buffer can be
// reused.
func newFlight(spec *netspec.Spec, onDrop func(packet, netspec.Drop)) *flight {
	service := func(b netspec.Block, payload int) int64 { return nanos(spec.Service(b, payload)) }
	// The second word only makes this stream differ from other uses of the same seed.
	rng := rand.New(rand.NewPCG(spec.Seed, 0x6c6f7373))
	return &flight{
		path:    netspec.NewNetwork(spec, lists.Upto(spec.Hosts), 1e9, service, rng, true),
		soonest: soonest(spec), onDrop: onDrop,
	}
}

// soonest returns the least time from the end of the sender's block to the delivery of a charged packet. A medium that
// cuts through may have begun long before that end, and so counts nothing.
func soonest(spec *netspec.Spec) int64 {
	receive := int64(math.MaxInt64)
	for i := range spec.Hosts {
		receive = min(receive, minService(spec, spec.ReceiveBlock(i)))
	}
	sum := nanos(spec.L) + receive
	if !spec.CutThrough {
		sum += minService(spec, spec.Medium)
	}
	if spec.Fabric != nil {
		sum += nanos(spec.Fabric.PerHost) // the sender itself is active
	}
	return sum
}

// minService is that of the shortest packet. (A block may shorten by rounding as packets grow, so that the longest is
// looked at as well.)
func minService(spec *netspec.Spec, b netspec.Block) int64 {
	return min(nanos(spec.Service(b, 0)), nanos(spec.Service(b, math.MaxUint16)))
}

func nanos(s float64) int64 { return int64(math.Round(s * 1e9)) }

// arrive takes packet p, which host p.src sent at time sent. A host's packets come in the order of their times. A
// packet may arrive late, when advance is past its time: it is then served as soon as the servers, in their present
// state, allow.
func (e *flight) arrive(sent int64, p packet) {
	if p.pass == free {
		e.due.Push(sent+e.path.Delays(int(p.src), int(p.dst)), p)
		return
	}
	end, from := e.path.Send(sent, int(p.src), p.size())
	e.atMedium.Push(end, crossing{p, from, e.path.Link(int(p.src), int(p.dst), -1)})
}

func (p *packet) size() int {
	if p.pass == ordered {
		return netspec.Follows
	}
	return int(p.payload)
}

// advance moves everything that reaches a link or the medium at or before now.
func (e *flight) advance(now int64) {
	for !e.atMedium.Quiet(now) {
		at, c := e.atMedium.Pop()
		var left int64
		var why netspec.Drop
		if c.link >= 0 {
			left, why = e.path.Pass(at, c.link, c.p.size())
		} else {
			left, why = e.path.Cross(at, c.from, int(c.p.src), int(c.p.dst), c.p.size())
		}
		switch {
		case why != netspec.Kept:
			e.onDrop(c.p, why)
		case c.link >= 0:
			e.atMedium.Push(left, crossing{c.p, c.from + left - at, e.path.Link(int(c.p.src), int(c.p.dst), c.link)})
		default:
			e.due.Push(left, c.p)
		}
	}
}

// next returns a time before which nothing charged needs to be delivered; false if nothing is under way.
func (e *flight) next() (int64, bool) {
	t := int64(math.MaxInt64)
	if e.due.Len() > 0 {
		t, _ = e.due.Peek()
	}
	if e.atMedium.Len() > 0 {
		at, c := e.atMedium.Peek()
		delay := e.soonest
		if c.p.pass == ordered {
			delay = e.path.Delay
		}
		t = min(t, at+delay)
	}
	return t, t < math.MaxInt64
}

// deliver returns the earliest packet due at or before now, and when it was due. Call advance(now) first.
func (e *flight) deliver(now int64) (p packet, at int64, ok bool) {
	if e.due.Quiet(now) {
		return packet{}, 0, false
	}
	at, p = e.due.Pop()
	return p, at, true
}
