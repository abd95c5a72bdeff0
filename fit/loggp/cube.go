package loggp

import "math"

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
	Hosts, UnderWay     int
	Rate, Service, Turn float64
}

// Cube is a k-ary n-cube of wormhole routers: Dimension is n, Distance k_d, the average number of hops of a message in
// each dimension (MeshDistance, TorusDistance, RingDistance). Channels are bidirectional, as two physical ones.
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

// factor is c of C_n = c·S²·m/(1 − m·S·k_d/2), (n+1)(k_d−1)/2 (eq. 9).
func (c Cube) factor() float64 { return max(0, (c.Dimension+1)*(c.Distance-1)/2) }

// Rate closes the model: it solves m_c = 1/(T + C_n(m_c)), eq. 7, a quadratic equation, for the rate at which a host
// injects messages if the time between two is interval without contention and each occupies a channel for service. T ≥
// 0, S ≥ 0, T + S > 0. No channel is more than full.
func (c Cube) Rate(interval, service float64) float64 {
	// (1 − a·m)(1 − T·m) = f·m² with a = S·k_d/2 and f = c·S²: the smaller root, at which a·m ≤ 1.
	a, f := service*c.Distance/2, c.factor()*service*service
	p, q := interval*a-f, interval+a
	// p·m² − q·m + 1 = 0 in the form that is exact for p = 0.
	return 2 / (q + math.Sqrt(max(0, q*q-4*p)))
}

// Interval is T_c = 1/m_c, the time between two injections with contention (eq. 7, 13).
func (c Cube) Interval(interval, service float64) float64 { return 1 / c.Rate(interval, service) }

// Inflation is T_c/T (eq. 14). With T = 2GB and S = B, what a host can inject at most, it is F(k_d, G)/2G, the bound of
// section 3.4, the same for every B.
func (c Cube) Inflation(interval, service float64) float64 {
	return c.Interval(interval, service) / interval
}

// Medium is a channel that all messages of all hosts pass, as on a shared Ethernet: one of the paper's queues (eq. 3).
// A message waits for those that may be under way beside it (queue). The channel carries a load of 1.
type Medium struct{}

// Contention implements Network.
func (Medium) Contention(t Traffic) float64 {
	n := float64(t.Hosts * max(1, t.UnderWay))
	load := float64(t.Hosts) * t.Rate * t.Service
	if load > 1 {
		return math.Inf(1)
	}
	return queue(load*(n-1)/n, t.Service, t.Turn)
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
