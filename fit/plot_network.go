package fit

import (
	"fmt"
	"math"
	"strings"

	"calib/internal/units"
)

// Plots implements Plotter.
func (Network) Plots(f *Fit) []Plot {
	var out []Plot
	if lo, hi, ok := f.seriesSpan(seriesA); ok {
		x := spread(lo, hi, false)
		out = append(out, Plot{
			ID: "a-prime", Section: sectionContention, Title: "Fixed time of a message while n pairs send at once",
			Says: sentences(f.fixedWords(), f.behaviour()),
			X:    pairsAxis(), Y: timeAxis("a'(n)", false), Series: []string{seriesA}, Line: "2a + n·a_c",
			Curves: f.twoParameters("2a + n·a_c", "a", "a_c", x, func(n, a, ac float64) float64 { return 2*a + n*ac }),
		})
	}
	if lo, hi, ok := f.seriesSpan(seriesB); ok {
		out = append(out, Plot{
			ID: "b-prime", Section: sectionContention, Title: "Time per byte while n pairs send at once",
			Says: sentences(f.paramWords("b"), f.paramWords("b_c"), f.paramWords("b_prime")),
			X:    pairsAxis(), Y: Axis{Name: "b'(n)", Unit: "s/B"}, Series: []string{seriesB}, Line: "max(b, n·b_c)",
			Curves: f.mediumCurve(lo, hi),
		})
	}
	if bursts := f.seriesNamed("T(x,"); len(bursts) > 0 {
		out = append(out, Plot{
			ID: "bursts", Section: sectionContention, Title: "Time of n messages sent at once, by their size",
			Says: sentences(fmt.Sprintf("Time to the last of n deliveries, for %s of pairs, beside eq. 16 with the parameters above",
				units.Plural(int64(len(bursts)), "number")), f.misses("Eq. 16 is", bursts...)),
			X: sizeAxis(true), Y: timeAxis("last delivery", true), Series: bursts, Curves: f.burstCurves(bursts), Below: true,
		})
	}
	return out
}

// mostBursts is the number of curves that a plot of bursts holds; more series have lines through their fitted values.
const mostBursts = 8

// burstCurves draws eq. 16 for every n, with a'(n) and b'(n) as fitted.
func (f *Fit) burstCurves(series []string) []Curve {
	a, b := map[float64]float64{}, map[float64]float64{}
	for _, r := range f.Residuals {
		switch r.Series {
		case seriesA:
			a[r.X] = r.Fitted
		case seriesB:
			b[r.X] = r.Fitted
		}
	}
	if len(series) > mostBursts {
		return nil
	}
	var out []Curve
	for _, s := range series {
		var n float64
		if _, err := fmt.Sscanf(s, "T(x,%g)", &n); err != nil {
			continue
		}
		an, okA := a[n]
		bn, okB := b[n]
		if lo, hi, ok := f.seriesSpan(s); ok && okA && okB {
			out = append(out, traced(s, spread(lo, hi, true), func(x float64) float64 { return T(x, an, bn) }, nil, nil)...)
		}
	}
	return out
}

func pairsAxis() Axis { return Axis{Name: "pairs that send at once, n"} }

// fixedWords says what a'(n) is made of.
func (f *Fit) fixedWords() string {
	if _, ok := f.Parameters["a_prime"]; ok {
		return f.paramWords("a_prime") + "; one number of pairs does not tell the hosts' part from the network's"
	}
	return "a'(n) = 2a + n·a_c: " + f.paramWords("a") + "; " + f.paramWords("a_c")
}

// behaviour repeats what the fit found the network to behave like.
func (f *Fit) behaviour() string {
	for _, note := range f.Notes {
		if strings.HasPrefix(note, "behaves like ") {
			return "The network " + note
		}
	}
	return ""
}

// mediumCurve is b'(n) = max(b, n·b_c), or the part of it that is known.
func (f *Fit) mediumCurve(lo, hi float64) []Curve {
	const name = "max(b, n·b_c)"
	b, bLo, bHi, flat := f.ends("b")
	bc, bcLo, bcHi, rising := f.ends("b_c")
	if !flat && !rising {
		return nil
	}
	at := func(b, bc float64) func(float64) float64 {
		m := &mediumFit{b: math.NaN(), bc: math.NaN()}
		if flat {
			m.b = b
		}
		if rising {
			m.bc = bc
		}
		return m.at
	}
	x := spread(lo, hi, false, b/bc)
	if bLo == bHi && bcLo == bcHi {
		return traced(name, x, at(b, bc), nil, nil)
	}
	return traced(name, x, at(b, bc), at(bLo, bcLo), at(bHi, bcHi))
}
