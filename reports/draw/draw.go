// Package draw renders figures to SVG and PNG files without a browser, as one would print them in a paper: white
// ground, colours that the colour-blind can tell apart and that differ in dash or shape in black and white, labels
// beside the data and never on it, and under each figure the sentence that says what to see. A figure grows in height
// for its words.
//
// What cannot be drawn is left out and counted under the figure: not a number, or zero and below on a logarithmic axis.
//
// gonum.org/v1/plot draws. This package keeps what it does worse, measured with v0.17.0:
//
//   - ticks: plot.LogTicks labels decades with bare numbers and none below one decade, and plot.TimeTicks puts dates at round
//     counts of seconds; here a label has its unit (1 KiB, 10 µs), and a date is the start of a day or month.
//   - the sizes of panels: plot.Align makes all data areas equally high, and a panel of residuals needs a third.
//   - the columns of the legend: plot.Legend has one; here several legends stand side by side above the data.
//   - labels of marks above a panel, and the fit of an axis to data whose intervals reach far out.
package draw

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"calib/internal/files"
	"calib/reports/figure"
)

// Formats that Write knows.
const (
	SVG = "svg"
	PNG = "png"
)

// ErrFormat is a format that Write does not know.
var ErrFormat = errors.New("unknown format")

// dpi is the resolution of a PNG.
const dpi = 300

// Write draws f. Equal figures are equal bytes.
func Write(w io.Writer, f figure.Figure, format string) error {
	if err := known(format); err != nil {
		return err
	}
	p, err := newPage(f)
	if err != nil {
		return fmt.Errorf("draw %s: %w", f.ID, err)
	}
	if format == SVG {
		c := vgsvg.New(pageWidth, p.height)
		p.draw(c)
		return writeSVG(w, c, f)
	}
	c := vgimg.NewWith(vgimg.UseWH(pageWidth, p.height), vgimg.UseDPI(dpi))
	p.draw(c)
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(w); err != nil {
		return fmt.Errorf("draw %s: %w", f.ID, err)
	}
	return nil
}

// Files draws each figure into dir, which it makes where it is not there, as a file named after its ID, and returns the
// paths. A file is there whole or not at all; an error ends the work, and the files named by then are complete.
func Files(dir string, figs []figure.Figure, format string) ([]string, error) {
	if err := known(format); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, f := range figs {
		if f.ID == "" || f.ID != filepath.Base(f.ID) || strings.HasPrefix(f.ID, ".") {
			return nil, fmt.Errorf("figure %q: the ID is no file name", f.ID)
		}
		if seen[f.ID] {
			return nil, fmt.Errorf("figure %q: two figures of that ID", f.ID)
		}
		seen[f.ID] = true
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the directory of the figures: %w", err)
	}
	var out []string
	for _, f := range figs {
		path := filepath.Join(dir, f.ID+"."+format)
		if err := files.ReplaceBy(path, func(w io.Writer) error { return Write(w, f, format) }); err != nil {
			return out, err
		}
		out = append(out, path)
	}
	return out, nil
}

func known(format string) error {
	if format != SVG && format != PNG {
		return fmt.Errorf("figure format %q: %w; want %s or %s", format, ErrFormat, SVG, PNG)
	}
	return nil
}

// writeSVG adds what the canvas does not write: words for those who cannot see the figure, and fonts of the same widths
// for viewers that lack the first. The pattern cannot occur in text, where the quote is escaped.
func writeSVG(w io.Writer, c *vgsvg.Canvas, f figure.Figure) error {
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return fmt.Errorf("draw %s: %w", f.ID, err)
	}
	text := strings.ReplaceAll(b.String(), `style="font-family:Liberation Sans;`,
		`style="font-family:'Liberation Sans',Arimo,Arial,Helvetica,sans-serif;`)
	const head = `xmlns:xlink="http://www.w3.org/1999/xlink">`
	words := fmt.Sprintf(" role=\"img\">\n<title>%s</title>\n<desc>%s</desc>",
		html.EscapeString(clean(f.Title)), html.EscapeString(clean(f.Says)))
	text = strings.Replace(text, head, strings.TrimSuffix(head, ">")+words, 1)
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("draw %s: %w", f.ID, err)
	}
	return nil
}
