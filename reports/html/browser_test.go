package html

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"calib/fit/models"
	"calib/params"
	"calib/reports"
	"calib/reports/figure"
)

// pageForBrowser has every kind of figure and a history. Names that look like markup must not become it.
func pageForBrowser(t *testing.T) string {
	t.Helper()
	p := fixture(t)
	figures := examples()
	figures[3].Heat.Names[0], figures[0].Traces[3].Name = `<a href="https://example.org">h1</a>`, `<a href="https://x.org">m</a> & n`
	return render(t, p, figures, Options{Dir: "runs/1", History: []figure.Figure{timeline()}})
}

func TestInBrowser(t *testing.T) {
	b := newBrowser(t)
	url := b.open(t, pageForBrowser(t), 1200, 900)

	t.Run("contents", func(t *testing.T) {
		if n := eval[int](t, b, `document.querySelectorAll("nav a").length`); n < 12 {
			t.Fatalf("%d links in the contents", n)
		}
		bad := eval[[]string](t, b, `(async () => {
		  const bad = [];
		  document.documentElement.style.scrollBehavior = "auto";
		  for (const a of document.querySelectorAll("nav a")) {
		    a.click();
		    const id = decodeURIComponent(a.hash.slice(1)), to = document.getElementById(id);
		    await new Promise(requestAnimationFrame);
		    const top = to ? to.getBoundingClientRect().top : 1e9;
		    if (location.hash !== a.hash || top < -5 || top > innerHeight) bad.push(a.hash + " at " + top);
		  }
		  return bad;
		})()`)
		if len(bad) > 0 {
			t.Errorf("links that do not lead where they say: %q", bad)
		}
	})
	t.Run("figures", func(t *testing.T) {
		for js, want := range map[string]int{
			`document.querySelectorAll("figure svg[role=img]").length`:                                                                         7, // two of them small
			`document.querySelectorAll("#t-x .values title").length`:                                                                           8, // four points and four residuals
			`document.querySelectorAll("#pairs-latency .values title").length`:                                                                 6,
			`document.querySelectorAll("#pairs-latency svg image").length`:                                                                     2, // the cells, the scale
			`document.querySelectorAll("a[href^=http], svg a, svg [style]").length`:                                                            0,
			`[...document.querySelectorAll("#t-x text")].filter((e) => /^[0-9]+ (B|KiB|MiB|µs|ms|s)$/.test(e.textContent)).length > 8 ? 1 : 0`: 1,
		} {
			if n := eval[int](t, b, js); n != want {
				t.Errorf("%s = %d, want %d", js, n, want)
			}
		}
		all := eval[string](t, b, `[...document.querySelectorAll("svg title, svg text")].map((e) => e.textContent).join("\n")`)
		for _, want := range []string{"message size", "one packet", "hyperbola, 95%", `<a href="https://x.org">m</a> & n at 1 KiB: 21 µs (95% 20 … 30)`, "40 timings",
			"hyperbola at 1 B: 1 %", `<a href="https://example.org">h1</a> → h2: 4 ms`} {
			if !strings.Contains(all, want) {
				t.Errorf("no figure says %q", want)
			}
		}
	})
	t.Run("dark", func(t *testing.T) { darkAndLight(t, b) })
	t.Run("print", func(t *testing.T) { prints(t, b) })
	t.Run("read", func(t *testing.T) { reads(t, b) })
	b.quiet(t, url)
}

// reads: the pointer and the arrow keys show the values of points, and of cells that have titles or numbers.
func reads(t *testing.T, b *browser) {
	for _, c := range []struct{ do, want string }{
		{`svg.dispatchEvent(new PointerEvent("pointerenter")); svg.dispatchEvent(new PointerEvent("pointermove", {clientX: box.right, clientY: box.top}))`,
			`<a href="https://x.org">m</a> & n at 4 MiB: 40 ms (95% 40 … 50)`},
		{`svg.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft"}))`, `<a href="https://x.org">m</a> & n at 64 KiB: 500 µs (95% 400 … 600)`},
		{`svg.dispatchEvent(new PointerEvent("pointerleave"))`, ""},
	} {
		got := eval[string](t, b, `(() => {
		  const svg = document.querySelector("#t-x svg"), box = svg.getBoundingClientRect();
		  `+c.do+`;
		  const tip = document.querySelector("#t-x .tip");
		  return tip.hidden ? "" : tip.textContent;
		})()`)
		if got != c.want {
			t.Errorf("after %s: %q, want %q", c.do, got, c.want)
		}
	}
	if left := eval[string](t, b, `[...document.querySelectorAll("#t-x title")].map((e) => e.textContent).join()`); left != "" {
		t.Errorf("titles beside the values shown: %s", left)
	}
}

// Of a matrix of many cells the values are numbers under it: the script reads them there.
func TestReadsManyCells(t *testing.T) {
	heat := &figure.Heat{Unit: "s", Better: params.BetterLower}
	for r := range 20 {
		heat.Names, heat.Z = append(heat.Names, fmt.Sprintf("h%d", r)), append(heat.Z, make([]float64, 20))
		for c := range 20 {
			heat.Z[r][c] = 1e-3 * float64(r+1)
		}
	}
	heat.Z[2][1] = math.NaN()
	b := newBrowser(t)
	url := b.open(t, render(t, fixture(t), []figure.Figure{{ID: "m", Section: "Pairs", Title: "Latency", Heat: heat}},
		Options{}), 1200, 900)
	got := eval[string](t, b, `(() => {
	  const svg = document.querySelector("#m svg"), box = svg.querySelector(".cells").getBoundingClientRect();
	  svg.dispatchEvent(new PointerEvent("pointerenter"));
	  const at = (c, r) => {
	    svg.dispatchEvent(new PointerEvent("pointermove",
	      {clientX: box.left + (c + 0.5) * box.width / 20, clientY: box.top + (r + 0.5) * box.height / 20}));
	    return document.querySelector("#m .tip").textContent;
	  };
	  return [at(3, 0), at(19, 19), at(1, 2)].join("; ");
	})()`)
	if want := "h0 → h3: 1 ms; h19 → h19: 20 ms; h2 → h1: not measured"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
	b.quiet(t, url)
}

// darkAndLight: colours of page and figures follow the system, also while the page is open.
func darkAndLight(t *testing.T, b *browser) {
	colours := `[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector("#t-x text")).fill,
	  getComputedStyle(document.querySelector("#t-x path[stroke='#e4e4e4']")).stroke].join("|")`
	seen := map[string]string{}
	for _, scheme := range []string{"light", "dark", "light"} {
		b.run(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme",
			Value: scheme}}))
		now := eval[string](t, b, `new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(() => d(`+colours+`))))`)
		if was, again := seen[scheme]; again && was != now {
			t.Errorf("%s: colours were %q, now %q", scheme, was, now)
		}
		seen[scheme] = now
	}
	light, dark := strings.Split(seen["light"], "|"), strings.Split(seen["dark"], "|")
	for i := range light {
		if light[i] == "" || light[i] == dark[i] {
			t.Errorf("the same colour in light and dark: %q", light[i])
		}
	}
}

// prints: what is folded is printed, and the page is as before.
func prints(t *testing.T, b *browser) {
	var pdf []byte
	folded := `document.querySelectorAll("details:not([open])").length`
	was := eval[int](t, b, folded)
	eval[bool](t, b, `(addEventListener("beforeprint", () => { window.foldedInPrint = `+folded+`; }), true)`)
	b.run(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().Do(ctx)
		return err
	}))
	if !strings.HasPrefix(string(pdf), "%PDF-") || len(pdf) < 20_000 {
		t.Errorf("%d bytes of PDF", len(pdf))
	}
	if n := eval[int](t, b, `window.foldedInPrint`); n > 0 {
		t.Errorf("%d parts are folded in print", n)
	}
	if n := eval[int](t, b, folded); n != was || n == 0 {
		t.Errorf("%d parts are folded after printing, %d before", n, was)
	}
}

// fits: nothing makes the page wider than the screen.
func fits(t *testing.T, b *browser, width int) {
	t.Helper()
	if w := eval[int](t, b, `document.documentElement.scrollWidth`); w > width {
		t.Errorf("the page is %d px wide on a screen of %d", w, width)
	}
	over := eval[[]string](t, b, `[...document.querySelectorAll("svg")].filter((s) => s.getBoundingClientRect().right > innerWidth)
	  .map((s) => s.closest("figure").id)`)
	if len(over) > 0 {
		t.Errorf("figures wider than a screen of %d: %q", width, over)
	}
}

// The pages of recorded runs fit their screens, follow the system's colours, and are printed whole. What everybody
// looks for is on the first screen.
func TestRecorded(t *testing.T) {
	recorded, err := filepath.Glob("../../fit/models/testdata/*/params.json.gz")
	if err != nil || len(recorded) < 6 {
		t.Fatalf("%d recorded runs: %v", len(recorded), err)
	}
	b := newBrowser(t)
	since := reports.Table{Title: "Since", Grid: reports.NewGrid("parameter/symbol", "change")}
	for range 8 {
		since.Add("a", "+1%")
	}
	for _, path := range recorded {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			o := Options{Dir: "runs/1", Since: since}
			p, err := params.Decode(unpacked(t, path))
			if err == nil {
				err = p.ReadPoints(unpacked(t, filepath.Join(filepath.Dir(path), "points.json.gz")))
			}
			if err != nil {
				t.Fatal(err)
			}
			b.open(t, render(t, p, figure.Build(p, models.Plots, nil), o), 1280, 900)
			bottom := `document.querySelector(".glance").getBoundingClientRect().bottom`
			if at := eval[float64](t, b, bottom); at > 900 {
				t.Errorf("the figures of the first screen end at %.0f px of 900", at)
			}
			beside := eval[bool](t, b, `(() => {
			  const cell = document.querySelector("td.odd"), map = document.querySelector("#glance-pairs-latency");
			  if (!cell || !map) return false;
			  const odd = cell.getBoundingClientRect(), all = map.getBoundingClientRect();
			  return odd.left >= all.right && odd.top >= all.top && odd.bottom <= all.bottom;
			})()`)
			if odd := len(reports.OddOf(p).Rows) > 0; beside != odd {
				t.Errorf("odd hosts %v, and beside the matrix of pairs %v", odd, beside)
			}
			for _, width := range []int{1280, 1100, 700, 600, 390} {
				b.size(t, int64(width), 900)
				fits(t, b, width)
			}
			darkAndLight(t, b)
			prints(t, b)
		})
	}
}

func unpacked(t *testing.T, path string) io.Reader {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// On a phone nothing makes the page wider than the screen, and letters can be read.
func TestOnPhone(t *testing.T) {
	b := newBrowser(t)
	url := b.open(t, pageForBrowser(t), 360, 760)
	fits(t, b, 360)
	scale := `document.querySelector("#t-x svg").getScreenCTM().a`
	if small := eval[float64](t, b, scale+` * 8`); small < 7 {
		t.Errorf("labels of %.1f px", small)
	}
	b.size(t, 1200, 800)
	if wide := eval[float64](t, b, scale); wide < 1.5 {
		t.Errorf("a figure does not follow the width of the window: scaled by %.2f", wide)
	}
	b.quiet(t, url)
}

// The first screen has a picture beside its words.
func TestFirstScreen(t *testing.T) {
	b := newBrowser(t)
	url := b.open(t, pageForBrowser(t), 1280, 900)
	if !eval[bool](t, b, `document.querySelector(".glance svg").getBoundingClientRect().width > 100`) {
		t.Fatal("no small figure")
	}
	if at := eval[float64](t, b, `document.querySelector(".glance").getBoundingClientRect().bottom`); at > 900 {
		t.Errorf("it ends at %.0f px of 900", at)
	}
	b.quiet(t, url)
}

// On a narrow screen a row of a table is a card: no word is broken into letters, and each value has the name of its
// column.
func TestCards(t *testing.T) {
	for _, width := range []int64{390, 600} {
		b := newBrowser(t)
		url := b.open(t, pageForBrowser(t), width, 800)
		narrow := eval[float64](t, b, `Math.min(...[...document.querySelectorAll(".opening td")].filter((d) => d.textContent.length > 20)
		  .map((d) => d.getBoundingClientRect().width))`)
		if narrow < 0.7*float64(width) {
			t.Errorf("%d px: a cell of the parameters has %.0f", width, narrow)
		}
		if name := eval[string](t, b, `getComputedStyle(document.querySelector(".opening td[data-name]"), "::before").content`); len(name) < 4 {
			t.Errorf("%d px: a value without the name of its column: %s", width, name)
		}
		b.quiet(t, url)
	}
}

// Without scripts every table, sentence and figure is there.
func TestWithoutScript(t *testing.T) {
	b := newBrowser(t)
	b.run(t, emulation.SetScriptExecutionDisabled(true))
	url := b.open(t, pageForBrowser(t), 1200, 900)
	var text string
	b.run(t, chromedp.Text("body", &text, chromedp.ByQuery))
	for _, want := range []string{"a shared medium", "cost of a message at a host", "It is flat, then rises.",
		"message size", "hyperbola, 95%", "bcast-binary"} {
		if !strings.Contains(text, want) {
			t.Errorf("without scripts the page does not say %q", want)
		}
	}
	b.quiet(t, url)
}
