package draw

import (
	"image/color"
	"slices"

	imagefont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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
var groupShapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{},
	draw.SquareGlyph{}, draw.PlusGlyph{}}

// turn is i modulo n, from 0 to n−1 for negative i too.
func turn(i, n int) int { return (i%n + n) % n }

func hue(group int) color.NRGBA { return groupColours[turn(group, len(groupColours))] }

// wash is the colour of a group for an area.
func wash(group int) color.NRGBA {
	c := hue(group)
	c.A = 0x30
	return c
}

func lineStyle(group int) draw.LineStyle {
	return draw.LineStyle{Color: hue(group), Width: 1.3, Dashes: groupDashes[turn(group, len(groupDashes))]}
}

// glyphStyle gives a colour that comes a second time another shape.
func glyphStyle(group int) draw.GlyphStyle {
	n := len(groupShapes)
	return draw.GlyphStyle{Color: hue(group), Radius: 2, Shape: groupShapes[turn(group+group/n, n)]}
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

// over is the colour of text that can be read on c, which no theme changes.
func over(c color.Color) color.Color {
	if color.GrayModel.Convert(c).(color.Gray).Y < 105 {
		return color.White
	}
	return color.Black
}

// textStyle is Liberation Sans, which package plot carries.
func textStyle(size vg.Length) draw.TextStyle {
	return draw.TextStyle{Color: ink, Font: font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size), Handler: plot.DefaultTextHandler}
}

func titleStyle() draw.TextStyle {
	s := textStyle(11)
	s.Font.Weight = imagefont.WeightBold
	return s
}

func labelStyle() draw.TextStyle { return textStyle(9) }
func smallStyle() draw.TextStyle { return textStyle(8) }
func noteStyle() draw.TextStyle  { return textStyle(8.5) }
