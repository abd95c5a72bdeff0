package export

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strings"

	"calib/reports/export/input"
)

const (
	tcDevice     = "eth0"
	netemDefault = 1000 // packets, netem's limit where none is given
)

// deviceName is a name that Linux takes and in which a shell finds nothing special.
var deviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,14}$`)

// netem is what the script sets on a device.
type netem struct {
	device string
	delay  float64 // s
	rate   float64 // bit/s
	limit  int     // packets; 0 is netem's own
}

// netemOf splits the way of one byte into delay and rate.
func netemOf(q emulatedPath, o Options) (netem, error) {
	n := netem{device: cmp.Or(o.Device, tcDevice), rate: math.Round(q.rate())}
	if !deviceName.MatchString(n.device) {
		return n, fmt.Errorf("network device %q: %w: up to 15 letters, digits and _.:@-", n.device, ErrOption)
	}
	if !(n.rate >= 8) || n.rate > 1e15 {
		return n, fmt.Errorf("rate %g bit/s: %w of tc", q.rate(), ErrLimit)
	}
	if n.delay = q.delay - q.payloadTime(1, n.rate); n.delay < 0 {
		return n, fmt.Errorf("delay %g s: %w: a packet of one byte needs %g s at the rate of 1/G alone, more than L", q.delay, ErrLimit, q.payloadTime(1, n.rate))
	}
	if q.queue > 0 {
		n.limit = q.limit(n.delay)
	}
	return n, nil
}

// writeTC writes a shell script with tc netem (tc-netem(8)), to run on every host. netem holds a packet that leaves for
// delay, and sends one after the other at rate, headers counted. Every host delays what it sends by the whole one-way
// L, and none of what it receives, so that each direction has L once.
//
// A packet of one byte takes delay + (1 + headers)/rate, which is L, and k full ones k·p·G more than none. netem's
// overhead argument could take the headers off, but a packet shorter than they are would then block the device
// (net/sched/sch_netem.c: the length is unsigned), so they are in the rate.
func writeTC(b *bytes.Buffer, in *input.Input) ([]string, error) {
	q, warnings, err := emulatedPathOf(in)
	if err != nil {
		return nil, err
	}
	n, err := netemOf(q, in.Options)
	if err != nil {
		return nil, err
	}
	limit := ""
	if n.limit > 0 {
		limit = fmt.Sprintf(" limit %d", n.limit)
		warnings = append(warnings, "limit holds B_L and the packets on their way, at the sender: netem has no port that several senders fill")
	} else if held := q.limit(n.delay); held > netemDefault {
		warnings = append(warnings, fmt.Sprintf("%d packets are on their way at full rate, and netem drops above %d: B_L is not known, set limit yourself", held, netemDefault))
	}
	notes := []string{
		"Hosts: " + strings.Join(in.Params.Run.Hosts, ", "),
		"Run it as root on every host, both ends of every path: sh netem.sh sets, sh netem.sh clear removes.",
		"delay is the whole one-way L, less the packet of one byte at the rate; each host delays only what it sends.",
		fmt.Sprintf("rate is 1/G with %d B of headers (IPv4, TCP with time stamps) on %g B of payload.", headerBytes, q.packet),
		"Before: ethtool -K " + n.device + " tso off gso off gro off",
	}
	fmt.Fprintln(b, "#!/bin/sh")
	in.WriteHeader(b, "# ", q.from, notes, warnings)
	fmt.Fprintf(b, `set -eu
if [ "${1:-}" = clear ]; then
	exec tc qdisc del dev %[1]s root
fi
tc qdisc replace dev %[1]s root netem delay %[2]s rate %.0[3]fbit%[4]s
`, n.device, micro(n.delay), n.rate, limit)
	return warnings, nil
}
