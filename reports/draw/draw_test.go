package draw

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"calib/internal/plot"
	"calib/params"
	"calib/reports/figure"
)

var update = flag.Bool("update", false, "write testdata anew")

// points are those of traces in tests; y, lo and hi may be nil.
func points(x, y, lo, hi []float64, text ...string) (out []figure.Point) {
	for i := range x {
		q := figure.Point{X: x[i]}
		for to, from := range map[*float64][]float64{&q.Y: y, &q.Lo: lo, &q.Hi: hi} {
			if from != nil {
				*to = from[i]
			}
		}
		if text != nil {
			q.Text = text[i]
		}
		out = append(out, q)
	}
	return out
}

// example has every part of a figure: points with bars, a line, bands one inside the other, marks, a gap, residuals
// below.
func example() figure.Figure {
	nan := math.NaN()
	x := []float64{1, 64, 1024, 65536, 1 << 20}
	return figure.Figure{
		ID: "t-x", Title: "Time of a message", Says: "Small messages take 390 µs; a < b & \"c\" in words.",
		X: figure.Axis{Name: "message size", Unit: "B", Log: true},
		Y: figure.Axis{Name: "half round trip", Unit: "s", Log: true},
		Traces: []figure.Trace{
			{Name: "5–95%", Kind: figure.Band, Points: points(x, nil, []float64{3e-4, 3e-4, 5e-4, 9e-3, 0.1},
				[]float64{5e-4, 5e-4, 8e-4, 0.02, 0.3})},
			{Name: "25–75%", Kind: figure.Band, Points: points(x, nil, []float64{3.5e-4, 3.6e-4, 6e-4, 0.01, 0.15},
				[]float64{4e-4, 4.5e-4, 7e-4, 0.015, 0.25})},
			{Name: "hyperbola", Kind: figure.Line, Group: 1,
				Points: points(x, []float64{3.9e-4, 4e-4, nan, 0.012, 0.2}, nil, nil)},
			{Name: "measured", Kind: figure.Points, Points: points(x, []float64{3.9e-4, nan, 6.5e-4, 0.013, 0.21},
				[]float64{3.8e-4, nan, 6e-4, 1e-5, 0.2}, []float64{4e-4, nan, 7e-4, 0.02, 0.22})},
		},
		Marks: []figure.Mark{{X: 1448, Lo: 1200, Hi: 1800, Label: "MSS 1448 B"}, {X: 1500, Label: "best fragment 1.46 KiB"}},
		Below: &figure.Figure{Y: figure.Axis{Name: "residual", Unit: "%"}, Traces: []figure.Trace{
			{Name: "hyperbola", Kind: figure.Points, Group: 1, Points: points(x, []float64{0.1, -2, 5, 1, 0}, nil, nil)}}},
	}
}

// exampleHeat has a host that is slow in both directions, and a pair that was not measured.
func exampleHeat() figure.Figure {
	nan := math.NaN()
	return figure.Figure{ID: "pairs", Title: "Latency between hosts", Says: "Host c is slow.",
		X: figure.Axis{Name: "to"}, Y: figure.Axis{Name: "from"},
		Heat: &figure.Heat{Names: []string{"a", "b", "c"}, Unit: "s", Better: params.BetterLower,
			Z:       [][]float64{{nan, 1e-4, 2e-4}, {1.1e-4, nan, 2.1e-4}, {2e-4, nan, nan}},
			Flagged: []figure.Flag{{Row: 0, Col: 2}, {Row: 1, Col: 2}}}}
}

// examples are figures by the name of their golden file.
func examples() map[string]figure.Figure {
	day := float64(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Unix())
	dates := figure.Figure{Title: "L", X: figure.Axis{Name: "run", Unit: "time"}, Y: figure.Axis{Name: "L", Unit: "s"},
		Traces: []figure.Trace{{Name: "L", Kind: figure.Points,
			Points: points([]float64{day, day + 86400*9, day + 86400*20}, []float64{1e-4, 1.1e-4, 2e-4}, nil, nil)}}}
	return map[string]figure.Figure{"lines": example(), "heat": exampleHeat(), "dates": dates,
		"empty": {Title: "Nothing yet"}}
}

func svg(t *testing.T, f figure.Figure) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f, SVG); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// texts are the words that an SVG shows.
func texts(t *testing.T, doc string) []string {
	t.Helper()
	var out []string
	dec := xml.NewDecoder(strings.NewReader(doc))
	in := false
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		switch v := tok.(type) {
		case xml.StartElement:
			in = v.Name.Local == "text"
		case xml.EndElement:
			in = false
		case xml.CharData:
			if in {
				out = append(out, string(v))
			}
		}
	}
}

func TestGolden(t *testing.T) {
	for name, f := range examples() {
		got := svg(t, f)
		if again := svg(t, f); again != got {
			t.Errorf("%s: two drawings differ", name)
		}
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from %s: draw it with -update and look", name, path)
		}
	}
}

func TestWords(t *testing.T) {
	for name, want := range map[string][]string{
		"lines": {"1 B", "4 KiB", "1 ms", "100 ms", "message size", "half round trip", "residual (%)", "MSS 1448 B",
			"measured",
			"hyperbola", "best fragment 1.46 KiB",
			`Small messages take 390 µs; a < b & "c" in words.`},
		"heat":  {"a", "c", "from", "to", "stands out", "not measured", "µs", "200", "Host c is slow."},
		"dates": {"2026-03-05", "2026-03-19", "run (UTC)", "L (µs)", "100", "200"},
		"empty": {"Nothing yet", "0.0", "1.0"},
	} {
		f := examples()[name]
		all := "\n" + strings.Join(texts(t, svg(t, f)), "\n") + "\n"
		for _, w := range want {
			if !strings.Contains(all, "\n"+w+"\n") {
				t.Errorf("%s: no text %q in%s", name, w, all)
			}
		}
	}
}

// What is counted has ticks at whole numbers, though its fit is drawn between them.
func TestWholeTicks(t *testing.T) {
	x := []float64{1, 1.5, 2}
	f := figure.Figure{ID: "a-n", Title: "a' by pairs", X: plot.Axis{Name: "pairs"}, Y: plot.Axis{Name: "a'", Unit: "s"},
		Traces: []figure.Trace{
			{Name: "a'(n)", Kind: figure.Points, Points: points([]float64{1, 2}, []float64{1e-3, 2e-3}, nil, nil)},
			{Name: "fit", Kind: figure.Line, Points: points(x, []float64{1e-3, 1.5e-3, 2e-3}, nil, nil)},
			{Name: "fit, 95%", Kind: figure.Band, Points: points(x, x, []float64{0, 1e-3, 1e-3}, []float64{2e-3, 2e-3, 3e-3})},
		}}
	all := strings.Join(texts(t, svg(t, f)), " ")
	if want := "95% pairs 1 2 a' (ms)"; !strings.Contains(all, want) {
		t.Errorf("no %q in %q", want, all)
	}
}

func TestPNG(t *testing.T) {
	var a, b bytes.Buffer
	if err := errors.Join(Write(&a, example(), PNG), Write(&b, example(), PNG)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two drawings differ")
	}
	img, err := png.Decode(&a)
	if err != nil {
		t.Fatal(err)
	}
	if w := img.Bounds().Dx(); w != 2000 {
		t.Errorf("%d pixels wide, want 480 points at 300 dpi", w)
	}
	if r, g, b, alpha := img.At(0, 0).RGBA(); r+g+b+alpha != 4*0xffff {
		t.Error("the ground is not white")
	}
}

func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "figures")
	got, err := Files(dir, []figure.Figure{example(), exampleHeat()}, SVG)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "t-x.svg"), filepath.Join(dir, "pairs.svg")}
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %v, want %v", got, want)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left %v, %v", left, err)
	}
	if b, err := os.ReadFile(want[0]); err != nil || string(b) != svg(t, example()) {
		t.Errorf("the file is not the figure: %v", err)
	}
	if _, err := Files(filepath.Join(want[0], "x"), nil, PNG); err == nil {
		t.Error("a directory inside a file")
	}
}

// full is a disk with no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestWriteFails(t *testing.T) {
	for _, format := range []string{SVG, PNG} {
		if err := Write(full{}, example(), format); !errors.Is(err, io.ErrShortWrite) ||
			!strings.Contains(err.Error(), "t-x") {
			t.Errorf("%s: %v", format, err)
		}
	}
}
