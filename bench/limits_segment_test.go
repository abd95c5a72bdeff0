package bench

import (
	"slices"
	"testing"

	"calib/internal/units"
)

// Packet sizes end with the segment of the connections, whatever it is; without one, with that of Ethernet.
func TestPacketSizesOfASegment(t *testing.T) {
	for _, c := range []struct {
		l    Limits
		want []units.Bytes
	}{
		{Limits{}, []units.Bytes{1, 20, 40, 100, 250, 500, 1000, 1448}},
		{Limits{Segment: 1428}, []units.Bytes{1, 20, 40, 100, 250, 500, 1000, 1428}},
		{Limits{Segment: 536}, []units.Bytes{1, 20, 40, 100, 250, 500, 536}},
		{Limits{Segment: 8948}, []units.Bytes{1, 20, 40, 100, 250, 500, 1000, 2000, 4000, 8948}},
		{Limits{Segment: 65483, Effort: 0.25}, []units.Bytes{1, 20, 100, 500, 1000, 4000, 16000, 65483}},
		{Limits{Segment: 8948, MaxBytes: 2000}, []units.Bytes{1, 20, 40, 100, 250, 500, 1000, 2000}},
		{Limits{Segment: 1398, Sizes: []units.Bytes{64, 1398, 1448}}, []units.Bytes{64, 1398}},
	} {
		if got := c.l.PacketSizes(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.l, got, c.want)
		}
	}
}
