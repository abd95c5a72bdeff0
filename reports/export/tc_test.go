package export

import (
	"cmp"
	"math"
	"regexp"
	"strconv"
	"strings"

	"calib/params"
)

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

type netem struct {
	device string
	delay  float64 // s
	rate   float64 // bit/s
	limit  int     // packets; 0 is netem's own
}

// payloadTime is the time [s] that packets of x bytes of payload take at a rate [bit/s].
func (q emulatedPath) payloadTime(x, rate float64) float64 {
	return 8 * (x + params.SegmentHeaders*math.Ceil(x/q.packet)) / rate
}

// at returns the time [s] of a message of x bytes through netem.
func (n netem) at(q emulatedPath, x float64) float64 { return n.delay + q.payloadTime(x, n.rate) }

func checkTC(file []byte, in *input) error {
	n, err := readTC(file)
	if err != nil {
		return err
	}
	q := emulatedPathOf(in)
	if err := in.err; err != nil {
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
	limit := 0
	if rate := math.Round(q.rate()); q.queue > 0 {
		limit = q.limit(q.delay - q.payloadTime(1, rate))
	}
	if limit != n.limit || cmp.Or(in.Device, tcDevice) != n.device {
		return mismatch("the limit on device "+n.device, float64(n.limit), float64(limit), "packets")
	}
	return nil
}
