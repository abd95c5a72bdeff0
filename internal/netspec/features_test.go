package netspec

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestServiceLeast(t *testing.T) {
	s := Spec{MSS: 1448}
	b := Block{A: 100e-6, B: 1e-6, Min: 500e-6}
	for payload, want := range map[int]float64{0: 500e-6, 1: 500e-6, 429: 500e-6, 1448: 1448e-6} {
		if got := s.Service(b, payload); math.Abs(got-want) > 1e-12 {
			t.Errorf("%d B take %.9g s, want %.9g", payload, got, want)
		}
	}
}

func TestReceiveBlock(t *testing.T) {
	s := Spec{Host: Block{A: 1}, Overrides: map[int]Block{2: {A: 5}}}
	if s.ReceiveBlock(1) != s.Host || s.ReceiveBlock(2).A != 5 {
		t.Errorf("without a block of its own: %+v %+v", s.ReceiveBlock(1), s.ReceiveBlock(2))
	}
	s.Receive = &Block{A: 2}
	if s.ReceiveBlock(1).A != 2 || s.ReceiveBlock(2).A != 5 {
		t.Errorf("%+v %+v", s.ReceiveBlock(1), s.ReceiveBlock(2))
	}
}

func TestFabricDelay(t *testing.T) {
	f := Fabric{PerHost: 1e-6, Tau: 1e-8, Rate: 10e6}
	const gs = 1e-3 // a packet of 1,000 B is then 1 MB/s a host, of which the limit bears ten
	for _, c := range []struct {
		m, p int
		gs   float64
		want float64
	}{
		{1000, 1, gs, 1e-6},
		{1000, 10, gs, 10e-6},
		{1000, 20, gs, 20e-6 + 1000*1e-8}, // twice the limit: tau·m once more
		{0, 20, gs, 20e-6},
		{1000, 20, 0, 20e-6}, // a host without a block has no rate
	} {
		if got := f.Delay(c.m, c.p, c.gs); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%d B, %d hosts: %.9g s, want %.9g", c.m, c.p, got, c.want)
		}
	}
	if got := (&Fabric{PerHost: 1e-6, Tau: 1}).Delay(1000, 20, gs); math.Abs(got-20e-6) > 1e-15 {
		t.Errorf("without a limit: %.9g s", got)
	}
	if f.Active() != activeWindow || (&Fabric{Window: 3}).Active() != 3 {
		t.Error("window")
	}
}

// Delay grows with the packet and with the hosts that are active, and is never below PerHost for each.
func TestFabricDelayGrows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := Fabric{
			PerHost: rapid.Float64Range(0, 1e-4).Draw(t, "per host"), Tau: rapid.Float64Range(0, 1e-6).Draw(t, "tau"),
			Rate: rapid.Float64Range(0, 1e9).Draw(t, "rate"),
		}
		m, p := rapid.IntRange(0, 9000).Draw(t, "m"), rapid.IntRange(1, 64).Draw(t, "p")
		gs := rapid.Float64Range(0, 1e-2).Draw(t, "gs")
		d := f.Delay(m, p, gs)
		if d < f.PerHost*float64(p) || f.Delay(m, p+1, gs) < d || f.Delay(m+1, p, gs) < d {
			t.Fatalf("%g s", d)
		}
	})
}

// Table 1 of the paper, from the parts that hku2000 is made of: g_s, g_r and L of a packet on its own.
func TestTamWang2000(t *testing.T) {
	s, err := Preset("hku2000", 16)
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if us := got * 1e6 / s.Slowdown; math.Abs(us-want) > 1e-6 {
			t.Errorf("%s is %.6g µs, want %.6g", what, us, want)
		}
	}
	for _, m := range []int{1, 46, 500, 1448} {
		b := float64(m)
		gs, gr := s.Service(s.Host, m), s.Service(s.Medium, m)
		near("g_s", gs, max(6.73, 3.027+0.0796*b))
		near("g_r", gr, max(6.73, 4.986+0.0788*b))
		alone := s.L + s.Service(s.ReceiveBlock(1), m) + s.Fabric.Delay(m, 1, gs)
		near("what follows the port", alone, 11.698+0.0038*b+1.556)
	}
}

// linked adds a link.
func linked(between ...[]int) func(*Spec) {
	return func(s *Spec) { s.Links = append(s.Links, Link{Between: between, Block: Block{A: 1e-4, B: 1e-6}}) }
}

func TestRoutes(t *testing.T) {
	s := Spec{Hosts: 6}
	if s.Routes()(0, 1, -1) != -1 {
		t.Error("routes without links")
	}
	linked([]int{0, 1}, []int{2, 3})(&s)
	linked([]int{4, 1}, []int{0, 2})(&s)
	route := s.Routes()
	for _, c := range []struct {
		src, dst int
		want     []int
	}{{0, 2, []int{0}}, {3, 1, []int{1}}, {0, 1, []int{3}}, {2, 3, nil}, {4, 0, []int{2}}, {4, 1, nil}, {5, 0, nil},
		{1, 2, []int{0, 2}}, {2, 1, []int{1, 3}}} {
		var got []int
		for l := route(c.src, c.dst, -1); l >= 0; l = route(c.src, c.dst, l) {
			got = append(got, l)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("from %d to %d: %d, want %d", c.src, c.dst, got, c.want)
		}
	}
}

func TestValidateFeatures(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Spec)
		want   string
	}{
		{"as it is", func(*Spec) {}, ""},
		{"negative min", func(s *Spec) { s.Host.Min = -1 }, "host: a="},
		{"min is not a number", func(s *Spec) { s.Medium.Min = math.NaN() }, "min=NaN"},
		{"receive", func(s *Spec) { s.Receive = &Block{B: 2} }, "receive: "},
		{"receive with b below a/mss", func(s *Spec) { s.Receive = &Block{A: 1} }, "receive: b=0 s/B is below"},
		{"per_host", func(s *Spec) { s.Fabric.PerHost = -1 }, "fabric: per_host=-1"},
		{"tau", func(s *Spec) { s.Fabric.Tau = 2 }, "fabric: "},
		{"rate is not a number", func(s *Spec) { s.Fabric.Rate = math.NaN() }, "rate=NaN"},
		{"window", func(s *Spec) { s.Fabric.Window = 11 }, "window=11"},
		{"links", linked([]int{0, 1}, []int{2, 3}), ""},
		{"one group", linked([]int{0, 1}), "links[0]: between: want two"},
		{"empty group", linked([]int{0, 1}, nil), "links[0]: between: want two"},
		{"host there is not", linked([]int{0}, []int{99}), "host 99, but there are"},
		{"host below 0", linked([]int{-1}, []int{2}), "host -1, but there are"},
		{"host in both groups", linked([]int{0, 1}, []int{1}), "named twice"},
		{"link's block", func(s *Spec) { linked([]int{0}, []int{1})(s); s.Links[0].B = 2 }, "links[0]: a="},
		{"link's delay", func(s *Spec) { linked([]int{0}, []int{1})(s); s.Links[0].L = 11 }, "links[0]: l: 11 s"},
		{"link of a delay alone", func(s *Spec) {
			linked([]int{0}, []int{1})(s)
			s.Links[0].Block, s.Links[0].L = Block{}, 1e-5
		}, ""},
		{"link's loss", func(s *Spec) { linked([]int{0}, []int{1})(s); s.Links[0].Loss = 1 }, "links[0]: loss: 1"},
		{"link's buffer", func(s *Spec) { linked([]int{0}, []int{1})(s); s.Links[0].Buffer = -1 }, "links[0]: buffer: -1"},
		{"two links of a pair", func(s *Spec) { linked([]int{0, 1}, []int{2})(s); linked([]int{2, 3}, []int{1})(s) }, ""},
		{"three groups", func(s *Spec) {
			linked([]int{0}, []int{1})(s)
			linked([]int{0}, []int{2})(s)
			linked([]int{1}, []int{2})(s)
		}, ""},
	} {
		s, err := Preset("hku2000", 0)
		if err != nil {
			t.Fatal(err)
		}
		c.change(s)
		err = s.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestParseFeatures(t *testing.T) {
	got, err := Parse([]byte(`
mode: switched
host: {a: 100e-6, b: 1e-6, min: 200e-6}
medium: {a: 50e-6, b: 1e-6}
receive: {a: 20e-6, b: 0.03e-6}
cut_through: true
fabric: {per_host: 5e-6, tau: 0.1e-6, rate: 4e6, window: 0.5}
slowdown: 10
links: [{between: [[0, 1], [2, 3]], a: 1e-4, b: 2e-6, l: 3e-5, buffer: 7}]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := &Spec{
		Hosts: 4, Mode: Switched, MSS: 1448, Host: Block{A: 100e-6, B: 1e-6, Min: 200e-6}, Medium: Block{A: 50e-6, B: 1e-6},
		Receive: &Block{A: 20e-6, B: 0.03e-6}, CutThrough: true, Slowdown: 10,
		Fabric: &Fabric{PerHost: 5e-6, Tau: 0.1e-6, Rate: 4e6, Window: 0.5},
		Links:  []Link{{Between: [][]int{{0, 1}, {2, 3}}, Block: Block{A: 1e-4, B: 2e-6}, L: 3e-5, Buffer: 7}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// A file that changes a preset in one field keeps the others, and leaves the preset as it was for the next.
	changed, err := Parse([]byte("preset: hku2000\nfabric: {tau: 0}\nreceive: {a: 1e-6, b: 1e-6}\n"))
	if err != nil {
		t.Fatal(err)
	}
	preset, err := Preset("hku2000", 0)
	if err != nil {
		t.Fatal(err)
	}
	if !changed.CutThrough || changed.Receive.A != 1e-6 || changed.Fabric == nil || preset.Receive.A != 0 ||
		preset.Fabric.Tau == 0 {
		t.Errorf("%+v, %+v; %+v, %+v", changed.Receive, changed.Fabric, preset.Receive, preset.Fabric)
	}
}

// The two clusters with known buffers differ in whether one host alone can fill a port.
func TestExampleClusters(t *testing.T) {
	for name, fills := range map[string]bool{"fast": false, "slow": true} {
		s, err := Resolve("../../examples/lab-cluster-" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []int{64, 1000, s.MSS} {
			gs, gr, rx := s.Service(s.Host, m), s.Service(s.Medium, m), s.Service(s.ReceiveBlock(0), m)
			if (gr > gs) != fills || rx > gr/2 || s.Buffer == 0 {
				t.Errorf("%s, %d B: g_s %g s, g_r %g s, receiving %g s, buffer %d", name, m, gs, gr, rx, s.Buffer)
			}
		}
	}
}
