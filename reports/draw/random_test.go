package draw

import (
	"bytes"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"calib/params"
	"calib/reports/figure"
)

func anyNumber() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(), rapid.Float64Range(-10, 10), rapid.Float64Range(1e-7, 1e-2),
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e-320, math.MaxFloat64,
			-math.MaxFloat64, 1.7e9}))
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\x00\xff<b>&\n", strings.Repeat("W", 5000),
		strings.Repeat("word ", 900)}))
}

func anyAxis() *rapid.Generator[figure.Axis] {
	return rapid.Custom(func(t *rapid.T) figure.Axis {
		return figure.Axis{Name: anyText().Draw(t, "name"), Log: rapid.Bool().Draw(t, "log"),
			Unit: rapid.SampledFrom([]string{"", "1", "s", "B", "s/B", "B/s", "%", "packets", "time", "µ"}).Draw(t, "unit")}
	})
}

func anyTraces() *rapid.Generator[[]figure.Trace] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) figure.Trace {
		n := rapid.IntRange(0, 6).Draw(t, "n")
		numbers := rapid.SliceOfN(anyNumber(), n, n)
		return figure.Trace{Name: anyText().Draw(t, "trace"), Group: rapid.IntRange(0, 1e6).Draw(t, "group"),
			Kind:   rapid.SampledFrom([]string{figure.Points, figure.Line, figure.Band, "odd"}).Draw(t, "kind"),
			Points: points(numbers.Draw(t, "x"), numbers.Draw(t, "y"), numbers.Draw(t, "lo"), numbers.Draw(t, "hi"))}
	}), 0, 5)
}

func anyHeat() *rapid.Generator[*figure.Heat] {
	return rapid.Custom(func(t *rapid.T) *figure.Heat {
		h := &figure.Heat{Unit: "s", Better: rapid.SampledFrom([]string{"", params.BetterLower, params.BetterHigher}).Draw(t,
			"better")}
		h.Names = rapid.SliceOfN(anyText(), 1, 4).Draw(t, "hosts")
		if rapid.Bool().Draw(t, "large") {
			h.Names = make([]string, rapid.IntRange(100, 300).Draw(t, "many"))
		}
		n := len(h.Names)
		for range n {
			h.Z = append(h.Z, slices.Repeat([]float64{math.NaN()}, n))
		}
		for _, v := range rapid.SliceOfN(anyNumber(), 0, 16).Draw(t, "z") {
			if math.Abs(v) > 1e100 {
				v = math.NaN()
			}
			h.Z[rapid.IntRange(0, n-1).Draw(t, "from")][rapid.IntRange(0, n-1).Draw(t, "to")] = v
		}
		h.Flagged = []figure.Flag{{Row: rapid.IntRange(0, n-1).Draw(t, "row"), Col: rapid.IntRange(0, n-1).Draw(t, "col")}}
		return h
	})
}

func anyFigure() *rapid.Generator[figure.Figure] {
	return rapid.Custom(func(t *rapid.T) figure.Figure {
		f := figure.Figure{ID: "f", Title: anyText().Draw(t, "title"), Says: anyText().Draw(t, "says"),
			X: anyAxis().Draw(t, "X"), Y: anyAxis().Draw(t, "Y"), Traces: anyTraces().Draw(t, "traces")}
		for range rapid.IntRange(0, 9).Draw(t, "marks") {
			f.Marks = append(f.Marks, figure.Mark{X: anyNumber().Draw(t, "x"), Lo: anyNumber().Draw(t, "lo"),
				Hi:    anyNumber().Draw(t, "hi"),
				Label: anyText().Draw(t, "mark")})
		}
		if rapid.Bool().Draw(t, "below") {
			f.Below = &figure.Figure{Y: anyAxis().Draw(t, "belowY"), Traces: anyTraces().Draw(t, "belowTraces")}
		}
		if rapid.IntRange(0, 3).Draw(t, "heat") == 0 {
			f.Heat = anyHeat().Draw(t, "matrix")
		}
		figure.Settle(&f)
		return f
	})
}

// Whatever a figure holds, the SVG is XML of a bounded size that holds finite numbers, and equal figures are equal
// bytes.
func TestAnyFigureSVG(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		f := anyFigure().Draw(rt, "figure")
		var a, b bytes.Buffer
		if err := Write(&a, f, SVG); err != nil {
			rt.Fatal(err)
		}
		if err := Write(&b, f, SVG); err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
			rt.Fatalf("two drawings differ: %v", err)
		}
		texts(t, a.String())
		texts(t, Inline(f, Page))
		for _, line := range strings.Split(a.String(), "\n") {
			if strings.Contains(line, "<path") && (strings.Contains(line, "NaN") || strings.Contains(line, "Inf")) {
				rt.Fatalf("not a number in %s", line)
			}
		}
		if p := newPage(f, paper, false); p.total > 1200 {
			rt.Fatalf("%v points high", p.total)
		}
	})
}

// A PNG takes longer: fewer of them.
func TestAnyFigurePNG(t *testing.T) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		f := anyFigure().Draw(rt, "figure")
		if n++; n > 12 {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, f, PNG); err != nil {
			rt.Fatal(err)
		}
		if _, err := png.DecodeConfig(&b); err != nil {
			rt.Fatal(err)
		}
	})
}
