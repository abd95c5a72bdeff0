package lab

import (
	"math"
	"math/rand/v2"

	"calib/internal/events"
	"calib/internal/netspec"
)

// passage says how a packet passes the servers.
type passage uint8

const (
	// charged packets queue and take service time: every packet with a payload, and all packets with ChargeAcks.
	charged passage = iota
	// free packets skip every queue and take the delay L alone: acknowledgements, SYN, probes.
	free
	// ordered packets queue but take no service time: FIN and RST, which must not overtake the data before them (a
	// FIN that did would make the sender believe the data lost).
	ordered
)

// packet is a packet in flight. The bytes stay with the caller, who knows them by buf.
type packet struct {
	buf      int32
	src, dst int32
	payload  int32
	pass     passage
}

// crossing is a packet that reaches the medium.
type crossing struct {
	p packet
	// from is the earliest time at which the medium may have begun with it: when it reaches the medium, or before that
	// where the medium cuts through.
	from int64
	link int // the link's server that it passes before; −1 is none
}

// dropCause says why the medium dropped a packet.
type dropCause uint8

const (
	dropBuffer dropCause = iota
	dropLoss
)

// engine computes when each packet is delivered, in nanoseconds of the caller's clock. It is deterministic: the same
// arrivals give the same deliveries and the same drops.
//
// The sender's block sees only its own host's packets, which arrive in order of time, so its end is computed at once. A
// link and the medium are fed by many blocks, so a packet waits in an event heap until the time it reaches them, which
// is the end of the block before: it joins the queue and takes its room then, also where the medium cuts through and so
// has begun with it before. Behind the medium the order no longer changes, not even where the fabric delays packets
// unequally (the receiver takes them in the order of the medium), so the rest is computed at once again.
type engine struct {
	spec     *netspec.Spec
	tx, rx   []server // by host
	media    []server // one if shared, one for every destination if switched
	links    []server // of netspec.Spec.Routes
	route    func(src, dst int) int
	delay    int64
	soonest  int64                   // least time from the end of the sender's block to the delivery of a charged packet
	active   *events.Activity[int64] // nil without a fabric
	atMedium events.Heap[int64, crossing]
	due      events.Heap[int64, packet]
	rng      *rand.Rand
	onDrop   func(packet, dropCause)
}

// newEngine returns an idle network. It calls onDrop for every packet that the medium drops, so that its buffer can be
// reused.
func newEngine(spec *netspec.Spec, onDrop func(packet, dropCause)) *engine {
	e := &engine{
		spec: spec, onDrop: onDrop, delay: nanos(spec.L),
		tx: make([]server, spec.Hosts), rx: make([]server, spec.Hosts),
		// The second word only makes this stream differ from other uses of the same seed.
		rng: rand.New(rand.NewPCG(spec.Seed, 0x6c6f7373)),
	}
	for i := range spec.Hosts {
		e.tx[i].block, e.rx[i].block = spec.HostBlock(i), spec.ReceiveBlock(i)
	}
	ports := 1
	if spec.Mode == netspec.Switched {
		ports = spec.Hosts
	}
	e.media = make([]server, ports)
	for i := range e.media {
		e.media[i].block, e.media[i].room = spec.Medium, spec.Buffer
	}
	e.route, e.links = spec.Routes(), make([]server, spec.Directions())
	for i := range e.links {
		e.links[i].block, e.links[i].room = spec.Links[i/2].Block, spec.Links[i/2].Buffer
	}
	if spec.Fabric != nil {
		e.active = events.NewActivity(spec.Hosts, nanos(spec.Fabric.Active()))
	}
	e.soonest = soonest(spec)
	return e
}

// soonest returns the least time from the end of the sender's block to the delivery of a charged packet. A medium that
// cuts through may have begun long before that end, and so counts nothing.
func soonest(spec *netspec.Spec) int64 {
	receive := int64(math.MaxInt64)
	for i := range spec.Hosts {
		receive = min(receive, leastService(spec, spec.ReceiveBlock(i)))
	}
	sum := nanos(spec.L) + receive
	if !spec.CutThrough {
		sum += leastService(spec, spec.Medium)
	}
	if spec.Fabric != nil {
		sum += nanos(spec.Fabric.PerHost) // the sender itself is active
	}
	return sum
}

// leastService is that of the shortest packet. (A block may shorten by rounding as packets grow, so that the longest is
// looked at as well.)
func leastService(spec *netspec.Spec, b netspec.Block) int64 {
	return min(nanos(spec.Service(b, 0)), nanos(spec.Service(b, math.MaxUint16)))
}

func nanos(s float64) int64 { return int64(math.Round(s * 1e9)) }

// arrive takes packet p, which host p.src sent at time sent. A host's packets come in the order of their times. A
// packet may arrive late, when advance is past its time: it is then served as soon as the servers, in their present
// state, allow.
func (e *engine) arrive(sent int64, p packet) {
	if e.spec.ChargeAcks {
		p.pass = charged
	}
	if p.pass == free {
		e.due.Push(sent+e.delay, p)
		return
	}
	tx := &e.tx[p.src]
	service := e.service(tx, p)
	end := tx.enter(sent, sent, service)
	from := end
	if e.spec.CutThrough && service > 0 {
		from -= service
	}
	c := crossing{p, from, -1}
	if e.route != nil {
		c.link = e.route(int(p.src), int(p.dst))
	}
	e.atMedium.Push(end, c)
}

// advance moves everything that reaches a link or the medium at or before now.
func (e *engine) advance(now int64) {
	for !e.atMedium.Quiet(now) {
		if at, c := e.atMedium.Pop(); c.link >= 0 {
			e.pass(at, c)
		} else {
			e.medium(at, c)
		}
	}
}

// pass takes a packet over its link to the medium.
func (e *engine) pass(at int64, c crossing) {
	l := &e.links[c.link]
	if c.p.pass == charged && l.full(at) {
		e.onDrop(c.p, dropBuffer)
		return
	}
	reached := l.enter(at, at, e.service(l, c.p))
	e.atMedium.Push(reached, crossing{c.p, reached, -1})
}

func (e *engine) medium(at int64, c crossing) {
	p, port := c.p, &e.media[0]
	if e.spec.Mode == netspec.Switched {
		port = &e.media[p.dst]
	}
	delay := e.delay
	if p.pass == charged {
		delay += e.fabric(at, p)
		if port.full(at) {
			e.onDrop(p, dropBuffer)
			return
		}
		if e.spec.Loss > 0 && e.rng.Float64() < e.spec.Loss {
			e.onDrop(p, dropLoss)
			return
		}
	}
	reached := port.enter(at, c.from, e.service(port, p)) + delay
	rx := &e.rx[p.dst]
	e.due.Push(rx.enter(reached, reached, e.service(rx, p)), p)
}

// fabric notes that p's host has sent it, and returns the delay of p in the fabric.
func (e *engine) fabric(at int64, p packet) int64 {
	if e.active == nil {
		return 0
	}
	m := int(p.payload)
	gs := e.spec.Service(e.tx[p.src].block, m)
	return nanos(e.spec.Fabric.Delay(m, e.active.Sent(at, int(p.src)), gs))
}

// service returns how long p occupies s [ns]; −1 for a packet that waits its turn but occupies nothing.
func (e *engine) service(s *server, p packet) int64 {
	if p.pass == ordered {
		return -1
	}
	return nanos(e.spec.Service(s.block, int(p.payload)))
}

// next returns a time before which nothing charged needs to be delivered; false if nothing is under way.
func (e *engine) next() (int64, bool) {
	t, ok := int64(math.MaxInt64), false
	if e.due.Len() > 0 {
		t, _ = e.due.Peek()
		ok = true
	}
	if e.atMedium.Len() > 0 {
		at, c := e.atMedium.Peek()
		if c.p.pass == ordered {
			return min(t, at+e.delay), true
		}
		t, ok = min(t, at+e.soonest), true
	}
	return t, ok
}

// deliver returns the earliest packet due at or before now, and when it was due. Call advance(now) first.
func (e *engine) deliver(now int64) (p packet, at int64, ok bool) {
	if e.due.Quiet(now) {
		return packet{}, 0, false
	}
	at, p = e.due.Pop()
	return p, at, true
}
