package network

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"calib/internal/lists"
	"calib/internal/netspec"
	"calib/internal/units"
	"calib/params"
)

// shared is a medium that all hosts share: a block of a, b for each host and direction, and one of a_c, b_c for all. It
// returns nil where the network behaves like a switch or looks more like one, or a or a_c is not known.
//
// a holds half of the delay L, in which the host is free for the next message. Where the gap between messages of one
// host was measured, the host is busy for g_s, and the rest of a is delay.
func shared(r *reader) (*Network, error) {
	a, okA := r.positive("a")
	ac, okC := r.positive("a_c")
	if r.is != params.Shared || !okA || !okC {
		return nil, nil
	}
	busy := a
	if gs, ok := r.cost("g_s"); ok {
		busy = math.Min(a, math.Max(gs.Of(1), ac))
	}
	b, ok := r.positive("b")
	bc, okB := r.positive("b_c")
	switch {
	case !ok && !okB:
		return nil, fmt.Errorf("%w: b or b_c%s", ErrParameters, r.p.Hint("b_c"))
	case !ok:
		b = bc
		r.note("b is not known, and is taken as b_c, which it does not exceed")
	}
	spec := r.hosts(busy, b)
	spec.Mode = netspec.Shared
	spec.Medium = netspec.Block{A: ac, B: math.Max(bc, ac/float64(spec.MSS))}
	if !okB {
		r.note("b_c is not known: streams did not reach the medium's limit, and its bytes are taken to cost nothing")
	}
	spec.L = 2*a - spec.Host.A - spec.Receive.A
	return r.network(spec, Calls{}), nil
}

// hosts describes the blocks of hosts that are busy for so long with a message, and take b a byte of a stream.
//
// Where a full packet of a stream takes less than a message, hosts do not handle packet by packet: the kernel bundles
// them (segmentation offload). A message is then in one piece up to 64 KiB, which sender and receiver handle one after
// the other. Of the time per byte of a message alone the sender takes what a stream takes, the receiver the rest.
// Longer messages come out slower than the stream that was measured, by the fixed time of each piece.
func (r *reader) hosts(busy, b float64) netspec.Spec {
	p := r.packet()
	spec := netspec.Spec{Name: "calibrated", MSS: p, Host: netspec.Block{A: busy, B: b}}
	receive := spec.Host
	if busy/float64(p) > b {
		r.note("a packet of %d B would take longer than a stream allows: messages are taken to pass in pieces of up to %d B",
			p, bundle)
		spec.MSS = bundle
		alone := b
		if beta, ok := r.positive("b_prime_limits", "beta"); ok {
			alone = math.Max(beta-b, 0)
		}
		spec.Host.B, receive.B = b+busy/bundle, alone+busy/bundle
	}
	spec.Receive = &receive
	return spec
}

// switched is a switch by the cluster model. A packet of m bytes takes g_s(m) in its host, g_r(m) in the port, and on
// its way L_cluster(m, p) in all, for one byte and for a full packet. Where a byte adds less to the way than to host
// and port together, the switch forwards a packet while it comes in. An L_cluster that falls with the number of hosts
// is taken as of the fewest.
func switched(r *reader) (*Network, error) {
	gs, okS := r.cost("g_s")
	l, okL := r.p.Functions["L_cluster"]
	if !okS || !okL || !l.Usable() {
		return nil, fmt.Errorf("%w: g_s and L_cluster%s", ErrParameters, r.p.Hint("g_s", "L_cluster"))
	}
	r.from = append(r.from, "L_cluster")
	gr, ok := r.cost("g_r")
	if !ok {
		gr = gs
		r.note("g_r is not known, and is taken as g_s")
	}
	p := r.packet()
	calls := r.calls()
	tau, l1 := l.Coeff["tau"], math.Max(l.Coeff["l1"], 0)
	spec := netspec.Spec{Name: "calibrated", Mode: netspec.Switched, MSS: p, Host: block(gs, p), Medium: block(gr, p),
		Fabric: &netspec.Fabric{Tau: math.Max(tau, 0), Rate: l.Coeff["N"]}}
	first := func(m int) float64 { return spec.Service(spec.Host, m) + spec.Service(spec.Medium, m) }
	slope := func() float64 { return (first(p) - first(1)) / float64(p-1) }
	if slope()-tau > slopeError*tau {
		spec.CutThrough = true
		first = func(m int) float64 { return math.Max(spec.Service(spec.Host, m), spec.Service(spec.Medium, m)) }
	}
	spec.Receive = &netspec.Block{B: math.Max(tau-slope(), 0)}
	fewest := math.Max(l.Coeff["floor"], l.Coeff["l0"]+tau) + min(l.Coeff["l1"], 0)*l.Domain["p"][0]
	spec.L = r.delay(fewest - first(1) - spec.Receive.B - calls.Wake.Seconds())
	if b, of, ok := r.p.PortPackets(float64(p)); ok && b > 0 {
		r.from = append(r.from, of)
		spec.Buffer = int(math.Max(1, math.Round(b)))
	}
	n := r.network(spec, calls)
	n.PerHost = l1
	return n, nil
}

// slopeError is by how much of L's time per byte the parts may exceed it, as measured.
const slopeError = 0.1

// delay is what is left of a message's time for the way itself [s].
func (r *reader) delay(left float64) float64 {
	if left < 0 {
		r.note("the parts of a message's time add up to %.3g s more than the whole: the delay is taken as zero", -left)
		return 0
	}
	return left
}

// pairs is what two hosts alone measured: a time T(0) and a rate 1/b. A host is busy for g_s or g with a message, for
// half of T(0) where neither was measured; the rest of T(0) is delay. What a byte of a packet takes longer than in both
// hosts together it takes in the port, which stores the packet: no longer than a byte of a stream, which passes hosts
// and port at once.
func pairs(r *reader) (*Network, error) {
	whole, ok := r.positive("a")
	if ok {
		ac, _ := r.positive("a_c")
		whole = 2*whole + ac
	} else {
		whole, ok = r.positive("a_prime", "a_prime_limits", "alpha")
	}
	stream, okB := r.positive("b", "b_prime", "b_prime_limits", "beta")
	if !ok || !okB {
		return nil, fmt.Errorf("%w: the time and the rate of messages between two hosts%s", ErrParameters,
			r.p.Hint("alpha", "b"))
	}
	calls := r.calls()
	busy := whole / 2
	if gs, ok := r.cost("g_s"); ok {
		busy = math.Min(busy, math.Max(gs.Of(1)-calls.Send.Seconds(), 0))
	} else if g, ok := r.positive("g"); ok {
		busy = math.Min(busy, math.Max(g-calls.Send.Seconds(), 0))
	}
	spec := r.hosts(busy, stream)
	spec.Mode = netspec.Switched
	if spec.MSS != bundle {
		rest := r.packetSlope(spec.MSS) -
			(spec.Service(spec.Host, spec.MSS)+spec.Service(*spec.Receive, spec.MSS)-2*busy)/float64(spec.MSS)
		spec.Medium.B = math.Min(math.Max(rest, 0), stream)
	}
	spec.L = r.delay(whole - spec.Host.A - spec.Receive.A - calls.Fixed())
	n := r.network(spec, calls)
	n.callsFirst = true
	return n, nil
}

// packetSlope is what a byte more takes [s/B] of messages of one packet, of p bytes at most, by the smallest and the
// largest of them that were measured; 0 where those are too few.
func (r *reader) packetSlope(p int) float64 {
	whole := lists.Where(r.p.Times(), func(t params.Residual) bool { return t.X <= float64(p) })
	if len(whole) == 0 {
		return 0
	}
	small, large := whole[0], whole[len(whole)-1]
	if large.X-small.X < float64(p)/2 {
		return 0
	}
	return (large.Measured - small.Measured) / (large.X - small.X)
}

type reader struct {
	p     *params.Params
	is    params.Kind // what kind returns
	from  []string
	notes []string
}

func (r *reader) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// positive is the first of some parameters that is above zero.
func (r *reader) positive(names ...string) (float64, bool) {
	for _, name := range names {
		if v := r.p.Parameters[name].Value; v != nil && *v > 0 && !math.IsInf(*v, 1) {
			r.from = append(r.from, name)
			return *v, true
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
		r.note("whether the network is a shared medium is not known; it is taken as one, "+
			"since pairs delay each other by %.0f%%", 100*delay)
	case guessed:
		r.note("whether the network is a switch is not known; it is taken as one")
	}
	return kind
}

func (r *reader) cost(name string) (params.Cost, bool) {
	f := r.p.Functions[name]
	c, err := f.Cost()
	if err != nil || !f.Usable() {
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
	var sizes []int
	facts := slices.Collect(maps.Values(r.p.Environment.Differences[segmentFact]))
	for _, text := range append(facts, r.p.Environment.Common[segmentFact]) {
		if n, err := strconv.Atoi(text); err == nil && n > 0 {
			sizes = append(sizes, min(n, bundle))
		}
	}
	if len(sizes) == 0 {
		r.note("packets of %d B: neither a model nor the hosts say", defaultPacket)
		return defaultPacket
	}
	return slices.Min(sizes)
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
