// Package draw renders figures: to SVG and PNG files, as one would print them in a paper, and to SVG inside HTML pages.
// Colours can be told apart by the colour-blind, and differ in dash or shape in black and white. Labels stand beside
// the data and never on it. A file has a white ground, and under the figure the sentence that says what to see; it
// grows in height for its words. Each point and cell of an SVG has its value as a title, which viewers show.
//
// What cannot be drawn is left out and counted under the figure: not a number, or zero and below on a logarithmic axis.
//
// gonum.org/v1/plot draws. This package keeps what it does worse, measured with v0.17.0:
//
//   - ticks: plot.LogTicks labels decades with bare numbers and none below one decade, and plot.TimeTicks puts dates at
//     round counts of seconds; here a label has its unit (1 KiB, 10 µs), and a date is the start of a day or month.
//   - the sizes of panels: plot.Align makes all data areas equally high, and a panel of residuals needs a third.
//   - the columns of the legend: plot.Legend has one; here several legends stand side by side above the data.
//   - labels of marks above a panel, and the fit of an axis to data whose intervals reach far out.
//   - SVG: vgsvg writes three times as many bytes, and styles that the policy of an HTML page forbids.
package draw

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot/vg/vgimg"

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
	p := newPage(f, paper, false)
	var out io.WriterTo
	if format == SVG {
		out = strings.NewReader(p.svg(f))
	} else {
		c := vgimg.NewWith(vgimg.UseWH(p.width, p.total), vgimg.UseDPI(dpi))
		p.draw(c)
		out = vgimg.PngCanvas{Canvas: c}
	}
	if _, err := out.WriteTo(w); err != nil {
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

// Inline is f as an element of an HTML page, which has its title and the sentence under it as text. The element takes
// no ground, and has no style of its own: the page may colour it by its attributes.
func Inline(f figure.Figure, l Layout) string { return newPage(f, l, true).svg(f) }
