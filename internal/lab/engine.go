package lab

import (
	"math"
	"math/rand/v2"

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

// dropCause says why the medium dropped a packet.
type dropCause uint8

const (
	dropBuffer dropCause = iota
	dropLoss
)

// engine computes when each packet is delivered, in nanoseconds of the caller's clock. It is deterministic: the same
// arrivals give the same deliveries and the same drops.
//
// The sender's block sees only its own host's packets, which arrive in order of time, so its end is computed at once.
// The medium is fed by many blocks, so a packet waits in an event heap until the time it reaches the medium. Behind the
// medium the order no longer changes (L is a constant), so the rest is computed at once again.
type engine struct {
	spec     *netspec.Spec
	tx, rx   []server // by host
	media    []server // one if shared, one for every destination if switched
	delay    int64
	soonest  int64 // least time from the medium to the delivery of a charged packet
	atMedium eventHeap
	due      eventHeap
	rng      *rand.Rand
	seq      uint64
	onDrop   func(packet, dropCause)
}

// newEngine returns an idle network. onDrop is told of every packet the medium drops, so that its buffer can be reused.
func newEngine(spec *netspec.Spec, onDrop func(packet, dropCause)) *engine {
	e := &engine{
		spec: spec, onDrop: onDrop, delay: nanos(spec.L),
		tx: make([]server, spec.Hosts), rx: make([]server, spec.Hosts),
		// The second word only makes this stream differ from other uses of the same seed.
		rng: rand.New(rand.NewPCG(spec.Seed, 0x6c6f7373)),
	}
	least := math.Inf(1)
	for i := range spec.Hosts {
		e.tx[i].block, e.rx[i].block = spec.HostBlock(i), spec.HostBlock(i)
		least = min(least, spec.HostBlock(i).A)
	}
	ports := 1
	if spec.Mode == netspec.Switched {
		ports = spec.Hosts
	}
	e.media = make([]server, ports)
	for i := range e.media {
		e.media[i].block, e.media[i].room = spec.Medium, spec.Buffer
	}
	e.soonest = e.delay + nanos(spec.Medium.A) + nanos(least)
	return e
}

func nanos(s float64) int64 { return int64(math.Round(s * 1e9)) }

// arrive takes packet p, which host p.src sent at time sent. A host's packets come in the order of their times. A packet
// may be told of late, when advance is past its time: it is then served as soon as the servers, as they are by now, allow.
func (e *engine) arrive(sent int64, p packet) {
	if e.spec.ChargeAcks {
		p.pass = charged
	}
	if p.pass == free {
		e.push(&e.due, sent+e.delay, p)
		return
	}
	tx := &e.tx[p.src]
	e.push(&e.atMedium, tx.enter(sent, e.service(tx, p)), p)
}

// advance moves everything that reaches the medium at or before now.
func (e *engine) advance(now int64) {
	for e.atMedium.len() > 0 && e.atMedium.top().at <= now {
		ev := e.atMedium.pop()
		e.medium(ev.at, ev.p)
	}
}

func (e *engine) medium(at int64, p packet) {
	port := &e.media[0]
	if e.spec.Mode == netspec.Switched {
		port = &e.media[p.dst]
	}
	if p.pass == charged {
		if port.full(at) {
			e.onDrop(p, dropBuffer)
			return
		}
		if e.spec.Loss > 0 && e.rng.Float64() < e.spec.Loss {
			e.onDrop(p, dropLoss)
			return
		}
	}
	out := port.enter(at, e.service(port, p))
	rx := &e.rx[p.dst]
	e.push(&e.due, rx.enter(out+e.delay, e.service(rx, p)), p)
}

// service returns how long p occupies s [ns]; −1 for a packet that waits its turn but occupies nothing.
func (e *engine) service(s *server, p packet) int64 {
	if p.pass == ordered {
		return -1
	}
	return nanos(e.spec.Service(s.block, int(p.payload)))
}

func (e *engine) push(h *eventHeap, at int64, p packet) {
	e.seq++
	h.push(event{at: at, seq: e.seq, p: p})
}

// next returns a time before which nothing charged needs to be delivered; false if nothing is under way.
func (e *engine) next() (int64, bool) {
	t, ok := int64(math.MaxInt64), false
	if e.due.len() > 0 {
		t, ok = e.due.top().at, true
	}
	if e.atMedium.len() > 0 {
		ev := e.atMedium.top()
		if ev.p.pass == ordered {
			return min(t, ev.at+e.delay), true
		}
		t, ok = min(t, ev.at+e.soonest), true
	}
	return t, ok
}

// deliver returns the earliest packet due at or before now, and when it was due. Call advance(now) first.
func (e *engine) deliver(now int64) (p packet, at int64, ok bool) {
	if e.due.len() == 0 || e.due.top().at > now {
		return packet{}, 0, false
	}
	ev := e.due.pop()
	return ev.p, ev.at, true
}

// server is one first-come first-served station.
type server struct {
	block  netspec.Block
	room   int   // packets it can hold, in service included; 0 is unlimited
	idleAt int64 // when it has finished all it holds
	inside fifo  // when each packet inside leaves, ascending
	most   int   // largest number inside
}

// full reports whether there is no room for a packet that arrives at time at.
func (s *server) full(at int64) bool {
	s.inside.leaveUntil(at)
	return s.room > 0 && s.inside.n >= s.room
}

// enter takes in a packet that arrives at time at and returns when it leaves. A negative service is a packet that waits
// its turn but needs neither time nor room.
func (s *server) enter(at, service int64) int64 {
	if service < 0 {
		return max(at, s.idleAt)
	}
	s.inside.leaveUntil(at)
	s.idleAt = max(at, s.idleAt) + service
	s.inside.push(s.idleAt)
	s.most = max(s.most, s.inside.n)
	return s.idleAt
}
