// Package cluster holds the cluster model of Tam and Wang (University of Hong Kong, 2000): what a message costs the
// hosts (O_s, U_r, O_r, copies), the gaps between packets that a host sends and receives (g_s, g_r), the time of a
// packet in the network while p hosts communicate (L_cluster), and predictions of broadcasts and gathers by them.
//
// Costs are functions of the message size, with or without a floor, and share their estimation (cost.go).
package cluster

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"calib/fit"
	"calib/params"
)

const source = "Tam, Wang 2000 section 3.2, table 1"

// packetParameter is the parameter that holds the payload of one packet [B].
const packetParameter = "packet"

// Cluster is the cluster model in numbers: what predictions are made from. Costs are of one packet of m ≤ MTU bytes.
type Cluster struct {
	Os, Gs, Gr, Or, Ur params.Cost
	L                  params.Transfer
	BL                 float64 // packets that the bottleneck's buffer holds; +Inf where nothing is known, NaN if withheld
	BLLeast            bool    // BL is a lower bound
	BLBytes            float64 // with headers, that it holds; 0 where it counts packets
	MTU                float64 // payload of one packet [B]
}

// oneWay is the time of one packet of m bytes from program to program while p hosts communicate.
func (c Cluster) oneWay(m, p float64) float64 {
	return c.Os.Of(m) + c.L.At(m, p) + c.Or.Of(m) + c.Ur.Of(m)
}

// Of reads the cluster model off params. Where the file leaves something open it takes
//
//   - O_r as zero, where no time was lost to arriving messages that could be told from noise (unidentifiable);
//   - g_r as g_s, where several senders at one receiver were not measured or did not saturate it: the paper's own
//     simplification (section 3.2);
//   - B_L as what the buffer held at least, where it never overflowed, and as endless where it was not measured. Where
//     it is withheld, a gather by windows is an error.
//
// It returns fit.ErrNeeds where O_s, U_r, g_s or L is missing, or any of the functions is withheld, and names them. For
// a function of another form it returns params.ErrForm.
func Of(p *params.Params) (Cluster, error) {
	c := Cluster{BL: math.Inf(1), MTU: fit.DefaultPacket}
	var wrong []string
	for _, name := range []string{"O_s", "U_r", "O_r", "g_s", "g_r", "L_cluster"} {
		fn, ok := p.Functions[name]
		_, explained := p.Parameters[name]
		switch {
		case ok && !fn.Usable():
			wrong = append(wrong, fmt.Sprintf("%s is withheld (%s: %s)", name, fn.Status, fn.Why))
		case !ok && name != "g_r" && !(name == "O_r" && explained):
			wrong = append(wrong, name+" is missing")
		}
	}
	if len(wrong) > 0 {
		return Cluster{}, fmt.Errorf("cluster model: %w: %s%s", fit.ErrNeeds, strings.Join(wrong, "; "),
			p.Hint("O_s", "U_r", "O_r", "g_s", "L_cluster"))
	}
	for i, cost := range []*params.Cost{&c.Os, &c.Ur, &c.Gs, &c.Gr, &c.Or} {
		name := []string{"O_s", "U_r", "g_s", "g_r", "O_r"}[i]
		if fn, ok := p.Functions[name]; ok {
			v, err := fn.Cost()
			if err != nil {
				return Cluster{}, fmt.Errorf("function %s: %w", name, err)
			}
			*cost = v
		} else if name == "g_r" {
			c.Gr = c.Gs
		}
	}
	l := p.Functions["L_cluster"]
	shape, err := l.Shape(p.Functions)
	if err != nil {
		return Cluster{}, fmt.Errorf("function L_cluster: %w", err)
	}
	var ok bool
	if c.L, ok = shape.(params.Transfer); !ok {
		return Cluster{}, fmt.Errorf("function L_cluster: %w: form %q is not a transfer time", params.ErrForm, l.Form)
	}
	if v := p.Parameters[packetParameter].Value; v != nil {
		c.MTU = *v
	}
	b, measured := p.Parameters["B_L"]
	if packets, _, ok := p.PortPackets(c.MTU); ok {
		c.BL = packets
		if v := p.Parameters["B_L_bytes"].Value; v != nil {
			c.BLBytes = *v
		}
	} else if measured && b.Bound != nil {
		if b.Bound[0] > 0 || !math.IsInf(b.Bound[1], 1) { // else nothing is known of it, as where it was not measured
			c.BL, c.BLLeast = b.Bound[0], true
		}
	} else if measured {
		c.BL = math.NaN()
	}
	return c, nil
}

// Room is how many packets of m bytes the port holds.
func (c Cluster) Room(m float64) float64 {
	if c.BLBytes > 0 {
		return c.BLBytes / (m + params.SegmentHeaders)
	}
	return c.BL
}

// ErrPredict reports a prediction for numbers of hosts, bytes or costs that make no sense.
var ErrPredict = errors.New("cannot be predicted")

// parts returns how many packets of MTU bytes a message of M bytes has before its last one, and the bytes of that.
func (c Cluster) parts(bytes float64) (full, last float64) {
	full = math.Max(1, math.Ceil(bytes/c.MTU)) - 1
	return full, bytes - full*c.MTU
}

// check returns ErrPredict unless there are hosts, bytes and a packet size to predict with.
func (c Cluster) check(what string, hosts int, bytes float64) error {
	if hosts < 1 || !(bytes >= 0) || math.IsInf(bytes, 1) || !(c.MTU > 0) {
		return fmt.Errorf("%s with %d hosts of %g B in packets of %g B: %w", what, hosts, bytes, c.MTU, ErrPredict)
	}
	return nil
}

// Broadcast returns the time [s] of a broadcast of M bytes to p hosts by a binomial tree. The tree is walked once for
// each of the k packets, and the host half way down it cannot send one packet and receive the next at once:
//
//	B_k(p) = (k−1)·(log₂(p/2)·g_s + O_r + U_r) + log₂p·(O_s + L(m, p) + O_r + U_r),
//
// with k packets of m = M/k bytes; log₂p is rounded up. One host takes no time. It returns ErrPredict without
// hosts, for a negative size, or without a packet size. Source: Tam, Wang 2000, eq. 2.
func (c Cluster) Broadcast(p int, bytes float64) (float64, error) {
	if err := c.check("a broadcast", p, bytes); err != nil {
		return 0, err
	}
	if p == 1 {
		return 0, nil
	}
	k, m := c.Packets(bytes)
	n := steps(p)
	return (k-1)*((n-1)*c.Gs.Of(m)+c.Or.Of(m)+c.Ur.Of(m)) + n*c.oneWay(m, float64(p)), nil
}

// Scatter returns the time [s] in which one host sends M bytes to each of p−1 others in turn: all packets but the last
// at the gaps at which it sends, and then the last one's way, with all p hosts at work,
//
//	T = (p−1)·k·g_s − g_s + O_s + L(m, p) + O_r + U_r.
//
// Whole packets of MTU bytes and the rest of M are counted as they are. With p = 2 it is one message, (k−1)·g_s behind
// its last packet. One host takes no time. Errors are those of Broadcast. Source: Tam, Wang 2000, section 3.2.
func (c Cluster) Scatter(p int, bytes float64) (float64, error) {
	if err := c.check("a scatter", p, bytes); err != nil {
		return 0, err
	}
	if p == 1 {
		return 0, nil
	}
	_, last := c.parts(bytes)
	return float64(p-1)*c.each(c.Gs, bytes) - c.Gs.Of(last) + c.oneWay(last, float64(p)), nil
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
// they are. Packets lost where w is above G_au are not in it. Errors are those of Broadcast, and ErrPredict for a
// window that is none.
// Source: Tam, Wang 2000, eq. 8.
func (c Cluster) GatherTime(senders int, bytes float64, window int) (float64, error) {
	if err := c.check("a gather", senders, bytes); err != nil {
		return 0, err
	}
	if err := c.check("a gather by windows", window, bytes); err != nil {
		return 0, err
	}
	_, last := c.parts(bytes)
	way := c.oneWay(last, float64(senders+1))
	port := float64(senders)*c.each(c.Gr, bytes) - c.Gr.Of(last)
	window = min(window, senders)
	turns := math.Ceil(float64(senders) / float64(window))
	together := float64(senders) - (turns-1)*float64(window)
	chain := turns*c.each(c.Gs, bytes) - c.Gs.Of(last) + (turns-1)*c.oneWay(1, float64(senders+1)) +
		(together-1)*c.Gr.Of(last)
	return way + math.Max(port, chain), nil
}

// each is the cost of all packets of a message: those of MTU bytes, and the rest.
func (c Cluster) each(cost params.Cost, bytes float64) float64 {
	full, last := c.parts(bytes)
	return full*cost.Of(c.MTU) + cost.Of(last)
}
