package bench

import (
	"encoding/binary"

	"calib/internal/dataset"
	"calib/internal/units"
)

const (
	probeDatagram = 64 // bytes
	// A probe: its tag, its number, and when it was sent.
	probeNumber = 8
	probeSent   = 16
	// probePoll is how long the root looks for nothing but probes while no stream has anything for it.
	probePoll = 50 * units.Microsecond
)

// probes are those that arrived at the root.
type probes struct {
	tag            uint64
	number, sent   []int64
	at             []int64
	planned, shown int // how many are sent in all; those from shown on are under load
}

// sendProbes sends the planned probes from the start on.
func (x *prober) sendProbes(s start, every units.Nanos) (int64, error) {
	msg := x.buf[:probeDatagram]
	binary.LittleEndian.PutUint64(msg, x.seen.tag)
	for i := range x.seen.planned {
		if err := x.g.WaitUntil(s.At + units.Nanos(i)*every); err != nil {
			return int64(i), err
		}
		binary.LittleEndian.PutUint64(msg[probeNumber:], uint64(i))
		binary.LittleEndian.PutUint64(msg[probeSent:], uint64(x.g.Now()))
		if err := x.g.SendDatagram(0, msg); err != nil {
			return int64(i), err
		}
	}
	return int64(x.seen.planned), nil
}

// receive takes the streams to their ends, and the probes among them. A probe has its turn before every read, and while there is
// nothing to read, so that it is not stamped late. It ends with the streams; after their time, when one is silent for as
// long as the group's deadline.
func (x *prober) receive(s start, t *inflow) error {
	overdue := s.At + s.Period + floodGrace
	for busy := 0; t.open > 0; {
		if now := x.g.Now(); x.seen.planned > 0 && now < overdue {
			var err error
			if busy, err = x.pending(busy); err != nil {
				return err
			}
			if busy == 0 {
				now += probePoll
			}
			got, err := x.takeProbe(now)
			if err != nil {
				return err
			}
			if got || busy == 0 {
				continue
			}
		}
		from, n, at, err := x.g.RecvAny(x.buf)
		if err != nil {
			return err
		}
		t.take(from, x.buf[:n], at)
	}
	return nil
}

// pending returns a streaming rank that has bytes waiting, of which it asks first before the others; 0 is none.
func (x *prober) pending(first int) (int, error) {
	streams := x.g.Size() - 2
	for i := range streams {
		rank := 1 + (max(first, 1)-1+i)%streams
		n, err := x.g.Pending(rank)
		if err != nil {
			return 0, err
		}
		if n > 0 {
			return rank, nil
		}
	}
	return 0, nil
}

// takeProbe receives one datagram, if there is one until then, and keeps what it says if it is a probe of this phase.
func (x *prober) takeProbe(until units.Nanos) (got bool, err error) {
	b := x.gram
	d, err := x.g.RecvDatagram(b, until)
	if err != nil || !d.Got {
		return false, err
	}
	p := &x.seen
	if d.Bytes == probeDatagram && binary.LittleEndian.Uint64(b) == p.tag && len(p.at) < cap(p.at) {
		p.number = append(p.number, int64(binary.LittleEndian.Uint64(b[probeNumber:])))
		p.sent = append(p.sent, int64(binary.LittleEndian.Uint64(b[probeSent:])))
		p.at = append(p.at, int64(d.At))
	}
	return true, nil
}

// await receives the probes that are still on their way, until then or until all are here.
func (x *prober) await(until units.Nanos) error {
	for len(x.seen.at) < x.seen.planned {
		if got, err := x.takeProbe(until); err != nil || !got {
			return err
		}
	}
	return nil
}

// expect prepares for n probes, of which those from shown on count.
func (x *prober) expect(phase, n, shown int) {
	x.seen = probes{tag: x.datagramTag() + uint64(phase), planned: n, shown: shown}
	if x.root() {
		x.seen.number, x.seen.sent, x.seen.at = x.r.Buffer(n)[:0], x.r.Buffer(n)[:0], x.r.Buffer(n)[:0]
	}
}

// addProbes records the one-way times of the probes that count. A lost one is missing.
func (x *prober) addProbes(phase string) {
	p := &x.seen
	var ns, at []int64
	for i, number := range p.number {
		if number >= int64(p.shown) {
			ns, at = append(ns, p.at[i]-p.sent[i]), append(at, p.at[i])
		}
	}
	last := x.g.Size() - 1
	b := Batch{
		Phase: phase, Point: x.p, Ranks: []int{last, 0}, NS: ns,
		Aux: map[string]float64{"sent": float64(p.planned - p.shown), "received": float64(len(ns))},
	}
	if len(ns) == 0 {
		b.NS, b.Flags = []int64{0}, []string{dataset.FlagTimeout}
		x.r.Add(b)
		return
	}
	x.r.AddOneWay(b, last, 0, at)
}
