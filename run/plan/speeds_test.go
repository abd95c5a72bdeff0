package plan_test

import (
	"calib/bench"
	"calib/internal/units"
)

// speed is a path with a name.
type speed struct {
	Name string
	bench.Path
}

// speeds are those of usual networks, the slowest first.
var speeds = []speed{
	{"256 kbit/s, 100 ms", bench.Slow},
	{"10 Mbit/s shared", bench.Path{Latency: units.Millisecond, PerByte: 830, Slot: 60 * units.Millisecond}},
	{"100 Mbit/s", bench.Path{Latency: 100 * units.Microsecond, PerByte: 85, Together: true,
		Slot: 50 * units.Millisecond}},
	{"1 Gbit/s", bench.Gigabit},
	{"10 Gbit/s", bench.Path{Latency: 20 * units.Microsecond, PerByte: 0.85, Together: true,
		Slot: 40 * units.Millisecond}},
	{"100 Gbit/s", bench.Path{Latency: 10 * units.Microsecond, PerByte: 0.2, Together: true,
		Slot: 40 * units.Millisecond}},
}
