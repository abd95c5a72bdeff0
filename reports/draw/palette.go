package draw

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func ink() color.Color   { return color.NRGBA{R: 0x20, G: 0x20, B: 0x20, A: 0xff} }
func faint() color.Color { return color.NRGBA{R: 0x60, G: 0x60, B: 0x60, A: 0xff} }
func grid() color.Color  { return color.NRGBA{R: 0xe4, G: 0xe4, B: 0xe4, A: 0xff} }
func none() color.Color  { return color.NRGBA{R: 0xec, G: 0xec, B: 0xec, A: 0xff} }
func alarm() color.NRGBA { return color.NRGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff} }

// hue is the colour of a group: those of Okabe and Ito (2008), without the yellow that white paper swallows.
func hue(group int) color.NRGBA {
	hues := []color.NRGBA{
		{0x1a, 0x1a, 0x1a, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x72, 0xb2, 0xff}, {0x00, 0x9e, 0x73, 0xff},
		{0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff},
	}
	return hues[turn(group, len(hues))]
}

// wash is the colour of a group for an area.
func wash(group int) color.NRGBA {
	c := hue(group)
	c.A = 0x30
	return c
}

// dashes tell lines apart without colour.
func dashes(group int) []vg.Length {
	return [][]vg.Length{nil, {6, 2}, {2, 1.5}, {7, 2, 1.5, 2}, {4, 3}}[turn(group, 5)]
}

// shape tells points apart without colour.
func shape(group int) draw.GlyphDrawer {
	return []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.SquareGlyph{}, draw.PlusGlyph{},
	}[turn(group+group/7, 7)] // a colour comes again with another shape
}

// turn is i modulo n, for any i.
func turn(i, n int) int { return (i%n + n) % n }

// shade is the colour of a share of a heat map's scale, from light at 0 to dark at 1: ColorBrewer's YlGnBu, which keeps its
// order for the colour-blind and in black and white.
func shade(share float64) color.NRGBA {
	stops := []color.NRGBA{
		{0xff, 0xff, 0xd9, 0xff}, {0xc7, 0xe9, 0xb4, 0xff}, {0x7f, 0xcd, 0xbb, 0xff}, {0x41, 0xb6, 0xc4, 0xff},
		{0x1d, 0x91, 0xc0, 0xff}, {0x22, 0x5e, 0xa8, 0xff}, {0x08, 0x1d, 0x58, 0xff},
	}
	at := math.Min(math.Max(share, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (at-float64(i))*(float64(b)-float64(a)))) }
	a, b := stops[i], stops[i+1]
	return color.NRGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xff}
}

// over is the colour of text that can be read on c.
func over(c color.NRGBA) color.Color {
	if 0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B) < 130 {
		return color.White
	}
	return ink()
}
