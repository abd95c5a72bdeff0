package netspec

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What is written is read back, to the last bit.
func TestText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := func(name string, most float64) float64 { return rapid.Float64Range(0, most).Draw(t, name) }
		s := Spec{Name: rapid.StringMatching(`[ -~]{0,12}`).Draw(t, "name"), Hosts: 6, Mode: rapid.SampledFrom([]string{Shared, Switched}).Draw(t, "mode"),
			MSS: rapid.IntRange(88, 65000).Draw(t, "mss"), L: number("l", 1e-3),
			Buffer: rapid.IntRange(0, 3000).Draw(t, "buffer"),
			Loss:   number("loss", 0.5), Seed: rapid.Uint64().Draw(t, "seed"), CutThrough: rapid.Bool().Draw(t, "cut through"),
			Slowdown: number("slowdown", 100)}
		block := func(name string) Block {
			a := number(name+" a", 1e-2)
			return Block{A: a, B: a/float64(s.MSS) + number(name+" b", 1e-6), Min: number(name+" min", 1e-4)}
		}
		s.Host, s.Medium = block("host"), block("medium")
		if rapid.Bool().Draw(t, "receive") {
			b := block("receive")
			s.Receive = &b
		}
		if rapid.Bool().Draw(t, "fabric") {
			s.Fabric = &Fabric{PerHost: number("per host", 1e-5), Tau: number("tau", 1e-7), Rate: number("rate", 1e9),
				Window: number("window", 1)}
		}
		if rapid.Bool().Draw(t, "differ") {
			s.Overrides = map[int]Block{3: block("third"), 0: block("first")}
			s.Links = []Link{{Between: [][]int{{1, 2}, {4}}, Block: block("link"), L: number("link l", 1e-3), Buffer: 7,
				Loss: 0.001}}
		}
		text := s.Text()
		got, err := Parse([]byte(text))
		if err != nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if d := cmp.Diff(&s, got); d != "" {
			t.Fatalf("%s\n-want +got:\n%s", text, d)
		}
	})
}

func TestTextOfExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/lab-*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		s, err := Resolve(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse([]byte(s.Text()))
		if d := cmp.Diff(s, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", f, err, d)
		}
	}
}

// A message's way: blocks one after the other, at once with cut-through, and a link where there is one.
func TestWay(t *testing.T) {
	const us = 1e-6
	s := Spec{Hosts: 4, Mode: Switched, MSS: 1000, Host: Block{A: 100 * us, B: 0.2 * us},
		Medium: Block{A: 50 * us, B: 0.15 * us}, L: 10 * us,
		Receive: &Block{A: 5 * us, B: 0.005 * us}, Overrides: map[int]Block{3: {A: 300 * us, B: 0.5 * us}},
		Links: []Link{{Between: [][]int{{0}, {2}}, Block: Block{A: 1000 * us, B: 1 * us}}}, Fabric: &Fabric{PerHost: 2 * us}}
	cut, far := s, s
	cut.CutThrough, far.Links = true, []Link{{Between: s.Links[0].Between, Block: s.Links[0].Block, L: 70 * us}}
	for _, c := range []struct {
		what string
		got  float64
		want float64 // µs
	}{
		{"an empty packet", s.Way(0, 1, 0, 2), 100 + 50 + 10 + 5 + 4},
		{"a full one", s.Way(0, 1, 1000, 3), 200 + 150 + 10 + 5 + 6},
		{"cut-through", cut.Way(0, 1, 1000, 3), 200 + 10 + 5 + 6},
		{"over a link", s.Way(2, 0, 0, 2), 100 + 1000 + 50 + 10 + 5 + 4},
		{"over a link, cut-through", cut.Way(2, 0, 0, 2), 100 + 1000 + 10 + 5 + 4},
		{"over a link with a delay", far.Way(2, 0, 0, 2), 100 + 1000 + 70 + 50 + 10 + 5 + 4},
		{"three packets over a link with a delay", far.Message(2, 0, 3000), 200 + 1000 + 70 + 150 + 10 + 5 + 4 + 2*1000},
		{"from a slow host", s.Way(3, 1, 0, 2), 300 + 50 + 10 + 5 + 4},
		{"to a slow host", s.Way(1, 3, 1000, 2), 200 + 150 + 10 + 500 + 4},
		{"three packets", s.Message(0, 1, 3000), 200 + 150 + 10 + 5 + 4 + 2*200},
		{"three packets to a slow host", s.Message(0, 3, 3000), 200 + 150 + 10 + 500 + 4 + 2*500},
	} {
		if math.Abs(c.got/us-c.want) > 1e-9 {
			t.Errorf("%s: %.6g µs, want %g", c.what, c.got/us, c.want)
		}
	}
}
