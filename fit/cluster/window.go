package cluster

import (
	"cmp"
	"fmt"
	"math"
)

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
	return math.Max(1, math.Floor(c.Gs.Of(m)/c.Gr.Of(m)+c.Room(m)/i))
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
	if math.IsNaN(c.BL) {
		return 0, false, fmt.Errorf("the window of a gather: %w: B_L is withheld; calib explain B_L RUN says why", ErrPredict)
	}
	k, m := c.Packets(bytes)
	if !(c.Gs.Of(m) > 0) || !(c.Gr.Of(m) > 0) {
		return 0, false, fmt.Errorf("the window of a gather with g_s = %g s, g_r = %g s: %w", c.Gs.Of(m), c.Gr.Of(m),
			ErrPredict)
	}
	least := c.GatherLower(m)
	most := int(math.Min(c.GatherUpper(m, k), float64(senders)))
	for x := most; float64(x) >= least; x-- {
		last := cmp.Or(senders%x, x)
		if float64(last) >= least {
			return x, true, nil
		}
	}
	// With fewer senders than G_al the port runs empty for every w.
	return most, false, nil
}

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
	k, m := c.Packets(bytes)
	return steps(p) * (k*c.Gs.Of(m) + c.oneWay(m, float64(p)) - c.Gs.Of(m)), nil
}

// Packets returns the number k of packets that a message of M bytes is sent in, and the bytes of each, M/k.
func (c Cluster) Packets(bytes float64) (k, each float64) {
	full, _ := c.parts(bytes)
	return full + 1, bytes / (full + 1)
}

// steps is the depth of a binomial tree over p hosts.
func steps(p int) float64 { return math.Ceil(math.Log2(float64(p))) }
