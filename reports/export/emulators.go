package export

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"calib/internal/lists"
	"calib/internal/units"
	"calib/params"
	"calib/predict/network"
)

// emulatedPath is what an emulator must add to hosts that have costs of their own: a delay and a time per byte of
// payload.
type emulatedPath struct {
	delay, perByte float64 // s, s/B
	packet         float64 // payload of a packet [B]
	queue          float64 // packets that the port to a receiver holds; 0 where it is not known
}

// longestDelay [s] is what tc and netem hold, ns in 63 bits.
const longestDelay = math.MaxInt64 * nanosecond

// emulatedPathOf takes the delay from LogGP's L, without the overheads of the hosts, else from α, with them.
func emulatedPathOf(in *input) (q emulatedPath) {
	in.warnOfSlowPairs()
	in.warnf("the hosts' own costs come on top, and segmentation offload (TSO, GSO) must be off, or the queue counts " +
		"bundles of packets as one")
	v, err := in.needAll("L", "G")
	q.delay, q.perByte = v[0], v[1]
	from := []string{"L", "G"}
	if err != nil || !(v[0] > 0) {
		a, other := affineOf(in)
		if other != nil && err != nil {
			other = fmt.Errorf("%w; or else %w", err, other)
		}
		in.fail(other)
		q.delay, q.perByte, from = a.alpha, a.beta, a.from
		in.warnf("the delay is a whole message's, with the overheads of both hosts in it: L is not known, or zero")
	}
	q.packet, err = in.need("packet")
	in.fail(err)
	switch {
	case !(q.delay > 0) || !(q.perByte > 0) || !(q.packet >= 1):
		in.failf("delay %g s, %g s/B, packets of %g B: %w: they must be positive", q.delay, q.perByte, q.packet, ErrLimit)
	case q.delay > longestDelay:
		in.failf("delay %g s: %w: netem takes up to %.2g s", q.delay, ErrLimit, longestDelay)
	}
	in.showUsed(append(from, "packet")...)
	if b, of, ok := in.Params.PortPackets(q.packet); ok && b > 0 {
		q.queue = b
		in.found(of)
		in.showUsed(of)
	}
	return q
}

// rate is the rate [bit/s] of packets with their headers, as Linux counts it. Full packets then take perByte for a byte
// of payload.
func (q emulatedPath) rate() float64 {
	return 8 * (q.packet + params.SegmentHeaders) / (q.packet * q.perByte)
}

// limit is how many packets a queue must hold in which they are also delayed by the given time: B_L, and those on their
// way.
func (q emulatedPath) limit(delay float64) int {
	return int(math.Min(math.Round(q.queue)+math.Ceil(delay/(q.packet*q.perByte)), math.MaxInt32))
}

// micro writes a time [s] in µs with whole ns, as tc reads it.
func micro(s float64) string { return decimal(s*1e6, 3) + "us" }

const mininetMax = 1000 // the largest bw [Mbit/s] of TCIntf, bwParamMax

// writeMininet writes a Python script with a topology for Mininet: hosts at one switch over TCLink, whose two ends are
// each an htb of bw Mbit/s with a burst of 15 kB and below it a netem of delay and max_queue_size packets
// (mininet/link.py, class TCIntf). A message passes two of them, that of its host and that of the switch towards the
// receiver: each has half of L, and the rate, which the second does not add to. mn --custom makes the globals of the
// script its own, so none may have the name of one of its own (bin/mn: HOSTS, SWITCHES, LINKS, …).
//
// Mininet ignores a bw above 1000; that is an error here.
func writeMininet(in *input) []byte {
	q, hosts := emulatedPathOf(in), in.hostCount()
	bandwidth := q.rate() / 1e6 // Mbit/s
	if bandwidth > mininetMax || bandwidth < 1e-3 {
		in.failf("bw %g Mbit/s: %w: Mininet takes 0.001 to %d and ignores others; target tc has no such limit", bandwidth,
			ErrLimit, mininetMax)
	}
	delay, queue := q.delay/2, "None" // of one end of a link [s]; packets at the switch's end
	if q.queue > 0 {
		queue = strconv.Itoa(q.limit(delay))
	}
	in.warnf("Mininet lets the first 15 kB after a pause pass without the limit of the rate")
	return in.render("mininet", map[string]any{
		"names": strings.Join(in.Params.Run.Hosts, ", "), "hosts": hosts, "headers": params.SegmentHeaders,
		"packet": q.packet, "bandwidth": bandwidth, "delay": micro(delay), "queue": queue,
	})
}

const (
	tcDevice     = "eth0"
	netemDefault = 1000 // packets, netem's limit where none is given
)

// deviceName is a name that Linux takes and in which a shell finds nothing special.
var deviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,14}$`)

// writeTC writes a shell script with tc netem (tc-netem(8)), to run on every host. netem holds a packet that leaves for
// delay, and sends one after the other at rate, headers counted. Every host delays what it sends by the whole one-way
// L, and none of what it receives, so that each direction has L once.
//
// A packet of one byte takes delay + (1 + headers)/rate, which is L, and k full ones k·p·G more than none. netem's
// overhead argument could take the headers off, but a packet shorter than they are would then block the device
// (net/sched/sch_netem.c: the length is unsigned), so they are in the rate.
func writeTC(in *input) []byte {
	q, device, limit := emulatedPathOf(in), cmp.Or(in.Device, tcDevice), 0 // packets; 0 is netem's own
	rate := math.Round(q.rate())                                           // bit/s
	first := 8 * (1 + params.SegmentHeaders) / rate                        // s, of a packet of one byte
	delay := q.delay - first
	switch {
	case !deviceName.MatchString(device):
		in.failf("network device %q: %w: up to 15 letters, digits and _.:@-", device, ErrOption)
	case !(rate >= 8) || rate > 1e15:
		in.failf("rate %g bit/s: %w of tc", q.rate(), ErrLimit)
	case delay < 0:
		in.failf("delay %g s: %w: a packet of one byte needs %g s at the rate of 1/G alone, more than L", q.delay,
			ErrLimit, first)
	}
	if q.queue > 0 {
		limit = q.limit(delay)
	}
	if limit > 0 {
		in.warnf("limit holds B_L and the packets on their way, at the sender: netem has no port that several senders fill")
	} else if held := q.limit(delay); held > netemDefault {
		in.warnf("%d packets are on their way at full rate, and netem drops above %d: B_L is not known, set limit yourself",
			held, netemDefault)
	}
	return in.render("tc", map[string]any{
		"names": strings.Join(in.Params.Run.Hosts, ", "), "headers": params.SegmentHeaders, "packet": q.packet,
		"device": device, "delay": micro(delay), "rate": rate, "limit": limit,
	})
}

const MaxSlowdown = 1e6 // of Options

// writeLab writes a lab file (docs/reference/lab.md): a network of calib lab that has the run's parameters, with the
// hosts and pairs that the run names as slow. The translation is that of the calibrated simulation (package network). A
// network that the lab cannot play on time is slowed by a factor, which the file states.
func writeLab(in *input) []byte {
	var c *network.Copy
	n, err := network.Of(in.Params)
	if errors.Is(err, network.ErrParameters) {
		in.fail(noNetwork(in, err))
	} else if hosts := in.hostCount(); err == nil && hosts > 0 {
		c, err = n.Copy(in.Params, hosts, in.Slowdown)
	}
	if err != nil {
		in.failf("%w: %w", err, ErrLimit)
	}
	if in.err != nil {
		return nil
	}
	in.warn(lists.Map(append(n.Notes, c.Notes...), units.OneLine)...)
	in.warnf("the lab's hosts have calls and wake-ups of their own, which add up to 30 µs to a message")
	var functions []string
	for _, name := range n.From {
		if f, ok := in.function(name); ok {
			functions = append(functions, f.Words(name))
			continue
		}
		q := in.Params.Parameters[name]
		in.mark(name, q.Status, q.Why)
		in.showUsed(name)
	}
	return in.render("lab", map[string]any{"functions": functions, "network": c.Spec.Text(), "slowdown": c.Spec.Slowdown,
		"own": in.Hosts == 0, "hosts": in.Params.Run.Hosts})
}

// noNetwork is the error of a run that describes no network: of class ErrMissing, with the reasons why what would do
// must not be used.
func noNetwork(in *input, err error) error {
	var withheld []error
	for _, name := range []string{"a", "b", "alpha", "beta"} {
		if q := in.Params.Parameters[name]; q.Estimate != nil && q.Value == nil {
			_, e := in.need(name)
			withheld = append(withheld, e)
		}
	}
	for _, name := range []string{"g_s", "L_cluster"} {
		if f, ok := in.Params.Functions[name]; ok && !f.Usable() {
			withheld = append(withheld, in.noFunction(name))
		}
	}
	if withheld == nil {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	return fmt.Errorf("%w; %w", err, errors.Join(withheld...))
}
