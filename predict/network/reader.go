package network

import (
	"fmt"
	"math"
	"strconv"

	"calib/internal/netspec"
	"calib/internal/params"
	"calib/internal/units"
)

// reader reads parameters, and notes which.
type reader struct {
	p     *params.Params
	is    params.Kind // what kind returns
	from  []string
	notes []string
}

// note records what had to be assumed.
func (r *reader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// value returns a parameter that may be used.
func (r *reader) value(name string) (float64, bool) {
	v := r.p.Parameters[name].Value
	if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
		return 0, false
	}
	r.from = append(r.from, name)
	return *v, true
}

// positive is value, where it is above zero.
func (r *reader) positive(names ...string) (float64, bool) {
	for _, name := range names {
		if v := r.p.Parameters[name].Value; v != nil && *v > 0 {
			return r.value(name)
		}
	}
	return 0, false
}

// kind is what the network behaves like for messages of one packet; where that is not known, what it looks more like:
// pairs that disturb each other by more than what matters look like a shared medium.
func (r *reader) kind() params.Kind {
	kind, guessed, delay := r.p.PacketKind()
	switch {
	case guessed && kind == params.Shared:
		r.note("whether the network is a shared medium is not known; it is taken as one, since pairs delay each other by %.0f%%", 100*delay)
	case guessed:
		r.note("whether the network is a switch is not known; it is taken as one")
	}
	return kind
}

// cost returns a cost function of the size that may be used.
func (r *reader) cost(name string) (params.Cost, bool) {
	f, ok := r.p.Functions[name]
	if !ok || !f.Usable() {
		return params.Cost{}, false
	}
	c, err := f.Cost()
	if err != nil {
		return params.Cost{}, false
	}
	r.from = append(r.from, name)
	return c, true
}

// Payload of a packet [B] on Ethernet with time stamps, and of the bundle in which hosts with segmentation offload
// handle many.
const (
	defaultPacket = 1448
	bundle        = 65_000
)

// packet is the payload of a packet [B]: what a model found, or what the hosts' interfaces send.
func (r *reader) packet() int {
	if v, ok := r.positive("packet"); ok {
		return min(int(v), bundle)
	}
	least := 0
	facts := []string{r.p.Environment.Common[segmentFact]}
	for _, v := range r.p.Environment.Differences[segmentFact] {
		facts = append(facts, v)
	}
	for _, text := range facts {
		if n, err := strconv.Atoi(text); err == nil && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	if least == 0 {
		r.note("packets of %d B: neither a model nor the hosts say", defaultPacket)
		return defaultPacket
	}
	return min(least, bundle)
}

// segmentFact is the fact of the environment that holds the payload of an interface's packets.
const segmentFact = "nic.segment"

// calls are what the calls of a message take on its hosts, where that was measured.
func (r *reader) calls() Calls {
	var c Calls
	for _, part := range []struct {
		name  string
		fixed *units.Nanos
		each  *float64
	}{{"O_s", &c.Send, &c.SendByte}, {"U_r", &c.Recv, &c.RecvByte}, {"O_r", &c.Arrive, &c.ArriveByte}} {
		if f, ok := r.cost(part.name); ok {
			*part.fixed, *part.each = nanos(math.Max(f.C0, 0)), math.Max(f.C1, 0)*1e9
		}
	}
	if v, ok := r.positive("wakeup"); ok {
		c.Wake = nanos(v)
	}
	return c
}

func nanos(s float64) units.Nanos { return units.Nanos(math.Round(s * 1e9)) }

// block is a communication block that serves packets of p bytes as a cost function says.
func block(c params.Cost, p int) netspec.Block {
	a, m := math.Max(c.C0, 0), math.Max(c.C1, 0)
	return netspec.Block{A: a, B: m + a/float64(p), Min: c.Floor}
}

// network finishes what a builder has described: socket buffers, and what was read.
func (r *reader) network(spec netspec.Spec, calls Calls) *Network {
	n := &Network{Spec: spec, Calls: calls, Bundled: spec.MSS >= bundle}
	n.SendBuffer, _ = r.positive("send_buffer")
	n.From, n.Notes = r.from, r.notes
	return n
}
