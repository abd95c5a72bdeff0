package export

import (
	"fmt"
	"io"
	"math"

	"calib/fit"
)

// simgridTarget is a platform file of SimGrid, for MPI programs run by smpirun (3.32 and later).
//
// SimGrid sends a message of x bytes in four steps: the sender sleeps os(x), the route's latency passes, x + 16 bytes flow
// through the links of the route, which flows share, and the receiver sleeps or(x). How T(x), what ping-pong measured, is
// divided over the four changes nothing for a message alone, which takes T(x) to the rounding of the numbers, and everything
// for messages that meet. It is divided by what was measured of messages that meet:
//
//   - Up to one TCP window, 10 packets, which a connection sends at once (RFC 6928), messages leave a host one after the
//     other: os is the time that the host's sending side is busy, g_s(x) for one packet and x·g_s(p)/p for several. What
//     the receiving side needs for a packet, g_r(x), is or, so that messages of many senders to one receiver come out g_r
//     apart; where T(x) has less room than that, as it has beyond a packet since the packets of one message overlap on
//     their way, or is what room there is, and such a gather comes out too fast. The rest is latency.
//   - Above, connections of one host take turns, as its blocking sends return early: os is zero, T(x) a latency and a flow,
//     and flows share the sender's link up, the receiver's link down, and the medium.
//   - Above send_buffer, B, a blocking send returns when all but B has left, and what it sends next shares the link with the
//     rest. SimGrid holds a link only while a message flows, so that this can be said in part: os is half of what is beyond
//     B, the flow the other half and B. Then a message followed by another arrives B later than it would alone, as it does
//     in truth, and a broadcast over a tree comes out close; but messages that fill a link for longer come out too fast
//     together, by (x − B)/2x at most. Above 8 B, and on a shared medium above B, a send waits for its receiver, a flow is
//     the whole message, and the next starts B late. SimGrid's factors are steps, each within 5% of its flow; os makes up
//     for them.
//
// Consequences: a host that sends or receives small messages cannot compute meanwhile, where the real one hands them to its
// kernel; a program that depends on a blocking send to wait for its receiver is not held below those 8 B; and loss, as from
// a port's buffer that overflows, does not happen.
//
// A network that behaves like a switch gets a link up and a link down for each host; one with a limit b_c that all pairs
// share a medium, through which all routes lead. There the flow of a small message is as long as the medium is busy with it,
// a_c + m·(b_c − a_c/p) for a packet, so that n pairs at once share that.
//
// All numbers are those of the fit. TCP-gamma is set so high that no window limits a flow, since the rates were measured with
// the windows; weight-S is zero, since all routes are alike; and cross-traffic is off, since T(x) was measured with its
// acknowledgements. The speed of hosts is not measured: computation takes no part in the promise.
func simgridTarget() Target {
	return Target{
		Name: "simgrid", File: "platform.xml",
		About: "SimGrid platform file for smpirun: hosts, links, routes, and SMPI's overheads and factors",
		Write: writeSimGrid, Check: checkSimGrid,
	}
}

const (
	// simgridEnvelope is what SMPI adds to every message [B]; factors are chosen by the size with it, overheads without.
	simgridEnvelope = 16
	// simgridMost is the largest boundary and threshold: SimGrid reads them as 32-bit integers.
	simgridMost = math.MaxInt32
	// simgridHosts bounds the routes, which are one for each two hosts and direction.
	simgridHosts = 512
	// simgridGamma is TCP-gamma [B], a window that limits nothing.
	simgridGamma = 1e18
)

func writeSimGrid(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	m, err := simgridOf(p, o)
	if err != nil {
		return nil, err
	}
	return m.warnings, m.write(w, p, o)
}

// checkSimGrid reads the platform as SimGrid does and compares the time of a message from the first host to the second, and
// back, with T(x), on both sides of every boundary and between; and what hosts and messages in common are bound by.
func checkSimGrid(file []byte, p *fit.Params, o Options) error {
	platform, err := ReadSimGrid(file)
	if err != nil {
		return err
	}
	m, err := simgridOf(p, o)
	if err != nil {
		return err
	}
	if len(platform.Hosts) != len(m.hosts) {
		return mismatch("the number of hosts", float64(len(platform.Hosts)), float64(len(m.hosts)), "")
	}
	first, last := platform.Hosts[0], platform.Hosts[len(platform.Hosts)-1]
	for _, way := range [][2]string{{first, last}, {last, first}} {
		for _, x := range m.probes() {
			got, err := platform.Time(way[0], way[1], x)
			if err != nil {
				return err
			}
			if want := m.at(x); !within(got, want, 1e-9*want) {
				return mismatch(fmt.Sprintf("T(%d bytes)", x), got, want, "s")
			}
		}
		for name, want := range m.capacities() {
			got, err := platform.capacity(way[0], way[1], name)
			if err != nil {
				return err
			}
			if !within(got, want, 1e-9*want) {
				return mismatch("the bandwidth of link "+name, got, want, "B/s")
			}
		}
	}
	return nil
}
