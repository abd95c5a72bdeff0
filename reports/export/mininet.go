package export

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"calib/reports/export/input"
)

// mininetBody is the script below its constants.
//
//go:embed mininet.py.txt
var mininetBody string

// mininetMax is the largest bw [Mbit/s] of TCIntf, bwParamMax.
const mininetMax = 1000

// writeMininet writes a Python script with a topology for Mininet: hosts at one switch over TCLink, whose two ends are
// each an htb of bw Mbit/s with a burst of 15 kB and below it a netem of delay and max_queue_size packets
// (mininet/link.py, class TCIntf). A message passes two of them, that of its host and that of the switch towards the
// receiver: each has half of L, and the rate, which the second does not add to. mn --custom makes the globals of the
// script its own, so none may have the name of one of its own (bin/mn: HOSTS, SWITCHES, LINKS, …).
//
// Mininet ignores a bw above 1000; that is an error here.
func writeMininet(b *bytes.Buffer, in *input.Input) ([]string, error) {
	q, warnings, err := emulatedPathOf(in)
	if err != nil {
		return nil, err
	}
	hosts, err := in.HostCount()
	if err != nil {
		return nil, err
	}
	bandwidth := q.rate() / 1e6 // Mbit/s
	if bandwidth > mininetMax || bandwidth < 1e-3 {
		return nil, fmt.Errorf("bw %g Mbit/s: %w: Mininet takes 0.001 to %d and ignores others; target tc has no such limit", bandwidth, ErrLimit, mininetMax)
	}
	delay, queue := q.delay/2, "None" // of one end of a link [s]; packets at the switch's end
	if q.queue > 0 {
		queue = strconv.Itoa(q.limit(delay))
	}
	warnings = append(warnings, "Mininet lets the first 15 kB after a pause pass without the limit of the rate")
	notes := []string{
		"Run it as root: python3 topology.py; or mn --custom topology.py --topo calib --switch ovsbr --controller none",
		"Hosts of the run: " + strings.Join(in.Params.Run.Hosts, ", "),
		"DELAY is half of the one-way L: a message passes two links.",
		fmt.Sprintf("BANDWIDTH is 1/G in Mbit/s, with %d B of headers (IPv4, TCP with time stamps) on %g B of payload.", headerBytes, q.packet),
		"QUEUE is B_L and the packets on their way in that link; None, 1000 packets, where B_L is not known.",
	}
	fmt.Fprintln(b, "#!/usr/bin/env python3")
	in.WriteHeader(b, "# ", q.from, notes, warnings)
	fmt.Fprintf(b, "\nHOST_COUNT = %d\nBANDWIDTH = %s  # Mbit/s\nDELAY = \"%s\"\nQUEUE = %s  # packets\n%s",
		hosts, input.Decimal(bandwidth, 6), micro(delay), queue, mininetBody)
	return warnings, nil
}
