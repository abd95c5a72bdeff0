package export

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"calib/fit"
)

// tcTarget is a shell script with tc netem (tc-netem(8)), to run on every host. netem holds a packet that leaves for delay, and
// sends one after the other at rate, headers counted. Every host delays what it sends by the whole one-way L, and none of
// what it receives, so that each direction has L once.
//
// A packet of one byte takes delay + (1 + headers)/rate, which is L, and k full ones k·p·G more than none. netem's overhead argument
// could take the headers off, but a packet shorter than they are would then block the device (net/sched/sch_netem.c: the
// length is unsigned), so they are in the rate.
func tcTarget() Target {
	return Target{
		Name: "tc", File: "netem.sh", NoHosts: true, Device: true,
		About: "Linux tc netem: script that sets delay and rate on every host, and removes them",
		Write: writeTC, Check: checkTC,
	}
}

const (
	tcDevice     = "eth0"
	netemDefault = 1000 // packets, netem's limit where none is given
)

// deviceName is a name that Linux takes and a shell does not read anything into.
var deviceName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,14}$`)

func (o Options) device() (string, error) {
	if o.Device == "" {
		return tcDevice, nil
	}
	if !deviceName.MatchString(o.Device) {
		return "", fmt.Errorf("network device %q: %w: up to 15 letters, digits and _.:@-", o.Device, ErrOption)
	}
	return o.Device, nil
}

// netem is what one command sets.
type netem struct {
	device string
	delay  float64 // s
	rate   float64 // bit/s
	limit  int     // packets; 0 is netem's own
}

// netemOf splits the way of one byte into delay and rate.
func netemOf(q wire, o Options) (netem, error) {
	dev, err := o.device()
	if err != nil {
		return netem{}, err
	}
	n := netem{device: dev, rate: math.Round(q.rate())}
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

func writeTC(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	q, warnings, err := wireOf(p)
	if err != nil {
		return nil, err
	}
	n, err := netemOf(q, o)
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
		"Hosts: " + strings.Join(p.Run.Hosts, ", "),
		"Run it as root on every host, both ends of every path: sh netem.sh sets, sh netem.sh clear removes.",
		"delay is the whole one-way L, less the packet of one byte at the rate; each host delays only what it sends.",
		fmt.Sprintf("rate is 1/G with %d B of headers (IPv4, TCP with time stamps) on %g B of payload.", headerBytes, q.packet),
		"Before: ethtool -K " + n.device + " tso off gso off gro off",
	}
	if _, err := fmt.Fprintln(w, "#!/bin/sh"); err != nil {
		return nil, err
	}
	if err := comment(w, "# ", header(p, o, q.from, notes, warnings)); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, `set -eu
if [ "${1:-}" = clear ]; then
	exec tc qdisc del dev %[1]s root
fi
tc qdisc replace dev %[1]s root netem delay %[2]s rate %.0[3]fbit%[4]s
`, n.device, micro(n.delay), n.rate, limit)
	return warnings, err
}

var tcCommand = regexp.MustCompile(`^tc qdisc replace dev (\S+) root netem delay ([0-9.]+)us rate ([0-9]+)bit(?: limit ([0-9]+))?$`)

// readTC reads the command that sets netem; the one that removes it must be for the same device.
func readTC(file []byte) (netem, error) {
	var n netem
	removes := ""
	for i, line := range strings.Split(string(file), "\n") {
		if dev, ok := strings.CutPrefix(strings.TrimSpace(line), "exec tc qdisc del dev "); ok {
			removes = strings.TrimSuffix(dev, " root")
		}
		m := tcCommand.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		delay, err1 := strconv.ParseFloat(m[2], 64)
		rate, err2 := strconv.ParseFloat(m[3], 64)
		if err1 != nil || err2 != nil || n.device != "" || !(rate > 0) {
			return n, syntax("line %d: %q", i+1, line)
		}
		n = netem{device: m[1], delay: delay * 1e-6, rate: rate}
		if m[4] != "" {
			if n.limit, err1 = strconv.Atoi(m[4]); err1 != nil {
				return n, syntax("line %d: limit %s", i+1, m[4])
			}
		}
	}
	if n.device == "" || removes != n.device {
		return n, syntax("want one command that sets netem and one that removes it from the same device")
	}
	return n, nil
}

// at returns the time [s] of a message of x bytes through netem.
func (n netem) at(q wire, x float64) float64 { return n.delay + q.payloadTime(x, n.rate) }

func checkTC(file []byte, p *fit.Params, o Options) error {
	n, err := readTC(file)
	if err != nil {
		return err
	}
	q, _, err := wireOf(p)
	if err != nil {
		return err
	}
	if got := n.at(q, 1); !within(got, q.delay, nanosecond) {
		return mismatch("the way of one byte", got, q.delay, "s")
	}
	// Half a bit/s of rounding in the rate.
	for _, k := range []float64{1, 10, 1000} {
		got := (n.at(q, 2*k*q.packet) - n.at(q, k*q.packet)) / (k * q.packet)
		if !within(got, q.perByte, q.perByte/n.rate+1e-12) {
			return mismatch("the time per byte", got, q.perByte, "s/B")
		}
	}
	if want, err := netemOf(q, o); err != nil || want.limit != n.limit || want.device != n.device {
		return mismatch("the limit on device "+n.device, float64(n.limit), float64(want.limit), "packets")
	}
	return nil
}
