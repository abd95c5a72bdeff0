package sim

import "calib/internal/units"

// instant is virtual time in picoseconds since the network began.
type instant int64

const (
	perNano   = 1_000
	perSecond = 1e12
)

func fromNanos(n units.Nanos) instant { return instant(n) * perNano }

type clock struct {
	offset units.Nanos
	ppm    float64
	step   units.Nanos
}

// local returns the picoseconds the host counts by t, without its offset.
func (c *clock) local(t instant) instant { return t + instant(float64(t)*c.ppm*1e-6) }

func (c *clock) read(t instant) units.Nanos {
	n := units.Nanos(c.local(t)/perNano) + c.offset
	return n - mod(n, c.step)
}

// when returns the first instant, to within a picosecond, at which the clock reads at least n.
func (c *clock) when(n units.Nanos) instant {
	if m := mod(n, c.step); m != 0 {
		n += c.step - m
	}
	want := fromNanos(n - c.offset)
	t := instant(float64(want) / (1 + c.ppm*1e-6))
	for c.local(t) < want {
		t += want - c.local(t)
	}
	return t
}

// mod is n modulo step, never negative: offsets may be.
func mod(n, step units.Nanos) units.Nanos {
	m := n % step
	if m < 0 {
		m += step
	}
	return m
}
