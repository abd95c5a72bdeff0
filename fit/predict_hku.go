package fit

import (
	"errors"
	"fmt"
	"math"
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
		return fmt.Errorf("%s with %d hosts of %g bytes in packets of %g bytes: %w", what, hosts, bytes, c.MTU, ErrPredict)
	}
	return nil
}

// steps is the depth of a binomial tree over p hosts, ⌈log₂ p⌉.
func steps(p int) float64 { return math.Ceil(math.Log2(float64(p))) }

// BroadcastPostal returns the time [s] in which the Postal (normalised LogP) model has a broadcast of M bytes to p hosts
// done by a binomial tree that is walked once for each of the k packets,
//
//	B_k(p) = log₂p·(k·g_s + L − g_s),  L = O_s + L(m, p) + O_r + U_r of a packet of m = M/k bytes,
//
// whose L is the whole way of a packet. log₂p is rounded up. It returns ErrPredict without hosts, for a negative size, or
// without a packet size. Source: Tam, Wang 2000, eq. 1.
func (c Cluster) BroadcastPostal(p int, bytes float64) (float64, error) {
	if err := c.check("a broadcast", p, bytes); err != nil {
		return 0, err
	}
	k, m := c.packets(bytes)
	return steps(p) * (k*c.Gs.At(m) + c.oneWay(m, float64(p)) - c.Gs.At(m)), nil
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
	return (k-1)*((n-1)*c.Gs.At(m)+c.Or.At(m)+c.Ur.At(m)) + n*c.oneWay(m, float64(p)), nil
}
