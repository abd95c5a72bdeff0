package cluster

import (
	"errors"
	"fmt"
	"math"

	"calib/internal/params"
)

// ErrPredict reports a prediction for numbers of hosts, bytes or costs that make no sense.
var ErrPredict = errors.New("cannot be predicted")

// packets returns the number k of packets that a message of M bytes is sent in, and the bytes of each, M/k.
func (c Cluster) packets(bytes float64) (k, each float64) {
	k = math.Max(1, math.Ceil(bytes/c.MTU))
	return k, bytes / k
}

// check returns ErrPredict unless there are hosts, bytes and a packet size to predict with.
func (c Cluster) check(what string, hosts int, bytes float64) error {
	if hosts < 1 || !(bytes >= 0) || math.IsInf(bytes, 1) || !(c.MTU > 0) {
		return fmt.Errorf("%s with %d hosts of %g B in packets of %g B: %w", what, hosts, bytes, c.MTU, ErrPredict)
	}
	return nil
}

// steps is the depth of a binomial tree over p hosts, ⌈log₂ p⌉.
func steps(p int) float64 { return math.Ceil(math.Log2(float64(p))) }

// BroadcastPostal returns the time [s] in which the Postal (normalised LogP) model has a broadcast of M bytes to p
// hosts done by a binomial tree that is walked once for each of the k packets,
//
//	B_k(p) = log₂p·(k·g_s + L − g_s),  L = O_s + L(m, p) + O_r + U_r of a packet of m = M/k bytes,
//
// whose L is the whole way of a packet. log₂p is rounded up. It returns ErrPredict without hosts, for a negative size,
// or without a packet size. Source: Tam, Wang 2000, eq. 1.
func (c Cluster) BroadcastPostal(p int, bytes float64) (float64, error) {
	if err := c.check("a broadcast", p, bytes); err != nil {
		return 0, err
	}
	k, m := c.packets(bytes)
	return steps(p) * (k*c.Gs.Of(m) + c.oneWay(m, float64(p)) - c.Gs.Of(m)), nil
}

// Broadcast returns the time [s] of the same broadcast by the cluster model, in which the host half way down the tree
// cannot send one packet and receive the next at once,
//
//	B_k(p) = (k−1)·(log₂(p/2)·g_s + O_r + U_r) + log₂p·(O_s + L(m, p) + O_r + U_r),
//
// with k packets of m = M/k bytes; log₂p is rounded up. One host takes no time. Errors are those of BroadcastPostal.
// Source: Tam, Wang 2000, eq. 2.
func (c Cluster) Broadcast(p int, bytes float64) (float64, error) {
	if err := c.check("a broadcast", p, bytes); err != nil {
		return 0, err
	}
	if p == 1 {
		return 0, nil
	}
	k, m := c.packets(bytes)
	n := steps(p)
	return (k-1)*((n-1)*c.Gs.Of(m)+c.Or.Of(m)+c.Ur.Of(m)) + n*c.oneWay(m, float64(p)), nil
}

// Scatter returns the time [s] in which one host sends M bytes to each of p−1 others in turn: all packets but the last
// at the gaps at which it sends, and then the last one's way, with all p hosts at work,
//
//	T = (p−1)·k·g_s − g_s + O_s + L(m, p) + O_r + U_r.
//
// Whole packets of MTU bytes and the rest of M are counted as they are. With p = 2 it is one message, (k−1)·g_s behind
// its last packet. One host takes no time. Errors are those of BroadcastPostal. Source: Tam, Wang 2000, section 3.2.
func (c Cluster) Scatter(p int, bytes float64) (float64, error) {
	if err := c.check("a scatter", p, bytes); err != nil {
		return 0, err
	}
	if p == 1 {
		return 0, nil
	}
	last := bytes - c.MTU*(math.Max(1, math.Ceil(bytes/c.MTU))-1)
	return float64(p-1)*c.each(c.Gs, bytes) - c.Gs.Of(last) + c.oneWay(last, float64(p)), nil
}

// Saturation returns the time β [s] after which a port is full. It holds b packets; a packets arrive a second and d
// leave,
//
//	β = B/(A − D),
//
// +Inf where no more arrive than leave. Source: Tam, Wang 2000, eq. 3.
func Saturation(b, a, d float64) float64 {
	if a <= d {
		return math.Inf(1)
	}
	return b / (a - d)
}

// TransferRatio returns the share of k packets that get through that port,
//
//	min(1, D/A + B/k).
//
// Source: Tam, Wang 2000, eq. 4.
func TransferRatio(k, b, a, d float64) float64 { return math.Min(1, d/a+b/k) }

// GatherLower returns G_al = ⌈g_s/g_r⌉, the fewest senders of packets of m bytes that keep the port to the root busy.
// Source: Tam, Wang 2000, eq. 5.
func (c Cluster) GatherLower(m float64) float64 {
	return math.Max(1, math.Ceil(c.Gs.Of(m)/c.Gr.Of(m)))
}

// GatherUpper returns G_au = ⌊g_s/g_r + B_L/i⌋, the most senders of i packets of m bytes each that may send at once
// without loss: w senders arrive at the rate A = w/g_s and leave at D = 1/g_r, and of their k = w·i packets all get
// through while
//
//	D/A + B/k = (g_s/g_r + B/i)/w ≥ 1.
//
// It is at least 1, and +Inf for a port without limit. Source: Tam, Wang 2000, eq. 6 with eq. 4.
func (c Cluster) GatherUpper(m, i float64) float64 {
	return math.Max(1, math.Floor(c.Gs.Of(m)/c.Gr.Of(m)+c.BL/i))
}

// GatherWindow returns w, how many of p' senders should send M bytes each to one root at once,
//
//	w = max{x : G_al ≤ x ≤ min(G_au, p'), rem(p', x) ≥ G_al},
//
// so that the port neither runs empty nor overflows, and the last group keeps it busy too. A remainder of zero is a
// last group of x. Where no x satisfies all three, optimal is false and w is the largest window that does not overflow
// the port: a pause at the end costs less than lost packets. It returns ErrPredict without senders, for a negative
// size, or without a packet size or gaps. Source: Tam, Wang 2000, eq. 7.
func (c Cluster) GatherWindow(senders int, bytes float64) (w int, optimal bool, err error) {
	if err := c.check("a gather", senders, bytes); err != nil {
		return 0, false, err
	}
	k, m := c.packets(bytes)
	if !(c.Gs.Of(m) > 0) || !(c.Gr.Of(m) > 0) {
		return 0, false, fmt.Errorf("the window of a gather with g_s = %g s, g_r = %g s: %w", c.Gs.Of(m), c.Gr.Of(m), ErrPredict)
	}
	least := c.GatherLower(m)
	most := int(math.Min(c.GatherUpper(m, k), float64(senders)))
	for x := most; float64(x) >= least; x-- {
		last := senders % x
		if last == 0 {
			last = x
		}
		if float64(last) >= least {
			return x, true, nil
		}
	}
	// With fewer senders than G_al the port runs empty for every w.
	return most, false, nil
}

// GatherTime returns the time [s] of a gather of M bytes from each of p' senders, w of them at once and each of the
// others started by one that has finished (algorithm 1), w = p' being the gather without coordination,
//
//	T = C₁ + p'·k·g_r + C₂
//
// for k packets of each sender through the port to the root. C₁ is the first packet's way to the port, C₂ the last
// one's way from it, with all p'+1 hosts at work. Together they are O_s + L(m, p'+1) + O_r + U_r, less one service at
// the port, which L already holds. ⌈p'/w⌉ senders wait for one another and cannot be faster than they send. The r
// senders at the end of such chains, r = rem(p', w) or w, have their last packets at the port together,
//
//	T ≥ (⌈p'/w⌉·k − 1)·g_s + (⌈p'/w⌉ − 1)·(start signal) + (r − 1)·g_r + O_s + L(m, p'+1) + O_r + U_r,
//
// a start signal being the way of a packet of one byte. Whole packets of MTU bytes and the rest of M are counted as
// they are. Packets lost where w is above G_au are not in it. Errors are those of GatherWindow, and ErrPredict for a
// window that is none.
// Source: Tam, Wang 2000, eq. 8.
func (c Cluster) GatherTime(senders int, bytes float64, window int) (float64, error) {
	if err := c.check("a gather", senders, bytes); err != nil {
		return 0, err
	}
	if err := c.check("a gather by windows", window, bytes); err != nil {
		return 0, err
	}
	last := bytes - c.MTU*(math.Max(1, math.Ceil(bytes/c.MTU))-1)
	way := c.oneWay(last, float64(senders+1))
	port := float64(senders)*c.each(c.Gr, bytes) - c.Gr.Of(last)
	window = min(window, senders)
	turns := math.Ceil(float64(senders) / float64(window))
	together := float64(senders) - (turns-1)*float64(window)
	chain := turns*c.each(c.Gs, bytes) - c.Gs.Of(last) + (turns-1)*c.oneWay(1, float64(senders+1)) + (together-1)*c.Gr.Of(last)
	return way + math.Max(port, chain), nil
}

// each is the cost of all packets of a message: those of MTU bytes, and the rest.
func (c Cluster) each(cost params.Cost, bytes float64) float64 {
	full := math.Max(1, math.Ceil(bytes/c.MTU)) - 1
	return full*cost.Of(c.MTU) + cost.Of(bytes-full*c.MTU)
}
