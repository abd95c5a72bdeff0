package draw

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg/vgsvg"

	"calib/reports/figure"
)

// fonts have the same widths: viewers that lack the first take another.
const fonts = "'Liberation Sans',Arimo,Arial,Helvetica,sans-serif"

// svg is the page as an SVG. The canvas of vgsvg writes every style into an attribute, which the policy of an HTML page
// forbids: here a property is an attribute of its own, shapes of one style are one path, and there are words for those
// who cannot see the figure, and titles for those who want to read a value off it.
func (p *page) svg(f figure.Figure) string {
	c := vgsvg.New(p.width, p.total)
	p.draw(c)
	var drawn bytes.Buffer
	if _, err := c.WriteTo(&drawn); err != nil {
		panic(err) // memory takes all
	}
	var out strings.Builder
	frame := fmt.Sprintf(`viewBox="0 0 %.5g %.5g" role="img" font-family="%s"`, p.width, p.total, fonts)
	if p.ground {
		frame = fmt.Sprintf(`xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="%.5gpt" height="%.5gpt" %s`,
			p.width, p.total, frame)
		out.WriteString("<?xml version=\"1.0\"?>\n")
	}
	fmt.Fprintf(&out, "<svg %s>\n<title>%s</title>\n<desc>%s</desc>\n", frame, escape(clean(f.Title)), escape(clean(f.Says)))
	_, body, _ := strings.Cut(drawn.String(), "xlink\">\n")
	out.WriteString(compact(strings.TrimSuffix(body, "</svg>\n")))
	if len(p.spots) > 0 {
		out.WriteString("<g class=\"values\" fill=\"none\" pointer-events=\"all\">\n")
	}
	for _, s := range p.spots {
		size := s.Size()
		fmt.Fprintf(&out, `<rect x="%.4g" y="%.4g" width="%.3g" height="%.3g"`, s.Min.X, p.total-s.Max.Y, size.X, size.Y)
		if s.text == "" {
			out.WriteString(" class=\"cells\"/>\n")
		} else {
			fmt.Fprintf(&out, "><title>%s</title></rect>\n", escape(lines(s.text)))
		}
	}
	if len(p.spots) > 0 {
		out.WriteString("</g>\n")
	}
	out.WriteString("</svg>\n")
	return out.String()
}

// Patterns of what vgsvg writes. None can occur in text, where quotes are escaped.
var (
	styleAttribute = regexp.MustCompile(`\s+style="([^"]*)"`)
	pathElement    = regexp.MustCompile(`^<path d="([^"]*)"(.*) />$`)
)

// compact writes styles as attributes, and as one path the shapes of one style that follow each other. Those that let
// through what is behind them stay apart.
func compact(body string) string {
	body = styleAttribute.ReplaceAllStringFunc(body, attributes)
	body = strings.ReplaceAll(body, "<image ", `<image preserveAspectRatio="none" image-rendering="pixelated" `)
	body = strings.ReplaceAll(body, "data:image/jpg;", "data:image/png;")
	var out, shapes []string // shapes of a style
	style := ""
	end := func() {
		if len(shapes) > 0 {
			out = append(out, `<path d="`+strings.Join(shapes, "")+`"`+style+"/>")
			shapes = nil
		}
	}
	for _, line := range strings.Split(body, "\n") {
		m := pathElement.FindStringSubmatch(line)
		if m == nil || m[2] != style || strings.Contains(style, "-opacity") {
			end()
		}
		if m == nil {
			out = append(out, line)
			continue
		}
		shapes, style = append(shapes, m[1]), m[2]
	}
	end()
	return strings.Join(out, "\n")
}

// attributes writes a style as attributes, without the font, which the whole figure has.
func attributes(style string) string {
	var out strings.Builder
	for _, property := range strings.Split(styleAttribute.FindStringSubmatch(style)[1], ";") {
		if name, value, _ := strings.Cut(property, ":"); name != "font-family" && value != "normal" {
			fmt.Fprintf(&out, ` %s="%s"`, name, value)
		}
	}
	return out.String()
}

func escape(s string) string { return html.EscapeString(s) }

// lines cleans each line of s.
func lines(s string) string {
	all := strings.Split(s, "\n")
	for i := range all {
		all[i] = clean(all[i])
	}
	return strings.Join(all, "\n")
}
