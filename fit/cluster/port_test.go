package cluster

import (
	"maps"
	"math"
	"testing"

	"calib/params"
)

// A port that counts bytes holds fewer full packets than B_L says of smaller ones; one whose B_L is withheld makes a
// gather by windows an error.
func TestPortOfGather(t *testing.T) {
	line := func(c0 float64) params.Function {
		return params.Function{Form: params.Line, Status: params.StatusOK, Coeff: map[string]float64{"c0": c0, "c1": 0}}
	}
	p := &params.Params{Parameters: map[string]params.Parameter{}, Functions: map[string]params.Function{
		"O_s": line(1e-6), "U_r": line(1e-6), "O_r": line(1e-6), "g_s": line(1e-5), "g_r": line(1e-5),
		"L_cluster": {Form: params.Bilinear, Status: params.StatusOK,
			Coeff: map[string]float64{"l0": 1e-5, "l1": 0, "tau": 0}}}}
	set := func(name string, v *float64) { p.Parameters[name] = params.Parameter{Value: v} }
	packets, bytes, mtu := 384.0, 400e3, 1448.0
	set("packet", &mtu)
	set("B_L", &packets)
	set("B_L_bytes", &bytes)
	c, err := Of(p)
	want := bytes / (mtu + params.SegmentHeaders)
	if err != nil || math.Abs(c.BL-want) > 1e-9 || c.GatherUpper(mtu, 100) != 3 {
		t.Errorf("the port holds %g packets, want %g; G_au %g, want 3 (%v)", c.BL, want, c.GatherUpper(mtu, 100), err)
	}
	if room := bytes / (100 + params.SegmentHeaders); c.Room(100) != room || c.GatherUpper(100, 1) != math.Floor(1+room) {
		t.Errorf("%g packets of 100 B, G_au %g, want room for %g", c.Room(100), c.GatherUpper(100, 1), room)
	}
	p.Parameters["B_L"] = params.Parameter{Status: params.StatusBound, Bound: &params.Bound{3505, math.Inf(1)}}
	set("B_L_bytes", nil)
	if c, err = Of(p); err != nil || c.BL != 3505 || !c.BLLeast {
		t.Errorf("B_L, of which there is a lower bound: %+v, %v", c, err)
	}
	p.Parameters["B_L"] = params.Parameter{Status: params.StatusUnidentifiable, Bound: &params.Bound{0, math.Inf(1)}}
	none := *p
	none.Parameters = maps.Clone(p.Parameters)
	delete(none.Parameters, "B_L")
	like, _ := Of(&none)
	if c, err = Of(p); err != nil || c.BL != like.BL || c.BLLeast {
		t.Errorf("B_L, of which nothing is known: %+v, %v; want %g", c, err, like.BL)
	}
	set("B_L", nil)
	set("B_L_bytes", nil)
	if c, err = Of(p); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.GatherWindow(7, 1e5); err == nil {
		t.Error("a window of a port whose B_L is withheld")
	}
}
