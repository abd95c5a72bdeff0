package measuring

import (
	"testing"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/units"
)

// Tickets have room for streams on fast paths, as far as every agent allows it, and for the plan's bytes in any case.
func TestTicketBytes(t *testing.T) {
	limit := func(sizes ...units.Bytes) (hosts []dataset.Host) {
		for _, n := range sizes {
			hosts = append(hosts, dataset.Host{MostBytes: int64(n)})
		}
		return hosts
	}
	for name, c := range map[string]struct {
		link  units.Bytes
		hosts []dataset.Host
		want  units.Bytes
	}{
		"nothing to send":      {0, limit(1024*units.GiB, 1024*units.GiB), 64 * units.GiB},
		"fast":                 {100 * units.MiB, limit(1024*units.GiB, 2048*units.GiB), 1600 * 500 * units.MiB},
		"agents' limits":       {units.GiB, limit(2048*units.GiB, 100*units.GiB), 100 * units.GiB},
		"limit below the plan": {units.GiB, limit(units.GiB, 1024*units.GiB), 5 * units.GiB},
		"limit near the plan":  {120 * units.GiB, limit(1024 * units.GiB), 1024 * units.GiB},
		"many hosts":           {2000 * units.GiB, limit(1024 * units.GiB), 1024 * units.GiB},
		"limits not known":     {units.GiB, limit(0, 0), 8000 * units.GiB},
	} {
		if got := ticketBytes(bench.Forecast{LinkBytes: c.link, MaxRounds: 5}, c.hosts); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
