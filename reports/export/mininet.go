package export

import (
	_ "embed"
	"fmt"
	"io"
	"strconv"
	"strings"

	"calib/fit"
)

// mininetTarget is a Python script with a topology for Mininet: hosts at one switch over TCLink, whose two ends are each an
// htb of bw Mbit/s with a burst of 15 kB and below it a netem of delay and max_queue_size packets (mininet/link.py, class TCIntf). A
// message passes two of them, that of its host and that of the switch towards the receiver: each has half of L, and the
// rate, which the second does not add to.
//
// Mininet ignores a bw above 1000; that is an error here.
func mininetTarget() Target {
	return Target{
		Name: "mininet", File: "topology.py",
		About: "Mininet: Python script of hosts at a switch over TCLink, with bw, delay and queue",
		Write: writeMininet, Check: checkMininet,
	}
}

// mininetBody is the script below its constants.
//
//go:embed mininet.py.txt
var mininetBody string

// mininetMax is the largest bw [Mbit/s] of TCIntf, bwParamMax.
const mininetMax = 1000

// mininet is the constants of the script.
type mininet struct {
	hosts     int
	bandwidth float64 // Mbit/s
	delay     float64 // s, of one end of a link
	queue     int     // packets at the switch's end; 0 is netem's own
}

func mininetOf(q wire, p *fit.Params, o Options) (mininet, error) {
	n, err := o.hosts(p)
	if err != nil {
		return mininet{}, err
	}
	m := mininet{hosts: n, bandwidth: q.rate() / 1e6, delay: q.delay / 2}
	if m.bandwidth > mininetMax || m.bandwidth < 1e-3 {
		return m, fmt.Errorf("bw %g Mbit/s: %w: Mininet takes 0.001 to %d and ignores others; target tc has no such limit", m.bandwidth, ErrLimit, mininetMax)
	}
	if q.queue > 0 {
		m.queue = q.limit(m.delay)
	}
	return m, nil
}

func writeMininet(w io.Writer, p *fit.Params, o Options) ([]string, error) {
	q, warnings, err := wireOf(p)
	if err != nil {
		return nil, err
	}
	m, err := mininetOf(q, p, o)
	if err != nil {
		return nil, err
	}
	warnings = append(warnings, "Mininet lets the first 15 kB after a pause pass without the limit of the rate")
	queue := "None"
	if m.queue > 0 {
		queue = strconv.Itoa(m.queue)
	}
	notes := []string{
		"Run it as root: python3 topology.py; or mn --custom topology.py --topo calib --switch ovsbr --controller none",
		"Hosts of the run: " + strings.Join(p.Run.Hosts, ", "),
		"DELAY is half of the one-way L: a message passes two links.",
		fmt.Sprintf("BANDWIDTH is 1/G in Mbit/s, with %d B of headers (IPv4, TCP with time stamps) on %g B of payload.", headerBytes, q.packet),
		"QUEUE is B_L and the packets on their way in that link; None, 1000 packets, where B_L is not known.",
	}
	if _, err := fmt.Fprintln(w, "#!/usr/bin/env python3"); err != nil {
		return nil, err
	}
	if err := comment(w, "# ", header(p, o, q.from, notes, warnings)); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(w, "\nHOSTS = %d\nBANDWIDTH = %s  # Mbit/s\nDELAY = \"%s\"\nQUEUE = %s  # packets\n%s",
		m.hosts, decimal(m.bandwidth, 6), micro(m.delay), queue, mininetBody)
	return warnings, err
}

// readMininet reads the constants; what is below them must be the script that calib writes.
func readMininet(file []byte) (mininet, error) {
	var m mininet
	text, ok := strings.CutSuffix(string(file), mininetBody)
	if !ok {
		return m, syntax("not the script that calib writes below its constants")
	}
	seen := map[string]string{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, " = ")
		if _, twice := seen[name]; !ok || twice {
			return m, syntax("line %d: %q", i+1, line)
		}
		seen[name] = value
	}
	delay, isMicro := strings.CutSuffix(strings.Trim(seen["DELAY"], `"`), "us")
	var err [4]error
	m.hosts, err[0] = strconv.Atoi(seen["HOSTS"])
	m.bandwidth, err[1] = strconv.ParseFloat(seen["BANDWIDTH"], 64)
	m.delay, err[2] = strconv.ParseFloat(delay, 64)
	if seen["QUEUE"] != "None" {
		m.queue, err[3] = strconv.Atoi(seen["QUEUE"])
	}
	for _, e := range err {
		if e != nil || !isMicro || len(seen) != 4 || m.hosts < 2 || !(m.bandwidth > 0) || m.bandwidth > mininetMax || !(m.delay >= 0) || m.queue < 0 {
			return m, syntax("want HOSTS, BANDWIDTH, DELAY and QUEUE, got %v", seen)
		}
	}
	m.delay *= 1e-6
	return m, nil
}

func checkMininet(file []byte, p *fit.Params, o Options) error {
	m, err := readMininet(file)
	if err != nil {
		return err
	}
	q, _, err := wireOf(p)
	if err != nil {
		return err
	}
	want, err := mininetOf(q, p, o)
	if err != nil {
		return err
	}
	if got := 2 * m.delay; !within(got, q.delay, nanosecond) { // half a ns of rounding, twice
		return mismatch("the way of one byte", got, q.delay, "s")
	}
	// Mininet writes six digits after the point.
	perByte := q.payloadTime(q.packet, m.bandwidth*1e6) / q.packet
	if !within(perByte, q.perByte, q.perByte*1e-6/m.bandwidth) {
		return mismatch("the time per byte", perByte, q.perByte, "s/B")
	}
	if m.hosts != want.hosts || m.queue != want.queue {
		return mismatch("the queue of "+strconv.Itoa(m.hosts)+" hosts", float64(m.queue), float64(want.queue), "packets")
	}
	return nil
}
