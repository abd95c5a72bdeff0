package dataset

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func anyWord() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom([]string{"", "pingpong", "clock_ns", "bytes", "a<b", "µ", "\"", "\\", "\x00", "\xff", "a&b"}), rapid.String())
}

func anySample() *rapid.Generator[Sample] {
	number := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-1000, 1_000_000))
	float := rapid.OneOf(rapid.Float64(), rapid.Float64Range(-1e-5, 1e-5), rapid.SampledFrom([]float64{0, 1, -1, 1e21, 1e-7, 1e-10, 1e300, math.MaxFloat64}))
	return rapid.Custom(func(t *rapid.T) Sample {
		s := Sample{
			Exp: anyWord().Draw(t, "exp"), Phase: anyWord().Draw(t, "phase"), Round: rapid.IntRange(-3, 1e9).Draw(t, "round"),
			Slot: rapid.Int().Draw(t, "slot"), Part: rapid.IntRange(0, 9).Draw(t, "part"), Parts: rapid.IntRange(0, 9).Draw(t, "parts"),
		}
		if rapid.Bool().Draw(t, "point") {
			s.Point = rapid.MapOfN(anyWord(), number, 0, 4).Draw(t, "factors")
		}
		if rapid.Bool().Draw(t, "ranks") {
			s.Ranks = rapid.SliceOfN(rapid.IntRange(-1, 2000), 0, 5).Draw(t, "of ranks")
		}
		if rapid.Bool().Draw(t, "flags") {
			s.Flags = rapid.SliceOfN(anyWord(), 0, 3).Draw(t, "of flags")
		}
		if rapid.Bool().Draw(t, "aux") {
			s.Aux = rapid.MapOfN(anyWord(), float, 0, 4).Draw(t, "values")
		}
		if rapid.Bool().Draw(t, "ns") {
			s.NS = rapid.SliceOfN(number, 0, 20).Draw(t, "timings")
		}
		if rapid.Bool().Draw(t, "tcp") {
			s.TCP = &TCP{}
			for _, f := range tcpFields {
				if !rapid.Bool().Draw(t, f.name) {
					continue
				}
				if f.number != nil {
					*f.number(s.TCP) = number.Draw(t, "of "+f.name)
				} else {
					*f.text(s.TCP) = anyWord().Draw(t, "of "+f.name)
				}
			}
		}
		return s
	})
}

// What is written is what encoding/json writes, and what is read is what it reads.
func TestLineIsJSON(t *testing.T) {
	p := newParser()
	rapid.Check(t, func(t *rapid.T) {
		s := anySample().Draw(t, "sample")
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.appendJSON(nil)
		if err != nil || string(got) != string(want) {
			t.Fatalf("%v: wrote\n%s, want\n%s", err, got, want)
		}
		sameAsJSON(t, p, got)
		// One byte wrong: what the parser takes, encoding/json takes too, and reads the same.
		for range 20 {
			bad := append([]byte{}, got...)
			bad[rapid.IntRange(0, len(bad)-1).Draw(t, "place")] = rapid.SampledFrom([]byte(`{}[]",:-+.eE019 xn\`)).Draw(t, "byte")
			sameAsJSON(t, p, bad)
		}
	})
}

type fataler interface {
	Fatalf(format string, args ...any)
}

func sameAsJSON(t fataler, p *parser, line []byte) {
	var fast, slow Sample
	if !p.sample(line, &fast) {
		return
	}
	if err := json.Unmarshal(line, &slow); err != nil {
		t.Fatalf("%s: encoding/json refuses it: %v", line, err)
	}
	if diff := cmp.Diff(slow, fast); diff != "" {
		t.Fatalf("%s (-encoding/json +parser):\n%s", line, diff)
	}
}

// Ordinary lines are read by the parser: the other way is for lines of other programs.
func TestParserTakesOwnLines(t *testing.T) {
	s := goldenSlot()[0]
	s.Aux = map[string]float64{"dir": 1, "bound_ns": 12.5, "tiny": 1e-9}
	s.TCP = &TCP{SegsOut: 1, SegsIn: 2, DataSegsOut: 3, Cwnd: 10, MSS: 1448, Congestion: "bbr", SndBuf: 87040, Port: 40000}
	line, err := s.appendJSON(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := newParser()
	var a, b Sample
	if !p.sample(line, &a) || !p.sample(line, &b) {
		t.Fatalf("not taken: %s", line)
	}
	s.Parts = 0
	if diff := cmp.Diff(s, a); diff != "" {
		t.Error(diff)
	}
	a.Point["bytes"], a.Aux["dir"], a.Ranks[0], a.TCP.Port = 99, 99, 99, 99
	if b.Point["bytes"] != 99 || b.Aux["dir"] != 99 || b.Ranks[0] != 99 || b.TCP.Port != 99 {
		t.Error("equal values are kept twice")
	}
	if _, err := (&Sample{Exp: "x", Aux: map[string]float64{"x": math.Inf(1)}}).appendJSON(nil); err == nil {
		t.Error("an infinite value was written")
	}
}
