package dataset

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestKey(t *testing.T) {
	for want, p := range map[string]Point{
		"": nil, "bytes=64": {"bytes": 64}, "bytes=1,pairs=3": {"pairs": 3, "bytes": 1}, "a=-1,b=0": {"b": 0, "a": -1},
	} {
		if got := p.Key(); got != want {
			t.Errorf("%v: key %q, want %q", p, got, want)
		}
	}
	point := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,3}`), rapid.Int64Range(-2, 2), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		a, b := Point(point.Draw(t, "a")), Point(point.Draw(t, "b"))
		if (a.Key() == b.Key()) != cmp.Equal(a, b) {
			t.Fatalf("%v and %v have the keys %q and %q", a, b, a.Key(), b.Key())
		}
	})
}

func TestTCP(t *testing.T) {
	before := TCP{SegsOut: 5, Retrans: 2, Busy: 10, Cwnd: 10, MSS: 536, Congestion: "reno", Involuntary: 2, StealTicks: 1}
	after := TCP{SegsOut: 9, Retrans: 1, Busy: 25, Cwnd: 20, MSS: 1448, Congestion: "cubic", Involuntary: 3, StealTicks: 1}
	delta := after.Sub(before)
	if d := cmp.Diff(TCP{SegsOut: 4, Busy: 15, Cwnd: 20, MSS: 1448, Congestion: "cubic", Involuntary: 1}, delta); d != "" {
		t.Errorf("change (-want +got):\n%s", d)
	}
	sum := delta.Add(TCP{SegsOut: 1, DataSegsIn: 2, Cwnd: 7, Involuntary: 4})
	want := TCP{SegsOut: 5, DataSegsIn: 2, Busy: 15, Cwnd: 7, MSS: 1448, Congestion: "cubic", Involuntary: 4}
	if d := cmp.Diff(want, sum); d != "" {
		t.Errorf("sum of two connections (-want +got):\n%s", d)
	}
	if d := cmp.Diff(delta, delta.Add(TCP{})); d != "" {
		t.Errorf("a connection that counted nothing changes the sum:\n%s", d)
	}
}

func TestSelect(t *testing.T) {
	d := &Dataset{Samples: []Sample{
		{Exp: "a", Phase: "x", Slot: 0}, {Exp: "b", Phase: "x", Slot: 1},
		{Exp: "a", Phase: "y", Slot: 2, Flags: []string{FlagTimeout}},
	}}
	var got []int
	for _, s := range append(d.Select("a", ""), d.Select("a", "y")...) {
		got = append(got, s.Slot)
	}
	if diff := cmp.Diff([]int{0, 2, 2}, got); diff != "" {
		t.Error(diff)
	}
	if d.Select("c", "") != nil || d.Select("b", "y") != nil {
		t.Error("selected what is not there")
	}
	if s := d.Samples[2]; !s.Has(FlagTimeout) || s.Has(FlagRetrans) {
		t.Errorf("flags of %+v", s)
	}
}
