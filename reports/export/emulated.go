package export

import (
	"fmt"
	"math"

	"calib/reports/export/input"
)

// emulatedPath is what an emulator must add to hosts that have costs of their own: a delay and a time per byte of
// payload.
type emulatedPath struct {
	delay, perByte float64 // s, s/B
	packet         float64 // payload of a packet [B]
	queue          float64 // packets that the port to a receiver holds; 0 where it is not known
	from           []string
}

const (
	// headerBytes of a TCP packet beside its payload on IPv4: Ethernet, IP and TCP headers, and TCP's time stamps. They
	// are part of the length that Linux limits the rate by.
	headerBytes = 14 + 20 + 20 + 12
	// longestDelay [s] is what tc and netem hold, ns in 63 bits.
	longestDelay = math.MaxInt64 * nanosecond
)

// emulatedPathOf takes the delay from LogGP's L, without the overheads of the hosts, else from α, with them.
func emulatedPathOf(in *input.Input) (emulatedPath, []string, error) {
	q := emulatedPath{}
	warnings := append(in.SlowPairs(), "the hosts' own costs come on top, and segmentation offload (TSO, GSO) must be off, or the queue counts bundles of packets as one")
	v, err := in.NeedAll("L", "G")
	if err == nil && v[0] > 0 {
		q.delay, q.perByte, q.from = v[0], v[1], []string{"L", "G"}
	} else {
		a, other := affineOf(in)
		switch {
		case other != nil && err != nil:
			return q, nil, fmt.Errorf("%w; or else %w", err, other)
		case other != nil:
			return q, nil, other
		}
		q.delay, q.perByte, q.from = a.alpha, a.beta, a.from
		warnings = append(warnings, "the delay is a whole message's, with the overheads of both hosts in it: L is not known, or zero")
	}
	if q.packet, err = in.Need("packet"); err != nil {
		return q, nil, err
	}
	q.from = append(q.from, "packet")
	switch {
	case !(q.delay > 0) || !(q.perByte > 0) || !(q.packet >= 1):
		return q, nil, fmt.Errorf("delay %g s, %g s/B, packets of %g B: %w: they must be positive", q.delay, q.perByte, q.packet, ErrLimit)
	case q.delay > longestDelay:
		return q, nil, fmt.Errorf("delay %g s: %w: netem takes up to %.2g s", q.delay, ErrLimit, longestDelay)
	}
	if b, ok := in.Found("B_L"); ok && b > 0 {
		q.queue, q.from = b, append(q.from, "B_L")
	}
	return q, warnings, nil
}

// rate is the rate [bit/s] of packets with their headers at which full ones take perByte for a byte of payload.
func (q emulatedPath) rate() float64 { return 8 * (q.packet + headerBytes) / (q.packet * q.perByte) }

// limit is how many packets a queue must hold in which they are also delayed by the given time: B_L, and those on their
// way.
func (q emulatedPath) limit(delay float64) int {
	return int(math.Min(math.Round(q.queue)+math.Ceil(delay/(q.packet*q.perByte)), math.MaxInt32))
}

// payloadTime is the time [s] that packets of x bytes of payload take at a rate [bit/s].
func (q emulatedPath) payloadTime(x, rate float64) float64 {
	return 8 * (x + headerBytes*math.Ceil(x/q.packet)) / rate
}

// micro writes a time [s] in µs with whole ns, as tc reads it.
func micro(s float64) string { return input.Decimal(s*1e6, 3) + "us" }
