package run

import (
	"strings"
	"testing"

	"calib/internal/dataset"
	"calib/internal/units"
)

// A plan that sends more than an agent allows is refused before it is measured, unless the limit is one that no pair
// reaches.
func TestEnoughBytes(t *testing.T) {
	for _, c := range []struct {
		limits []units.Bytes
		link   units.Bytes
		fault  bool
	}{{[]units.Bytes{0, 0}, 1000 * units.GiB, false}, {[]units.Bytes{0, units.GiB}, units.GiB, true},
		{[]units.Bytes{10 * units.GiB}, units.GiB, false},
		{[]units.Bytes{100 * units.GiB}, 1000 * units.GiB, false}} {
		var hosts []dataset.Host
		for _, n := range c.limits {
			hosts = append(hosts, dataset.Host{Name: "h", MostBytes: int64(n)})
		}
		err := enoughBytes(6*c.link, hosts)
		if (err != nil) != c.fault || err != nil && !strings.Contains(err.Error(), "host h: its agent allows 1GiB") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
