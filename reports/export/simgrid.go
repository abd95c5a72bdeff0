package export

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
	"calib/predict/network"
)

// This file writes a run as a platform file of SimGrid, for MPI programs run by smpirun (3.32 and later).
//
// SimGrid sends a message of x bytes in four steps: the sender sleeps os(x), the route's latency passes, x + 16 bytes
// flow through the links of the route, which flows share, and the receiver sleeps or(x). A message alone takes T(x),
// what ping-pong measured, to the rounding of the numbers, however T(x) is divided over the four steps. Messages that
// meet depend on the division, and so it follows what was measured of messages that meet:
//
//   - Up to one TCP window, 10 packets, which a connection sends at once (RFC 6928), messages leave a host one by one.
//     os is how long the sending side is busy: g_s(x) for one packet, x·g_s(p)/p for several. or is what the receiving
//     side needs for a packet, g_r(x). So messages of many senders come to one receiver g_r apart. Beyond a packet T(x)
//     has less room than that, since the packets of a message overlap on their way. Then or is what room there is, and
//     such a gather comes out too fast. The rest is latency.
//   - Above, where windows have grown, a message still leaves as a whole. SimGrid's flows share a link, and only a
//     sender can keep one back. So a send waits for its receiver, and T(x) is a latency and a flow. The next message
//     starts when the last has arrived. Flows of several hosts share the receiver's link down, and the medium.
//   - Above, where windows are as they begin, connections of one host take turns, as its blocking sends return early.
//     os is zero, T(x) a latency and a flow, and flows share the sender's link up as well. Above send_buffer, B, a
//     blocking send returns when all but B has left. What it sends next shares the link with the rest. SimGrid holds a
//     link only while a message flows, and cannot say all of this: os is half of what is beyond B, the flow the other
//     half and B. Then a message before another arrives B later than alone, as in truth, and a broadcast over a tree
//     comes out close. But messages that fill a link for longer come out too fast together, by (x − B)/2x at most.
//     Above 8 B, and on a shared medium above B, a send waits for its receiver. Then a flow is the whole message, and
//     the next starts B late.
//
// Windows count as grown, unless the simulation of them as they begin predicted the run's patterns better. SimGrid's
// factors are steps, each within 5% of its flow; os makes up for the difference.
//
// Consequences:
//
//   - A host that sends or receives small messages cannot compute meanwhile; the real one hands them to its kernel.
//   - Where sends do not wait, a program that depends on a blocking send to wait for its receiver is not held.
//   - Where they wait, SimGrid reports a deadlock of two ranks that both send first. A receiver that opens one receive
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

const (
	// envelope is what SMPI adds to every message [B]; factors are chosen by the size with it, overheads without.
	envelope        = 16
	largestBoundary = math.MaxInt32 // the largest boundary and threshold: SimGrid reads them as 32-bit integers
	// maxPlatformHosts bounds the routes, which are one for each two hosts and direction.
	maxPlatformHosts = 512
	gamma            = 1e18 // TCP-gamma [B], a window that limits nothing
)

// writeSimGrid writes the platform file of a run. It warns of what was not measured, and of messages that meet and are
// known to be too fast. It fails with the classes of the package.
func writeSimGrid(in *input) []byte {
	p := platformOf(in)
	if p == nil {
		return nil
	}
	return in.render("platform.xml", map[string]any{
		"comment": plainComment, "measured": p.measured, "gamma": float64(gamma), "hosts": p.hosts, "latency": p.latency,
		"up": p.up, "down": p.down, "medium": p.medium, "groups": p.groups, "group": p.group, "uplink": p.uplink,
		"detour": p.detour, "waiting": int(p.longestEager()) + 1,
		"latencies":  p.list(envelope, func(s segment) []float64 { return []float64{s.latency / p.latency} }),
		"bandwidths": p.list(envelope, func(s segment) []float64 { return []float64{1 / (s.perByte * p.bottleneck())} }),
		"os":         p.list(0, func(s segment) []float64 { return []float64{s.os.c0, s.os.c1} }),
		"or":         p.list(0, func(s segment) []float64 { return []float64{s.or.c0, s.or.c1} }),
	})
}

// list writes "boundary:factor" or "boundary:s:s/B" of each segment. The sizes that they are chosen by are added bytes
// larger than a message.
func (p *platform) list(added int, of func(segment) []float64) string {
	var out []string
	for i, s := range p.segments {
		text := strconv.Itoa(s.from + min(i, 1)*added)
		for _, v := range of(s) {
			text += ":" + number(v)
		}
		out = append(out, text)
	}
	return strings.Join(out, ";")
}

// plainComment makes text safe in a comment of XML, where two hyphens end it.
func plainComment(s string) string {
	s = strings.ToValidUTF8(units.OneLine(s), "?")
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "- -")
	}
	return s
}

// platform is what a platform file says, and what was measured of messages that meet, which it is made of.
type platform struct {
	in       *input
	hosts    []string
	times    []timePiece
	measured float64 // largest size that T was measured at, B
	segments []segment
	latency  float64        // of a route, s
	up, down float64        // bandwidth of a host's links, B/s; 0 for none
	medium   float64        // bandwidth, B/s; 0 for none
	groups   []int          // numbers of groups of hosts, such as racks; none without an uplink
	group    map[string]int // of a host, from 1
	uplink   float64        // bandwidth of a group's links, B/s
	detour   float64        // latency of each of the two of a way between groups, s

	packet  float64               // payload of one packet, B
	send    func(float64) float64 // time of a host's sending side for a packet of so many bytes, s
	receive func(float64) float64 // the same of the receiving side; nil where it is not known
	contend func(float64) float64 // time by which a second message at once is later, s; nil but for a medium
	window  int                   // B that a connection sends at once when it begins
	grown   bool                  // whether windows have grown, and hold every message
	buffer  float64               // B that a blocking send leaves to the kernel; 0 where it is not known
	kinks   []float64             // sizes at which send and receive bend, B
}

// platformOf divides T(x) over SimGrid's steps; nil is an error.
func platformOf(in *input) *platform {
	p := &platform{in: in}
	for _, step := range []func(){p.readTimes, p.readPackets, p.nameHosts, p.addLinks, p.divide, p.addUplinks,
		p.checkLinks} {
		if step(); in.err != nil {
			return nil
		}
	}
	p.warnOfTooFast()
	p.warnOfDetour()
	if p.groups == nil {
		in.warnOfSlowPairs()
	} else {
		in.warnOfKinds()
		in.warnOfPairs("in the file all within a group are alike, and all between groups")
	}
	return p
}

// readTimes takes T(x) of the segmented fit; breaks are rounded down, which is the same for whole sizes.
func (p *platform) readTimes() {
	pieces, measured, ok := p.in.pieces("T")
	if !ok {
		err := p.in.noFunction("T")
		if err == ErrMissing {
			err = fmt.Errorf("function T, time of a message by its size: %w%s", err, p.in.Params.Hint("T"))
		}
		p.in.fail(err)
		return
	}
	p.measured = measured
	for i, s := range pieces {
		if i > 0 {
			p.times[i-1].to = int(s.From)
		}
		p.times = append(p.times, timePiece{from: int(s.From), to: largestBoundary - envelope, line: line{s.C0, s.C1}})
	}
	for _, t := range p.times {
		if t.from >= t.to || !(t.at(float64(t.from+1)) > 0) || !(t.at(float64(t.to)) > 0) {
			p.in.failf("T(x) from %d to %d bytes is %g s + %g s/B·x: %w: it must be positive, over 1 B at least",
				t.from, t.to, t.c0, t.c1, ErrLimit)
		}
	}
	if p.longPiece().c1 <= 0 {
		p.in.failf("T(x) does not grow above %d bytes: %w: a link needs a bandwidth; measure larger messages: "+
			"%s --sizes 1,1KiB..4MiB",
			p.longPiece().from, ErrLimit, p.in.Params.Measure("T"))
	}
}

// longPiece is T of the largest messages.
func (p *platform) longPiece() timePiece { return p.times[len(p.times)-1] }

// pieceOf is T of messages around x bytes.
func (p *platform) pieceOf(x int) timePiece {
	return p.times[slices.IndexFunc(p.times, func(t timePiece) bool { return x <= t.to })]
}

// nameHosts takes the names of the run; those that a platform or a list of hosts cannot hold are changed.
func (p *platform) nameHosts() {
	n := p.in.hostCount()
	if n > maxPlatformHosts {
		p.in.failf("a platform of %d hosts: %w: it has a route for each two of them; choose 2 to %d with --nodes", n,
			ErrOption, maxPlatformHosts)
		return
	}
	names := p.in.Params.Run.Hosts
	seen := map[string]bool{}
	changed := 0
	for i := range n {
		name := "host-" + strconv.Itoa(i)
		if n <= len(names) {
			if name = plainName(names[i]); name != names[i] {
				changed++
			}
		}
		for seen[name] || name == "" {
			name += "_" + strconv.Itoa(i)
		}
		seen[name] = true
		p.hosts = append(p.hosts, name)
	}
	if changed > 0 {
		p.in.warnf("%d names of hosts have characters that a list of hosts cannot hold: these are _", changed)
	}
	if n > len(names) {
		p.in.warnf("the file has %d hosts, %d were measured: what more of them share is not known", n, len(names))
	}
}

func plainName(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '.' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
}

// flat is by how much L may grow over the hosts measured for the network to count as a switch: a share of L for the
// fewest.
const flat = 0.05

// addLinks decides between a switch and a shared medium, by b_c of paired; without it a switch is one where the delay
// does not grow with the hosts that communicate.
func (p *platform) addLinks() {
	in := p.in
	if bc, ok := in.found("b_c"); ok && bc > 0 {
		in.showUsed("b_c")
		p.medium = 1 / bc
		if b, ok := in.found("b"); ok && b > 0 {
			in.showUsed("b")
			p.up, p.down = 1/b, 1/b
		} else {
			in.warnf("b is not known, the medium being the limit of a single pair: hosts have no link of their own")
		}
		in.warnf("a shared medium: many messages to one receiver at once come out up to a third too fast within a packet, " +
			"and up to 45%% too slow above one")
		return
	}
	p.up = 1 / p.longPiece().c1
	p.down = p.up
	if p.receive != nil {
		p.down = max(p.up, p.packet/p.receive(p.packet))
	}
	l, _ := in.function("L_cluster")
	over, delay := l.Domain["p"], l.Coeff["l0"]+l.Coeff["l1"]*l.Domain["p"][0] // for the fewest hosts, of no byte [s]
	linear := l.Usable() && (l.Form == params.Bilinear || l.Form == params.FlooredBilinear)
	switch q := in.Params.Parameters["b_c"]; {
	case q.Bound != nil:
		in.warnf("b_c is not known (%s): the network is a switch without a limit of its own", units.OneLine(q.Why))
	case linear && over[1] > over[0] && delay > 0 && math.Abs(l.Coeff["l1"])*(over[1]-over[0]) <= flat*delay:
		in.warnf("paired was not measured: that the network is a switch is taken from load, where the delay does not grow " +
			"with the hosts")
	case len(in.Params.Run.Hosts) == 2:
		in.warnf("two hosts: whether the network is a switch or a shared medium cannot be seen, a switch is written")
	default:
		in.failf("parameter b_c, whether the network is a switch or a shared medium: %w, which takes four hosts%s",
			ErrMissing, in.Params.Hint("b_c"))
	}
}

// addUplinks gives each group of hosts, such as a rack, a link up and a link down, which all pass that leaves it. Their
// latency is what a byte takes longer between groups. A limit that was not seen is none.
func (p *platform) addUplinks() {
	within, between, known := p.in.Params.Ways()
	if p.in.Params.Groups == nil || !known || len(p.hosts) != len(p.in.Params.Run.Hosts) {
		return
	}
	rate, limited := p.in.found("uplink_rate")
	if p.uplink = rate; limited {
		p.in.showUsed("uplink_rate")
	} else {
		p.uplink = p.bottleneck() * float64(len(p.hosts))
	}
	p.detour, p.group = (between-within)/2, map[string]int{}
	for i, hosts := range p.in.Params.GroupsByIndex() {
		p.groups = append(p.groups, i+1)
		for _, h := range hosts {
			p.group[p.hosts[h]] = i + 1
		}
	}
	p.in.warn(network.SlowUplinks(p.in.Params)...)
	if out := lists.Where(p.hosts, func(h string) bool { return p.group[h] == 0 }); len(out) > 0 {
		p.in.warnf("hosts in none of the run's groups are as near to all as those of one group: %s", strings.Join(out, ", "))
	}
}

// checkLinks refuses a bandwidth that is not finite, and one that TCP-gamma would limit, to gamma/(2·latency).
func (p *platform) checkLinks() {
	if most := max(p.up, p.down, p.medium); math.IsInf(most, 0) || p.bottleneck() > gamma/(2*p.latency) {
		p.in.failf("links of up to %g B/s with a latency of %g s: %w: SimGrid would limit them by a window", most, p.latency,
			ErrLimit)
	}
}

// bottleneck is the bandwidth of a flow alone before its factor [B/s].
func (p *platform) bottleneck() float64 {
	return slices.Min(slices.DeleteFunc([]float64{p.up, p.down, p.medium}, func(b float64) bool { return b == 0 }))
}
