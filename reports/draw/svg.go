package draw

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"

	"calib/reports/figure"
)

func (p *page) svg(f figure.Figure) string {
	c := &canvas{height: p.total, style: style{colour: color.Black, width: 1}}
	p.draw(c)
	c.flush()
	width, height := tenths(p.width), tenths(p.total)
	start := "<svg"
	if p.ground {
		start = fmt.Sprintf("<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "+
			`xmlns:xlink="http://www.w3.org/1999/xlink" width="%spt" height="%spt"`, width, height)
	}
	return fmt.Sprintf(`%s viewBox="0 0 %s %s" role="img" font-family="%s" font-size="8" fill="%s">
<title>%s</title>
<desc>%s</desc>
%s<g class="values" fill="none" pointer-events="all">
%s</g>
</svg>
`, start, width, height, "'Liberation Sans',Arimo,Arial,Helvetica,sans-serif", hex(ink),
		html.EscapeString(clean(f.Title)), html.EscapeString(clean(f.Says)), c.out.String(), c.values.String())
}

// canvas is a vg.Canvas that writes SVG in few bytes: coordinates are tenths of a point from the one before, and shapes
// of one style that follow each other are one path. It draws what the plots of this package need of a canvas: lines,
// areas, whole circles, text along a slope, pictures.
type canvas struct {
	vg.Canvas // nil: no plot moves or scales it
	height    vg.Length
	style
	stack       []style
	out, values strings.Builder

	path   strings.Builder // of the shapes not yet written
	shapes string          // their attributes
	pen    [2]int          // tenths, Y from the top
	step   byte            // the last letter in path
}

type style struct {
	colour color.Color
	width  vg.Length
	dashes []vg.Length
	turned float64 // radians
}

// The state of a vg.Canvas.
func (c *canvas) SetLineWidth(w vg.Length)               { c.width = w }
func (c *canvas) SetLineDash(d []vg.Length, _ vg.Length) { c.dashes = d }
func (c *canvas) SetColor(colour color.Color)            { c.colour = colour }
func (c *canvas) Rotate(radians float64)                 { c.turned += radians }
func (c *canvas) Push()                                  { c.stack = append(c.stack, c.style) }

func (c *canvas) Pop() {
	c.style = c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
}

func (c *canvas) Stroke(path vg.Path) {
	if c.width <= 0 {
		return
	}
	attributes := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="%.3g"`, hex(c.colour), c.width)
	for i, d := range c.dashes {
		attributes += [2]string{` stroke-dasharray="`, ","}[min(i, 1)] + tenths(d)
	}
	if len(c.dashes) > 0 {
		attributes += `"`
	}
	c.shape(path, attributes)
}

// Fill paints an area. Areas that let through what is behind them stay apart: one over another is darker.
func (c *canvas) Fill(path vg.Path) {
	attributes := `fill="` + hex(c.colour) + `"`
	if a := color.NRGBAModel.Convert(c.colour).(color.NRGBA).A; a < 0xff {
		c.flush()
		attributes += fmt.Sprintf(` fill-opacity="%.2g"`, float64(a)/0xff)
		defer c.flush()
	}
	c.shape(path, attributes)
}

func (c *canvas) shape(path vg.Path, attributes string) {
	if attributes != c.shapes {
		c.flush()
		c.shapes = attributes
	}
	var start [2]int
	var line []vg.Point
	for i, part := range path {
		switch part.Type {
		case vg.MoveComp, vg.LineComp:
			line = append(line, part.Pos)
			if i+1 < len(path) && path[i+1].Type == vg.LineComp {
				continue
			}
			c.to('m', line[0])
			start = c.pen
			for _, p := range line[1:] {
				c.to('l', p)
			}
			line = nil
		case vg.ArcComp: // from where the pen is
			r := part.Radius
			for _, across := range []vg.Length{-2 * r, 2 * r} {
				c.write('a', tenths(r), tenths(r), "0", "1", "1", tenths(across), "0")
			}
		case vg.CloseComp:
			c.write('z')
			c.pen = start
		default:
			panic("draw: a plot draws a curve")
		}
	}
}

// to moves the pen, with a line where letter is l.
func (c *canvas) to(letter byte, at vg.Point) {
	was := c.pen
	if c.path.Len() == 0 {
		was = [2]int{}
	}
	c.pen = [2]int{int(math.Round(10 * float64(at.X))), int(math.Round(10 * float64(c.height-at.Y)))}
	dx, dy := vg.Length(c.pen[0]-was[0])/10, vg.Length(c.pen[1]-was[1])/10
	switch {
	case letter == 'l' && dy == 0 && dx != 0:
		c.write('h', tenths(dx))
	case letter == 'l' && dx == 0 && dy != 0:
		c.write('v', tenths(dy))
	case letter == 'm' || dx != 0:
		c.write(letter, tenths(dx), tenths(dy))
	}
}

// write adds a step to the path. A letter may be left out after the same one.
func (c *canvas) write(letter byte, numbers ...string) {
	if letter != c.step || letter == 'm' {
		c.path.WriteByte(letter)
	} else if len(numbers) > 0 && numbers[0][0] != '-' {
		c.path.WriteByte(' ')
	}
	c.step = letter
	for i, n := range numbers {
		if i > 0 && n[0] != '-' {
			c.path.WriteByte(' ')
		}
		c.path.WriteString(n)
	}
}

// flush writes the shapes that wait for more of their style.
func (c *canvas) flush() {
	if c.path.Len() > 0 {
		fmt.Fprintf(&c.out, "<path d=\"%s\" %s/>\n", c.path.String(), c.shapes)
	}
	c.path.Reset()
	c.step, c.shapes = 0, ""
}

// FillString writes text. A long one is as wide as it was measured, whatever font a viewer has.
func (c *canvas) FillString(face font.Face, at vg.Point, text string) {
	c.flush()
	x, y, more := at.X, c.height-at.Y, ""
	if c.turned != 0 { // where the corner of the page is the middle of the turn
		x, y = at.X-c.height*vg.Length(math.Sin(c.turned)), c.height*vg.Length(math.Cos(c.turned))-at.Y
		more = fmt.Sprintf(` transform="rotate(%.3g)"`, -c.turned*180/math.Pi)
	}
	if face.Font.Size != 8 {
		more += ` font-size="` + tenths(face.Font.Size) + `"`
	}
	if face.Font.Weight != 0 {
		more += ` font-weight="bold"`
	}
	if s := hex(c.colour); s != hex(ink) {
		more += ` fill="` + s + `"`
	}
	if w := face.Width(text); w > 200 {
		more += ` textLength="` + tenths(w) + `" lengthAdjust="spacingAndGlyphs"`
	}
	fmt.Fprintf(&c.out, "<text x=\"%s\" y=\"%s\"%s>%s</text>\n", tenths(x), tenths(y), more, html.EscapeString(text))
}

func (c *canvas) DrawImage(at vg.Rectangle, img image.Image) {
	c.flush()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err) // memory takes all
	}
	size := at.Size()
	fmt.Fprintf(&c.out, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" `+
		"image-rendering=\"pixelated\" xlink:href=\"data:image/png;base64,%s\"/>\n",
		tenths(at.Min.X), tenths(c.height-at.Max.Y), tenths(size.X), tenths(size.Y),
		base64.StdEncoding.EncodeToString(b.Bytes()))
}

// value lays a rectangle with a title over what stands for a value.
func (c *canvas) value(at, reach vg.Point, text string) {
	fmt.Fprintf(&c.values, `<path d="M%s %sh%sv%sh%sz"`, tenths(at.X-reach.X), tenths(c.height-at.Y-reach.Y),
		tenths(2*reach.X), tenths(2*reach.Y), tenths(-2*reach.X))
	if text == "" {
		c.values.WriteString(" class=\"cells\"/>\n")
		return
	}
	fmt.Fprintf(&c.values, "><title>%s</title></path>\n", html.EscapeString(clean(text)))
}

func tenths(v vg.Length) string {
	n := math.Round(10 * float64(v))
	s := strconv.FormatFloat(n/10, 'f', -1, 64)
	switch {
	case n == 0:
		return "0"
	case n > -10 && n < 10:
		return strings.Replace(s, "0.", ".", 1)
	}
	return s
}

func hex(c color.Color) string {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return fmt.Sprintf("#%02x%02x%02x", n.R, n.G, n.B)
}
