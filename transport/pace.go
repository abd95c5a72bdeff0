package transport

import "calib/internal/units"

// pacer spaces what is sent so that no rate above a limit leaves, whatever the size. Time not used is not saved up.
type pacer struct {
	rate units.Bytes // [B/s]; 0 is no limit
	next units.Nanos
}

// at returns when n bytes may go that are ready now, and counts them.
func (p *pacer) at(now units.Nanos, n int) units.Nanos {
	if p.rate <= 0 {
		return now
	}
	at := max(now, p.next)
	p.next = at + units.Nanos(int64(n)*int64(units.Second)/int64(p.rate))
	return at
}
