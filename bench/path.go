package bench

import "calib/internal/units"

// Path is what a plan takes the way between two hosts to be: what a probe has found (package coord), or a named speed.
// The zero Path is not known; forecasts then take it for a gigabit network of ordinary hosts.
type Path struct {
	Latency units.Nanos `yaml:"latency" json:"latency_ns"`   // of a message of one byte, one way, with the software at both ends
	PerByte float64     `yaml:"per_byte" json:"ns_per_byte"` // of a stream of one pair [ns/B]
	// Together says that pairs of hosts do not disturb each other: each has all of the rate while others communicate.
	Together bool `yaml:"together" json:"together"`
	// AtOnce pairs that communicate at once take Slower times as long; 0 where that is not known, and they share one
	// rate.
	AtOnce int     `yaml:"at_once" json:"at_once"`
	Slower float64 `yaml:"slower" json:"slower"`
	// Slot is what a slot costs beside its messages: control, connections.
	Slot units.Nanos `yaml:"slot" json:"slot_ns"`
}

// Speed is a path with a name, for forecasts without a network.
type Speed struct {
	Name string
	Path
}

// Gigabit is that of forecasts that know no better.
var Gigabit = Speed{"1 Gbit/s", Path{Latency: 50 * units.Microsecond, PerByte: 8.5, Together: true, Slot: 50 * units.Millisecond}}

// Speeds are those that a plan is shown for where no network was probed, the slowest first.
func Speeds() []Speed {
	return []Speed{
		{"256 kbit/s, 100 ms", Path{Latency: 100 * units.Millisecond, PerByte: 31_250, Slot: 300 * units.Millisecond}},
		{"10 Mbit/s shared", Path{Latency: units.Millisecond, PerByte: 830, Slot: 60 * units.Millisecond}},
		{"100 Mbit/s", Path{Latency: 100 * units.Microsecond, PerByte: 85, Together: true, Slot: 50 * units.Millisecond}},
		Gigabit,
		{"10 Gbit/s", Path{Latency: 20 * units.Microsecond, PerByte: 0.85, Together: true, Slot: 40 * units.Millisecond}},
		{"100 Gbit/s", Path{Latency: 10 * units.Microsecond, PerByte: 0.2, Together: true, Slot: 40 * units.Millisecond}},
	}
}

// Known reports whether p is of a probe or a name.
func (p Path) Known() bool { return p != Path{} }

// Sharing is how many times as long bytes take while n pairs communicate as while one does.
func (p Path) Sharing(n int) float64 {
	switch {
	case p.Together:
		return 1
	case p.AtOnce > 0:
		return max(1, float64(n)*p.Slower/float64(p.AtOnce))
	}
	return max(1, float64(n))
}

// Message is how long a message takes, one way, while n pairs send.
func (p Path) Message(bytes int64, n int) units.Nanos {
	return p.Latency + units.Nanos(float64(bytes)*p.PerByte*p.Sharing(n))
}

// Trip is a message there, and one as long back.
func (p Path) Trip(bytes int64) units.Nanos { return 2 * p.Message(bytes, 1) }

// Start is how long a team of so many ranks needs to begin together (Team.Announce), and to say that it has ended.
func (p Path) Start(ranks int) units.Nanos {
	return 2*units.Millisecond + units.Nanos(2*ranks)*p.Latency
}

// Synchronising is how long the clocks of a team of so many ranks take to be compared, before a slot's points and
// after.
func (p Path) Synchronising(ranks int) units.Nanos {
	return 2 * units.Nanos(max(0, ranks-1)) * units.Nanos(2*p.exchanges()+2) * p.Latency
}

// Repeated is how long the repetitions of something take of which at least least and at most most are made, and no more
// than fit into a time.
func Repeated(one, within units.Nanos, least, most int) units.Nanos {
	n := int(within / max(1, one))
	return units.Nanos(max(least, min(n, most))) * one
}
