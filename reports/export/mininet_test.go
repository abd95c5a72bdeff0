package export

import (
	"strconv"
	"strings"
)

// mininet is the constants of the script.
type mininet struct {
	hosts     int
	bandwidth float64 // Mbit/s
	delay     float64 // s, of one end of a link
	queue     int     // packets at the switch's end; 0 is netem's own
}

// readMininet reads the constants; what is below them must be the script that calib writes.
func readMininet(file []byte) (mininet, error) {
	var m mininet
	script, err := templates.ReadFile("templates/mininet")
	if err != nil {
		return m, err
	}
	_, body, _ := strings.Cut(string(script), "# packets\n")
	text, ok := strings.CutSuffix(string(file), body)
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
	var errs [4]error
	m.hosts, errs[0] = strconv.Atoi(seen["HOST_COUNT"])
	m.bandwidth, errs[1] = strconv.ParseFloat(seen["BANDWIDTH"], 64)
	m.delay, errs[2] = strconv.ParseFloat(delay, 64)
	if seen["QUEUE"] != "None" {
		m.queue, errs[3] = strconv.Atoi(seen["QUEUE"])
	}
	for _, e := range errs {
		if e != nil || !isMicro || len(seen) != 4 || m.hosts < 2 || !(m.bandwidth > 0) || m.bandwidth > mininetMax ||
			!(m.delay >= 0) || m.queue < 0 {
			return m, syntax("want HOST_COUNT, BANDWIDTH, DELAY and QUEUE, got %v", seen)
		}
	}
	m.delay *= 1e-6
	return m, nil
}

func checkMininet(file []byte, in *input) error {
	m, err := readMininet(file)
	if err != nil {
		return err
	}
	q, hosts := emulatedPathOf(in), in.hostCount()
	if err := in.err; err != nil {
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
	queue := 0
	if q.queue > 0 {
		queue = q.limit(q.delay / 2)
	}
	if m.hosts != hosts || m.queue != queue {
		return mismatch("the queue of "+strconv.Itoa(m.hosts)+" hosts", float64(m.queue), float64(queue), "packets")
	}
	return nil
}
