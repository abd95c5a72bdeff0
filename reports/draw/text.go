package draw

import (
	"image/color"
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/vg"
)

// fonts are the faces of a page.
type fonts struct {
	title, label, small, note font.Face
}

func newFonts() fonts {
	var regular, bold font.Face
	for _, f := range liberation.Collection() {
		switch {
		case f.Font.Variant != "Sans" || f.Font.Style != 0:
		case f.Font.Weight == 0:
			regular = f
		default:
			bold = f
		}
	}
	of := func(f font.Face, size vg.Length) font.Face {
		f.Font.Size = size
		return f
	}
	return fonts{title: of(bold, 11), label: of(regular, 9), small: of(regular, 8), note: of(regular, 8.5)}
}

// maxText bounds the letters of one text.
const maxText = 4000

// clean makes s one line of letters that every format can carry.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF || unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > maxText {
		s = string(r[:maxText]) + "…"
	}
	return s
}

// clip shortens s to width, with an ellipsis where it was longer.
func clip(s string, f font.Face, width vg.Length) string {
	s = clean(s)
	if f.Width(s) <= width {
		return s
	}
	r := []rune(s)
	return string(r[:fits(r, f, width-f.Width("…"))]) + "…"
}

// fits is how many of r are no wider than width.
func fits(r []rune, f font.Face, width vg.Length) int {
	lo, hi := 0, len(r)
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if f.Width(string(r[:mid])) <= width {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// wrap breaks s into lines no wider than width, at spaces where it can; what does not fit into the lines allowed ends in
// an ellipsis.
func wrap(s string, f font.Face, width vg.Length, lines int) []string {
	var out []string
	rest := []rune(clean(s))
	for len(rest) > 0 {
		if len(out) == lines-1 {
			return append(out, clip(string(rest), f, width))
		}
		n := max(fits(rest, f, width), 1)
		next := n
		if n < len(rest) {
			for i := n; i > 0; i-- {
				if rest[i] == ' ' {
					n, next = i, i+1
					break
				}
			}
		}
		out = append(out, string(rest[:n]))
		rest = rest[next:]
	}
	return out
}

// Places of a text beside its point.
const (
	left   = 0
	centre = 0.5
	right  = 1
)

// say writes s with its base line at y, and at x its left end, centre or right end.
func (p *page) say(f font.Face, c color.Color, x, y vg.Length, place vg.Length, s string) {
	if s == "" {
		return
	}
	p.c.SetColor(c)
	p.c.FillString(f, vg.Point{X: x - place*f.Width(s), Y: y}, s)
}

// sayUp writes s upwards, its base line at x, and at y its lower end, centre or upper end.
func (p *page) sayUp(f font.Face, c color.Color, x, y vg.Length, place vg.Length, s string) {
	if s == "" {
		return
	}
	p.c.Push()
	p.c.SetColor(c)
	p.c.Rotate(math.Pi / 2)
	p.c.FillString(f, vg.Point{X: y - place*f.Width(s), Y: -x}, s)
	p.c.Pop()
}
