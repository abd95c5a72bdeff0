package draw

import (
	"image/color"
	"slices"
	"sort"
	"strings"

	imagefont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"calib/internal/units"
)

var (
	ink       = color.NRGBA{R: 0x20, G: 0x20, B: 0x20, A: 0xff}
	faint     = color.NRGBA{R: 0x60, G: 0x60, B: 0x60, A: 0xff}
	gridGrey  = color.NRGBA{R: 0xe4, G: 0xe4, B: 0xe4, A: 0xff}
	emptyGrey = color.NRGBA{R: 0x80, G: 0x80, B: 0x80, A: 0x28} // cells without a number, on any ground
	alarm     = color.NRGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}
)

// groupColours are those of Okabe and Ito (2008), without the yellow that white paper swallows.
var groupColours = []color.NRGBA{
	{0x1a, 0x1a, 0x1a, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x72, 0xb2, 0xff}, {0x00, 0x9e, 0x73, 0xff},
	{0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
}

// groupDashes tell lines apart without colour.
var groupDashes = [][]vg.Length{nil, {6, 2}, {2, 1.5}, {7, 2, 1.5, 2}, {4, 3}}

// groupShapes tell points apart without colour.
var groupShapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{},
	draw.RingGlyph{}, draw.SquareGlyph{}, draw.PlusGlyph{}}

func hue(group int) color.NRGBA { return groupColours[group%len(groupColours)] }

func wash(group int) color.NRGBA {
	c := hue(group)
	c.A = 0x30
	return c
}

func lineStyle(group int) draw.LineStyle {
	return draw.LineStyle{Color: hue(group), Width: 1.3, Dashes: groupDashes[group%len(groupDashes)]}
}

// glyphStyle gives a colour that comes a second time another shape.
func glyphStyle(group int) draw.GlyphStyle {
	n := len(groupShapes)
	return draw.GlyphStyle{Color: hue(group), Radius: 2, Shape: groupShapes[(group+group/n)%n]}
}

// cellColours is the scale of a heat map from 0 to 1, dark where it is bad: ColorBrewer's YlGnBu, which keeps its order
// for the colour-blind and in black and white.
func cellColours(darkIsLow bool) palette.ColorMap {
	stops, err := brewer.GetPalette(brewer.TypeSequential, "YlGnBu", 9)
	if err != nil {
		panic(err) // there is such a palette
	}
	dark := slices.Clone(stops.Colors())
	slices.Reverse(dark) // as moreland wants them
	m, err := moreland.NewLuminance(dark)
	if err != nil {
		panic(err) // it is ordered by luminance
	}
	m.SetMin(0)
	m.SetMax(1)
	if darkIsLow {
		return m
	}
	return palette.Reverse(m)
}

// textStyle is Liberation Sans, which package plot carries.
func textStyle(size vg.Length) draw.TextStyle {
	return draw.TextStyle{Color: ink, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size),
		Handler: plot.DefaultTextHandler}
}

func titleStyle() draw.TextStyle {
	s := textStyle(11)
	s.Font.Weight = imagefont.WeightBold
	return s
}

func labelStyle() draw.TextStyle { return textStyle(9) }
func smallStyle() draw.TextStyle { return textStyle(8) }
func noteStyle() draw.TextStyle  { return textStyle(8.5) }

const maxText = 4000 // the most letters that one text keeps

// clean makes s one line of letters that every format can carry.
func clean(s string) string {
	s = strings.Join(strings.Fields(units.OneLine(strings.ToValidUTF8(s, "\uFFFD"))), " ")
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText]) + "…"
	}
	return s
}

// clip shortens s to width, with an ellipsis where it was longer.
func clip(s string, st draw.TextStyle, width vg.Length) string {
	s = clean(s)
	if st.Width(s) <= width {
		return s
	}
	r := []rune(s)
	return string(r[:fits(r, st, width-st.Width("…"))]) + "…"
}

// fits is how many of r are no wider than width.
func fits(r []rune, st draw.TextStyle, width vg.Length) int {
	return sort.Search(len(r), func(n int) bool { return st.Width(string(r[:n+1])) > width })
}

// wrap breaks s into lines of a width, at spaces where it can. What the lines do not hold ends in an ellipsis.
func wrap(s string, st draw.TextStyle, width vg.Length, lines int) (out []string) {
	rest := []rune(clean(s))
	for len(rest) > 0 {
		if len(out) == lines-1 {
			return append(out, clip(string(rest), st, width))
		}
		n := max(fits(rest, st, width), 1)
		if n < len(rest) {
			for i := n; i > 0; i-- {
				if rest[i] == ' ' {
					n = i
					break
				}
			}
		}
		out = append(out, string(rest[:n]))
		rest = []rune(strings.TrimLeft(string(rest[n:]), " "))
	}
	return out
}
