package loggp

import (
	"math"
	"testing"
)

// hosts are machines that take 400 µs for a message, whose way is 1 ms, with a medium that takes each message for some
// time.
func hosts(medium float64) Machine {
	k := Machine{OneWay: func(m float64) float64 { return 1e-3 + 4e-7*(m-1) },
		Gap: func(m float64) float64 { return 4e-4 + 4e-7*(m-1) }, Busy: 1e-5}
	if medium > 0 {
		k.Network, k.Service = Medium{}, func(float64) float64 { return medium }
	}
	return k
}

// Every solution is that of its equation, at the contention that it says.
func TestCostSolves(t *testing.T) {
	for _, medium := range []float64{0, 1e-5, 1e-4, 1e-3, 1e-2} {
		for _, r := range []Remap{
			{Hosts: 8, Bytes: 1, Sync: true}, {Hosts: 2, Bytes: 1, Sync: true}, {Hosts: 16, Bytes: 1e4, Sync: true, Among: 2},
			{Hosts: 8, Bytes: 1, Among: 1, Sync: true}, {Hosts: 8, Bytes: 1, UnderWay: 1}, {Hosts: 8, Bytes: 1, UnderWay: 16},
			{Hosts: 16, Bytes: 1e5, UnderWay: 4, Among: 1}, {Hosts: 64, Bytes: 1, UnderWay: Unlimited},
		} {
			k := hosts(medium)
			c := k.Cost(r)
			way, messages, under := k.OneWay(r.Bytes), 1., math.Max(1, float64(r.UnderWay))
			least := math.Max(k.Gap(r.Bytes), k.Busy)
			if r.Sync {
				way, messages, least = 2*way, 2, 0
			}
			want := math.Max(least, (way+messages*c.Network+c.Resource)/under)
			if !(math.Abs(c.Interval/want-1) < 1e-6) && r.UnderWay < Unlimited || c.Interval < c.Alone || c.Network < 0 ||
				c.Resource < 0 {
				t.Errorf("medium %g, %+v: %+v, want %g", medium, r, c, want)
			}
			if full := messages * float64(r.Hosts) * medium; c.Interval < full*(1-1e-9) {
				t.Errorf("medium %g, %+v: %g s, in which the medium cannot serve %g", medium, r, c.Interval, full)
			}
			if r.Among == 1 && c.Resource != 0 || medium == 0 && c.Network != 0 {
				t.Errorf("medium %g, %+v: contention %+v of messages that do not meet", medium, r, c)
			}
		}
	}
}

// Contention grows with the hosts of a medium, and with how many send to the same one.
func TestCostGrows(t *testing.T) {
	before := Cost{}
	for n := 2; n <= 64; n *= 2 {
		c := hosts(1e-4).Cost(Remap{Hosts: n, Bytes: 1, Sync: true, Among: 1})
		if c.Interval < c.Alone || c.Network < before.Network {
			t.Errorf("%d hosts: %+v", n, c)
		}
		before = c
	}
	before = Cost{}
	for among := 1; among <= 8; among++ {
		c := hosts(0).Cost(Remap{Hosts: 16, Bytes: 1, Sync: true, Among: among})
		if c.Resource < before.Resource || among > 1 && c.Resource == 0 {
			t.Errorf("among %d: %+v", among, c)
		}
		before = c
	}
}

// Messages without limit wait for no reply. C_n is that of one every T_c, as in table 4, and a queue grows where a
// server gets as much as it can take.
func TestCostUnlimited(t *testing.T) {
	k := Machine{OneWay: func(float64) float64 { return 158 }, Gap: func(float64) float64 { return 45.3 }, Busy: 137,
		Network: Cube{2, 3.875 / 2}}
	k.Service = k.Gap
	c := k.Cost(Remap{Hosts: 32, Bytes: 1, UnderWay: Unlimited})
	near(t, "T_c", c.Interval, 137, 0)
	near(t, "C_n", c.Network, 31, 0.5)
	near(t, "C_r", c.Resource, 2*45.3/2*45.3/(137-45.3), 1e-9)
	k.Busy = 0
	c = k.Cost(Remap{Hosts: 32, Bytes: 1, UnderWay: Unlimited})
	if near(t, "T_c", c.Interval, 45.3, 0); math.IsInf(c.Network, 1) || !math.IsInf(c.Resource, 1) {
		t.Errorf("interfaces that are never free: %+v", c)
	}
	k.Network = Cube{2, 3}
	c = k.Cost(Remap{Hosts: 32, Bytes: 1, UnderWay: Unlimited})
	near(t, "C_r of interfaces that are free for a third", c.Resource, 2*45.3, 1e-9)
	if near(t, "T_c", c.Interval, 1.5*45.3, 1e-9); !math.IsInf(c.Network, 1) {
		t.Errorf("a network that is full: %+v", c)
	}
}

// With one message under way the loop of a cube is eq. 13.
func TestCostOfCube(t *testing.T) {
	cube := Cube{2, 3.875 / 2}
	k := hosts(0)
	k.Network, k.Service = cube, k.Gap
	c := k.Cost(Remap{Hosts: 32, Bytes: 1000, UnderWay: 1, Among: 1})
	near(t, "T_c", c.Interval, cube.Interval(k.OneWay(1000), k.Gap(1000)), 1e-9)
}

// The Alewife's processors by the queues of the model: 2(o_s + L + C_n + o_r) + C_r, 486 cycles as measured, within the
// paper's 12%, also with the model's own C_r instead of LoPC's rule.
func TestAlewifeByQueues(t *testing.T) {
	k := Machine{OneWay: func(float64) float64 { return 15 + 21 + 23 + 122 }, Gap: func(float64) float64 { return 137 },
		Busy: 137}
	near(t, "T_c", k.Cost(Remap{Hosts: 32, Bytes: 1, Sync: true}).Interval, 486, 0.12*486)
}
