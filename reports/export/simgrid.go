// This file and its two neighbours write a run as a platform file of SimGrid, for MPI programs run by smpirun (3.32 and later).
//
// SimGrid sends a message of x bytes in four steps: the sender sleeps os(x), the route's latency passes, x + 16 bytes
// flow through the links of the route, which flows share, and the receiver sleeps or(x). A message alone takes T(x),
// what ping-pong measured, to the rounding of the numbers, however T(x) is divided over the four steps. Messages that
// meet depend on the division, and so it follows what was measured of messages that meet:
//
//   - Up to one TCP window, 10 packets, which a connection sends at once (RFC 6928), messages leave a host one after the
//     other: os is the time that the host's sending side is busy, g_s(x) for one packet and x·g_s(p)/p for several. What
//     the receiving side needs for a packet, g_r(x), is or, so that messages of many senders to one receiver come out g_r
//     apart. Beyond a packet T(x) has less room than that, since the packets of one message overlap on their way: or is then
//     what room there is, and such a gather comes out too fast. The rest is latency.
//   - Above, where windows have grown, a message still leaves as a whole. SimGrid's flows share a link, and only a sender can
//     keep one back. So a send waits for its receiver, and T(x) is a latency and a flow: the next message starts when the last
//     has arrived, and flows of several hosts share the receiver's link down, and the medium.
//   - Above, where windows are as they begin, connections of one host take turns, as its blocking sends return early: os is
//     zero, T(x) a latency and a flow, and flows share the sender's link up as well. Above send_buffer, B, a blocking send
//     returns when all but B has left, and what it sends next shares the link with the rest. SimGrid holds a link only while
//     a message flows, and so cannot say all of this: os is half of what is beyond B, the flow the other half and B. Then a
//     message followed by another arrives B later than it would alone, as it does in truth, and a broadcast over a tree
//     comes out close; but messages that fill a link for longer come out too fast together, by (x − B)/2x at most. Above
//     8 B, and on a shared medium above B, a send waits for its receiver, a flow is the whole message, and the next starts
//     B late.
//
// Windows count as grown, unless the simulation of them as they begin predicted the run's patterns better
// (windowsGrown). SimGrid's factors are steps, each within 5% of its flow; os makes up for the difference.
//
// Consequences:
//
//   - A host that sends or receives small messages cannot compute meanwhile; the real one hands them to its kernel.
//   - Where sends do not wait, a program that depends on a blocking send to wait for its receiver is not held.
//   - Where they wait, SimGrid reports a deadlock of two ranks that both send first, and a receiver that opens one receive
//     after the other gets messages no faster than one sender sends them.
//   - Loss, as from a port's buffer that overflows, does not happen.
//
// A network that behaves like a switch gets a link up and a link down for each host; one with a limit b_c that all
// pairs share gets a medium, through which all routes lead. There the flow of a small message is as long as the medium
// is busy with it, a_c + m·(b_c − a_c/p) for a packet, so that n pairs at once share that.
//
// All numbers are those of the fit. TCP-gamma is set so high that no window limits a flow, since the rates were
// measured with the windows; weight-S is zero, since all routes are alike; and cross-traffic is off, since T(x) was
// measured with its acknowledgements. The speed of hosts is not measured, and computation takes no time of it.
package export

import (
	"math"
	"strconv"
	"strings"
)

const (
	// envelope is what SMPI adds to every message [B]; factors are chosen by the size with it, overheads without.
	envelope = 16
	// largestBoundary is the largest boundary and threshold: SimGrid reads them as 32-bit integers.
	largestBoundary = math.MaxInt32
	// maxPlatformHosts bounds the routes, which are one for each two hosts and direction.
	maxPlatformHosts = 512
	// gamma is TCP-gamma [B], a window that limits nothing.
	gamma = 1e18
)

// writeSimGrid writes the platform file of a run. It warns of messages that meet and are known to be too fast, and of what was
// not measured, and fails with the classes of the package.
func writeSimGrid(in *input) []byte {
	p := platformOf(in)
	if p == nil {
		return nil
	}
	return in.render(templates, "platform.xml", map[string]any{
		"comment": plainComment, "measured": p.measured, "gamma": float64(gamma), "hosts": p.hosts, "latency": p.latency,
		"up": p.up, "down": p.down, "medium": p.medium, "waiting": int(p.longestEager()) + 1,
		"latencies":  p.factors(func(s segment) float64 { return s.latency / p.latency }),
		"bandwidths": p.factors(func(s segment) float64 { return 1 / (s.perByte * p.bottleneck()) }),
		"os":         p.overheads(func(s segment) line { return s.os }),
		"or":         p.overheads(func(s segment) line { return s.or }),
	})
}

// overheads writes "boundary:s:s/B" of each segment.
func (p *platform) overheads(of func(segment) line) string {
	var out []string
	for _, s := range p.segments {
		l := of(s)
		out = append(out, strconv.Itoa(s.from)+":"+number(l.c0)+":"+number(l.c1))
	}
	return strings.Join(out, ";")
}

// factors writes "boundary:factor" of each segment. The size they are chosen by has the envelope in it.
func (p *platform) factors(of func(segment) float64) string {
	var out []string
	for i, s := range p.segments {
		from := 0
		if i > 0 {
			from = s.from + envelope
		}
		out = append(out, strconv.Itoa(from)+":"+number(of(s)))
	}
	return strings.Join(out, ";")
}

// plainComment makes text safe in a comment of XML, where two hyphens end it.
func plainComment(s string) string {
	s = strings.ToValidUTF8(oneLine(s), "?")
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "- -")
	}
	return s
}
