package transport

import "calib/internal/units"

// DatagramRate bounds the rate of datagrams [B/s] where Mesh.Limit does not: 10 Gbit/s, which is more than one thread
// sends on hosts of today. A flood of them has no congestion control that would give way to others.
const DatagramRate = 1250 * 1000 * 1000

// pacer spaces datagrams so that the rate never exceeds a limit, whatever their size. Of unused time at most slack is
// saved up.
type pacer struct {
	rate  units.Bytes // [B/s]; 0 is no limit
	slack units.Nanos
	next  units.Nanos
}

// newPacer keeps the rate that was asked for to the letter. The one that holds otherwise is kept over a millisecond, so
// that no datagram waits for the nanoseconds of the one before.
func newPacer(rate units.Bytes) pacer {
	if rate <= 0 {
		return pacer{rate: DatagramRate, slack: units.Millisecond}
	}
	return pacer{rate: rate}
}

// at returns when n bytes that are ready now may be sent, and counts them.
func (p *pacer) at(now units.Nanos, n int) units.Nanos {
	if p.rate <= 0 {
		return now
	}
	at := max(now-p.slack, p.next)
	p.next = at + units.Nanos(int64(n)*int64(units.Second)/int64(p.rate))
	return at
}
