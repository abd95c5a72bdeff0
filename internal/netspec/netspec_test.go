package netspec

import (
	"errors"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestService(t *testing.T) {
	s, err := Preset("sparc1994", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		payload int
		want    float64 // s
	}{
		{0, 859.52e-6},
		{1, 859.52e-6 + 1.42e-6 - 859.52e-6/1448},
		{1448, 1448 * 1.42e-6}, // a full packet takes b a byte: b = a/p + m
	} {
		if got := s.Service(s.Host, c.payload); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%d B take %.9g s, want %.9g", c.payload, got, c.want)
		}
	}
}

// Eq. 1 of Stoica et al.: for messages of many packets the time per byte tends to b.
func TestServiceTendsToB(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Spec{MSS: rapid.IntRange(88, 9000).Draw(t, "mss")}
		a := rapid.Float64Range(0, 1e-3).Draw(t, "a")
		b := Block{A: a, B: a/float64(s.MSS) + rapid.Float64Range(1e-9, 1e-6).Draw(t, "m")}
		x := 1000 * s.MSS
		got := float64(s.Packets(x)) * s.Service(b, s.MSS) / float64(x)
		if math.Abs(got-b.B) > 1e-9*b.B {
			t.Fatalf("%g s/B, want %g", got, b.B)
		}
	})
}

func TestPackets(t *testing.T) {
	s := Spec{MSS: 1448}
	for x, want := range map[int]int{0: 1, 1: 1, 1448: 1, 1449: 2, 2896: 2, 2897: 3} {
		if got := s.Packets(x); got != want {
			t.Errorf("%d B in %d packets, want %d", x, got, want)
		}
	}
}

func TestHostBlock(t *testing.T) {
	s := Spec{Host: Block{A: 1}, Overrides: map[int]Block{2: {A: 5}}}
	if s.HostBlock(1).A != 1 || s.HostBlock(2).A != 5 {
		t.Errorf("%+v %+v", s.HostBlock(1), s.HostBlock(2))
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Spec)
		want   string // part of the error; "" is none
	}{
		{"as it is", func(*Spec) {}, ""},
		{"no hosts", func(s *Spec) { s.Hosts = 0 }, "hosts: 0"},
		{"too many hosts", func(s *Spec) { s.Hosts = 4097 }, "hosts: 4097"},
		{"mode", func(s *Spec) { s.Mode = "ring" }, `mode: "ring"`},
		{"mss below TCP's least", func(s *Spec) { s.MSS = 87 }, "mss: 87"},
		{"mss", func(s *Spec) { s.MSS = 65001 }, "mss: 65001"},
		{"l", func(s *Spec) { s.L = -1e-6 }, "l: "},
		{"l is not a number", func(s *Spec) { s.L = math.NaN() }, "l: NaN"},
		{"slowdown is not a number", func(s *Spec) { s.Slowdown = math.NaN() }, "slowdown: NaN"},
		{"buffer", func(s *Spec) { s.Buffer = -1 }, "buffer: -1"},
		{"loss of all", func(s *Spec) { s.Loss = 1 }, "loss: 1"},
		{"loss is not a number", func(s *Spec) { s.Loss = math.NaN() }, "loss: NaN"},
		{"negative a", func(s *Spec) { s.Host.A = -1 }, "host: a=-1"},
		{"infinite b", func(s *Spec) { s.Medium.B = math.Inf(1) }, "medium: "},
		{"a is not a number", func(s *Spec) { s.Medium.A = math.NaN() }, "medium: a=NaN"},
		{"b below a/p", func(s *Spec) { s.Host = Block{A: 1e-3, B: 1e-7} }, "below a/mss"},
		{"b equal to a/p", func(s *Spec) { s.Host = Block{A: 1e-3, B: 1e-3 / 1448} }, ""},
		{"override of nobody", func(s *Spec) { s.Overrides = map[int]Block{8: {}} }, "host 8, but there are 8 hosts"},
		{"override", func(s *Spec) { s.Overrides = map[int]Block{3: {A: -1}} }, "overrides[3]: a=-1"},
	} {
		s, err := Preset("sparc1994", 8)
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

func TestParse(t *testing.T) {
	sparc, err := Preset("sparc1994", 3)
	if err != nil {
		t.Fatal(err)
	}
	sparc.Overrides = map[int]Block{1: {A: 1e-3, B: 2e-6}}
	for _, c := range []struct {
		name, text string
		want       *Spec
		fails      string
	}{
		{"nothing said", "", &Spec{Hosts: 4, Mode: Switched, MSS: 1448}, ""},
		{"a preset, changed", "preset: sparc1994\nhosts: 3\noverrides:\n  1: {a: 1000e-6, b: 2e-6}\n", sparc, ""},
		{"unknown key", "hots: 4\n", nil, "hots"},
		{"unknown preset", "preset: sparc1995\n", nil, "have hku2000, sparc1994, switch"},
		{"not a number", "hosts: many\n", nil, "hosts"},
		{"not YAML", "hosts: [\n", nil, ""},
		{"out of range", "hosts: 5000\n", nil, "hosts: 5000"},
	} {
		s, err := Parse([]byte(c.text))
		if (err == nil) != (c.want != nil) || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if c.want != nil && cmp.Diff(c.want, s) != "" {
			t.Errorf("%s: %s", c.name, cmp.Diff(c.want, s))
		}
	}
}

// What is true of a network is true of hosts that are alike: fits leave slow ones out.
func TestTruthIsOfHostsThatAreAlike(t *testing.T) {
	plain, err := Preset("switch", 6)
	if err != nil {
		t.Fatal(err)
	}
	odd := *plain
	odd.Overrides = map[int]Block{0: {A: 800e-6, B: 1.2e-6}, 1: {A: 800e-6, B: 1.2e-6}}
	odd.Links = []Link{{Between: [][]int{{0}, {1}}, Block: Block{A: 1e-3, B: 1e-6}}}
	if want, got := plain.TrueParameters(), odd.TrueParameters(); !maps.Equal(want, got) {
		t.Errorf("%v, want %v", got, want)
	}
	if want, got := plain.TrueFunctions(), odd.TrueFunctions(); !maps.Equal(want, got) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestResolve(t *testing.T) {
	for arg, hosts := range map[string]int{"sparc1994": 8, "switch:3": 3, "../../examples/lab-switch.yaml": 6,
		"../../examples/lab-switch.yaml:4": 4} {
		if s, err := Resolve(arg); err != nil || s.Hosts != hosts {
			t.Errorf("%s: %+v, %v", arg, s, err)
		}
	}
	for _, bad := range []string{"sparc1994:", "sparc1994:0", "sparc1994:x", "sparc1994:9999"} {
		if _, err := Resolve(bad); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	if _, err := Resolve("sparc1995"); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), "neither a preset (hku2000") {
		t.Errorf("neither file nor preset: %v", err)
	}
}

func TestPresets(t *testing.T) {
	for _, name := range PresetNames() {
		s, err := Preset(name, 0)
		if err != nil || s.Name != name {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if _, err := Preset("none", 0); err == nil || !strings.Contains(err.Error(), "no such preset") {
		t.Errorf("no such preset: %v", err)
	}
}

func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/lab-*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	for _, f := range files {
		if _, err := Resolve(f); err != nil {
			t.Error(err)
		}
	}
	s, err := Resolve("../../examples/lab-sparc1994.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want, err := Preset("sparc1994", 0)
	if err != nil {
		t.Fatal(err)
	}
	want.Name = s.Name
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("the example is not the preset:\n%s", diff)
	}
}

// Whatever Parse accepts is valid, and survives being written and read again.
func FuzzParse(f *testing.F) {
	f.Add([]byte("preset: switch\nhosts: 3\noverrides: {1: {a: 1e-3, b: 2e-6}}\n"))
	f.Add([]byte("mode: shared\nmss: 1448\nhost: {a: 859.52e-6, b: 1.42e-6}\nloss: .nan\n"))
	f.Add([]byte("links: [{between: [[0, 1], [2]], a: 1e-4, b: 1e-6, buffer: 3}]\n"))
	f.Add([]byte("hosts: [1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("accepted, but %v", err)
		}
		out, err := yaml.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(out)
		if err != nil {
			t.Fatalf("written as:\n%s\n%v", out, err)
		}
		if again.Hosts != s.Hosts || again.Mode != s.Mode || again.Host != s.Host ||
			len(again.Overrides) != len(s.Overrides) ||
			len(again.Links) != len(s.Links) {
			t.Fatalf("%+v became %+v", s, again)
		}
	})
}
