package loggp

import (
	"cmp"
	"fmt"
	"math"
)

// Machine is hosts and their network, as a remap sees them. Times are in seconds.
type Machine struct {
	// Network is what all share; nil is nothing but their own interfaces, as on a switch: Cube{1, 1}.
	Network Network
	// Service is how long a message of m bytes occupies what the network shares. nil is 0.
	Service func(m float64) float64
	// OneWay is the time of a message of m bytes that meets no other, from its send until it is received: o_s + (m−1)·G
	// + L + o_r.
	OneWay func(m float64) float64
	// Gap is how long a message of m bytes occupies a host's interface, going out or coming in: g + (m−1)·G. Both may
	// go on at once.
	Gap func(m float64) float64
	// Packet is the payload of a packet [B]: longer messages are mixed with others. 0 is no bound.
	Packet float64
	// Busy is how long a processor is busy with one message that it sends and one that it receives: o_s + o_r.
	Busy float64
}

// On is k where the hosts are the nodes of a cube, whose channels are as fast as their interfaces; the zero Cube is
// none. It returns ErrInputs for a cube that cannot be.
func (k Machine) On(t Cube) (Machine, error) {
	switch size := t.Dimension + t.Distance; {
	case t == Cube{}:
	case !(t.Dimension >= 1) || !(t.Distance > 0) || math.IsInf(size, 0) || math.IsNaN(size):
		return k, fmt.Errorf("%w: a network of dimension %g and distance %g", ErrInputs, t.Dimension, t.Distance)
	default:
		k.Network, k.Service = t, k.Gap
	}
	return k, nil
}

// Remap is an all-to-all remap: each of Hosts injects messages of Bytes, one after the other.
type Remap struct {
	Hosts int
	Bytes float64
	// Sync is with replies as long as the request: a host injects when it has the reply to the message before.
	Sync bool
	// UnderWay is how many messages a host that does not wait for replies may have under way, at least 1; or Unlimited.
	UnderWay float64
	// Among is how many hosts each of them draws its destinations from; 1 where the hosts go through a permutation
	// together, as (i+p) mod P, so that no two send to the same one. 0 is all others.
	Among int
}

// Unlimited messages under way: no host ever waits for one.
var Unlimited = math.Inf(1)

// Cost is the time of one injection of each host, with what contention adds to it. Of messages without limit, Network
// and Resource are infinite where a queue grows as long as hosts inject.
type Cost struct {
	Interval float64 // T_c, the time between two injections of a host [s]
	Alone    float64 // T, the same of a host that meets no other
	Network  float64 // C_n, of a message
	Resource float64 // C_r, of an injection: its waits at the interfaces of both hosts
}

// Cost closes the model for a remap (eq. 7). With one message of a host under way, which is the paper's case,
//
//	T_c = 2·OneWay + 2·C_n + C_r,  synchronous (section 5.1.1),
//	T_c = OneWay + C_n + C_r,      asynchronous, the next message after the last has arrived (eq. 7, 13),
//
// where C_n and C_r are of the rates that T_c makes. With W under way each still takes that long, so that by Little's
// law
//
//	T_c = max(T, (OneWay + C_n + C_r)/W),  T = max(gap, o_s + o_r),
//
// and contention shows only where it is W times as long as a gap: where it is not, sends never wait (section 5.1.2).
// With Unlimited T_c is T, or what the network carries: messages wait, and C_n and C_r are of that rate (table 4).
//
// The right side falls as T_c grows, and is infinite where the network is asked for more than it carries, so that T_c
// is never less than that takes.
func (k Machine) Cost(r Remap) Cost {
	r.Among = cmp.Or(r.Among, r.Hosts-1)
	gap, way, packet := k.Gap(r.Bytes), k.OneWay(r.Bytes), r.Bytes
	if k.Packet > 0 {
		packet = min(packet, k.Packet)
	}
	// T_c = max(alone, (loop + messages·C_n + C_r)/under), all in seconds but messages and under.
	loop, messages, under := 2*way, 2.0, 1.0
	c := Cost{Alone: loop}
	if !r.Sync {
		r.UnderWay = max(1, r.UnderWay)
		loop, messages, under = way, 1, r.UnderWay
		c.Alone = max(gap, k.Busy, way/under)
	}
	over := func(interval float64) bool { // reports whether the loop takes longer than that
		if k.Network != nil && k.Service != nil {
			c.Network = k.Network.Contention(Traffic{Hosts: r.Hosts, UnderWay: under, Rate: messages / interval,
				Service: k.Service(r.Bytes), Turn: k.Service(packet)})
		}
		if r.Among > 1 {
			c.Resource = ends(r, gap/interval, gap, k.Gap(packet))
		}
		return math.IsInf(c.Network, 1) || (loop+messages*c.Network+c.Resource)/under > interval
	}
	lo, hi := c.Alone, c.Alone
	for over(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > precision*hi {
		if mid := lo + (hi-lo)/2; over(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	over(hi)
	c.Interval = hi
	if hi > c.Alone && c.Network > 0 { // a network that is full makes messages wait for what is left of the interval
		c.Network = max(c.Network, (hi*under-loop-c.Resource)/messages)
	}
	return c
}

const precision = 1e-12 // of T_c, relative

// ends is the wait of an injection at the interfaces of its hosts, each a queue for a gap that other messages load. A
// host has, in an interval, one request and one reply going out, and one of each coming in. Of d hosts that may send to
// one, d−1 are others.
//
//   - A request waits at the destination for the reply to that host's own request and for requests of others; the reply
//     at its own host for requests. Neither waits to go out: a host only answers what came in, a gap or more apart.
//   - A message without reply waits at its own host for those before it, and at the destination for those of all its
//     senders: of the W that each has under way, all but itself. A host's leave in order and are taken to be served so.
//
// Processors are loaded less than the interfaces before them, which space what comes by the gap ≥ o.
func ends(r Remap, load, gap, turn float64) float64 {
	if !r.Sync {
		return queue(load*others(r.UnderWay), gap, gap) + queue(load*others(r.UnderWay*float64(r.Among)), gap, gap)
	}
	return queue(load*(1+others(float64(r.Among))), gap, turn) + queue(load, gap, turn)
}

// others is the share of n messages that one of them may meet.
func others(n float64) float64 { return 1 - 1/n }

// Network is what messages share between the hosts.
type Network interface {
	// Contention is C_n [s], by which the network delays a message. It is infinite from the rate on that the network
	// cannot carry.
	Contention(Traffic) float64
}

// Traffic is what hosts do to a network: each of Hosts injects Rate messages a second and has UnderWay of them under
// way at most, and each message occupies a channel for Service seconds, its packets for Turn seconds each; 0 is a
// message in one piece.
type Traffic struct {
	Hosts                         int
	UnderWay, Rate, Service, Turn float64
}

// Cube is a k-ary n-cube of wormhole routers: Dimension is n, Distance k_d, the average number of hops of a message in
// each dimension. Channels are bidirectional, as two physical ones.
//
// A message of B bytes occupies a channel for B cycles in the paper, whose channels carry a byte a cycle. Here it is a
// time S, in seconds or in cycles, and the rate m is in messages in that unit. Source: Agarwal 1991; Moritz, Frank
// 2001, section 3.
type Cube struct{ Dimension, Distance float64 }

// Load is ρ = m·S·k_d/2, the probability that a message arrives at an incoming channel (eq. 4).
func (c Cube) Load(rate, service float64) float64 { return rate * service * c.Distance / 2 }

// SwitchDelay is w_b = ρ·S/(1−ρ)·(k_d−1)/k_d²·(1+1/n), by which contention delays a message in one switch (eq. 3, 5).
func (c Cube) SwitchDelay(load, service float64) float64 {
	if c.Distance <= 1 {
		return 0
	}
	if load >= 1 {
		return math.Inf(1)
	}
	return load * service / (1 - load) * (c.Distance - 1) / (c.Distance * c.Distance) * (1 + 1/c.Dimension)
}

// Contention implements Network: C_n = n·k_d·w_b (eq. 6). How many hosts there are is in the distance. Where every
// message has one hop, as through a switch (n = 1, k_d = 1), no channel has messages of two hosts, and there is none.
func (c Cube) Contention(t Traffic) float64 {
	return c.Dimension * c.Distance * c.SwitchDelay(c.Load(t.Rate, t.Service), t.Service)
}

// Medium is a channel that all messages of all hosts pass, as on a shared Ethernet: one of the paper's queues (eq. 3).
// A message waits for those that may be under way beside it (queue). The channel carries a load of 1.
type Medium struct{}

// Contention implements Network.
func (Medium) Contention(t Traffic) float64 {
	load := float64(t.Hosts) * t.Rate * t.Service
	if load > 1 {
		return math.Inf(1)
	}
	return queue(load*others(float64(t.Hosts)*max(1, t.UnderWay)), t.Service, t.Turn)
}

// queue is by how much a message takes longer at a server that others load, all of them for service seconds. Messages
// of one packet are served one after the other: M/D/1, service·ρ/(2(1−ρ)) (Pollaczek, Khinchine). The packets of
// several messages come mixed, so that these are served in turns, a packet each: ρ/(1−ρ)·(service − turn/2), which is
// twice as much where turns are short (processor sharing). Source: Kleinrock 1976, Queueing systems 2, section 4.4.
func queue(load, service, turn float64) float64 {
	if turn <= 0 || turn > service {
		turn = service
	}
	switch {
	case load <= 0 || service <= 0:
		return 0
	case load >= 1:
		return math.Inf(1)
	}
	return load / (1 - load) * (service - turn/2)
}
