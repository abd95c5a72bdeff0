package export

import (
	"fmt"
	"math"

	"calib/fit"
)

// wire is what an emulated path must add to hosts that have costs of their own: a delay and a time per byte of payload.
type wire struct {
	delay, perByte float64 // s, s/B
	packet         float64 // payload of a packet [B]
	queue          float64 // packets that the port to a receiver holds; 0 where it is not known
	from           []string
}

// Bytes of a TCP packet beside its payload on IPv4: Ethernet, IP and TCP headers, and TCP's time stamps. The length that Linux
// limits the rate by holds them all.
const headerBytes = 14 + 20 + 20 + 12

// wireOf takes the delay from LogGP's L, which holds no work of the hosts, else from α, which does.
func wireOf(p *fit.Params) (wire, []string, error) {
	q := wire{}
	warnings := append(uniform(p), "the hosts' own costs come on top, and segmentation offload (TSO, GSO) must be off, or the queue counts bundles of packets as one")
	v, err := needs(p, "L", "G")
	if err == nil {
		q.delay, q.perByte, q.from = v[0], v[1], []string{"L", "G"}
	} else {
		a, other := affineOf(p)
		if other != nil {
			return q, nil, fmt.Errorf("%w; or else %w", err, other)
		}
		q.delay, q.perByte, q.from = a.alpha, a.beta, a.from
		warnings = append(warnings, "the delay is a whole message's, with the overheads of both hosts in it: experiment prtt tells L apart")
	}
	if q.packet, err = need(p, "packet"); err != nil {
		return q, nil, err
	}
	q.from = append(q.from, "packet")
	if !(q.delay > 0) || !(q.perByte > 0) || !(q.packet >= 1) {
		return q, nil, fmt.Errorf("delay %g s, %g s/B, packets of %g B: %w: they must be positive", q.delay, q.perByte, q.packet, ErrLimit)
	}
	if b, ok := found(p, "B_L"); ok && b > 0 {
		q.queue, q.from = b, append(q.from, "B_L")
	}
	return q, warnings, nil
}

// rate is the rate [bit/s] of packets with their headers at which full ones take perByte for a byte of payload.
func (q wire) rate() float64 { return 8 * (q.packet + headerBytes) / (q.packet * q.perByte) }

// limit is how many packets a queue must hold in which they are also delayed by the given time: B_L, and those on their way.
func (q wire) limit(delay float64) int {
	return int(math.Min(math.Round(q.queue)+math.Ceil(delay/(q.packet*q.perByte)), math.MaxInt32))
}

// micro writes a time in µs with whole ns, as tc reads it.
func micro(s float64) string { return decimal(s*1e6, 3) + "us" }

// payloadTime is the time [s] that packets of x bytes of payload take at a rate [bit/s].
func (q wire) payloadTime(x, rate float64) float64 {
	return 8 * (x + headerBytes*math.Ceil(x/q.packet)) / rate
}
