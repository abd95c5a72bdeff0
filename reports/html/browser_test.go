package html

import (
	"context"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"calib/internal/needs"
	"calib/reports/figure"
)

// pageForBrowser has every kind of figure and a history. Names that look like markup must not become it, nor upset
// Plotly.
func pageForBrowser(t *testing.T) string {
	t.Helper()
	p := fixture(t)
	figures := examples()
	figures[3].Heat.Rows[0], figures[0].Traces[3].Name = `<a href="https://example.org">h1</a>`, `<a href="https://x.org">m</a> & n`
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
		drawn := eval[bool](t, b, `(async () => {
		  for (const f of document.querySelectorAll("figure")) {
		    f.scrollIntoView();
		    if (!await (`+until+`)(() => f.querySelector("svg.main-svg"))) return false;
		  }
		  return true;
		})()`)
		if !drawn {
			t.Error("a figure is not drawn after it was scrolled to")
		}
		for js, want := range map[string]int{
			`document.querySelectorAll("figure").length`:                             6, // one of them small
			`document.querySelectorAll("figure.drawn").length`:                       6,
			`document.querySelectorAll("#t-x .scatterlayer .trace.scatter").length`:  5,
			`document.querySelectorAll("#t-x .legendtoggle").length`:                 3, // not the interval of the line
			`document.querySelectorAll("#t-x .annotation").length`:                   2,
			`document.querySelectorAll("#pairs-latency .heatmaplayer image").length`: 1,
			`document.querySelectorAll("#pairs-latency .shapelayer path").length`:    1,
			`document.querySelectorAll("a[href^=http], svg a, .modebar").length`:     0,
			`[...document.querySelectorAll("#t-x .xtick, #t-x .ytick, #t-x .y2tick")].filter((e) => /[0-9] (B|KiB|MiB|µs|ms|s|%)$/.test(e.textContent)).length > 8 ? 1 : 0`: 1,
		} {
			if n := eval[int](t, b, js); n != want {
				t.Errorf("%s = %d, want %d", js, n, want)
			}
		}
	})
	if ticks := eval[string](t, b, `[...document.querySelectorAll("#a-n .xtick")].map((e) => e.textContent).join(" ").trim()`); ticks != "1 2" {
		t.Errorf("ticks at %q pairs", ticks)
	}
	t.Run("zoom", func(t *testing.T) {
		labels := `[...document.querySelectorAll("#t-x .xtick")].map((e) => e.textContent).join(" ")`
		got := eval[string](t, b, `Plotly.relayout(document.querySelector("#t-x .plot"), {"xaxis.range": [0, 1]})
		  .then(() => (`+until+`)(() => /2 B/.test(`+labels+`))).then(() => `+labels+`)`)
		if !strings.Contains(got, "1 B 2 B 4 B 8 B") {
			t.Errorf("ticks after zooming to 1…10 B: %q", got)
		}
	})
	t.Run("numbers", func(t *testing.T) {
		for id, want := range map[string]string{"t-x": "64 KiB", "pairs-latency": "4 ms"} {
			got := eval[string](t, b, `(async () => {
			  const d = document.querySelector("#`+id+` .tools details");
			  d.open = true;
			  await (`+until+`)(() => d.querySelector("td"));
			  return d.innerText;
			})()`)
			if !strings.Contains(got, want) {
				t.Errorf("numbers of %s without %s: %q", id, want, got)
			}
		}
	})
	t.Run("save", func(t *testing.T) { saves(t, b) })
	t.Run("dark", func(t *testing.T) { darkAndLight(t, b) })
	t.Run("print", func(t *testing.T) { prints(t, b, 6) })
	t.Run("resize", func(t *testing.T) { heatFollows(t, b) })
	b.quiet(t, url)
}

// saves: a figure can be kept as a file of its own.
func saves(t *testing.T, b *browser) {
	dir, done := t.TempDir(), make(chan struct{})
	chromedp.ListenTarget(b.ctx, func(event any) {
		if e, ok := event.(*cdpbrowser.EventDownloadProgress); ok && e.State == cdpbrowser.DownloadProgressStateCompleted {
			close(done)
		}
	})
	b.run(t, cdpbrowser.SetDownloadBehavior(cdpbrowser.SetDownloadBehaviorBehaviorAllow).WithDownloadPath(dir).WithEventsEnabled(true))
	eval[bool](t, b, `(document.querySelector("#t-x .tools button").click(), true)`)
	select {
	case <-done:
	case <-b.ctx.Done():
		t.Fatal("no file came")
	}
	text, err := os.ReadFile(filepath.Join(dir, "t-x.svg"))
	if err != nil || !strings.HasPrefix(string(text), "<svg") || !strings.Contains(string(text), "message size") {
		t.Errorf("saved %d bytes, %v", len(text), err)
	}
}

// darkAndLight: colours of page and figures follow the system, also while the page is open.
func darkAndLight(t *testing.T, b *browser) {
	colours := `[getComputedStyle(document.body).backgroundColor, document.querySelector("#t-x .xtick text").style.fill,
	  document.querySelector("#t-x .point").style.fill].join("|")`
	seen := map[string]string{}
	for _, scheme := range []string{"light", "dark", "light"} {
		b.run(t, emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
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

// prints: all figures are drawn before the page is printed, none wider than its place, and the print is a PDF.
func prints(t *testing.T, b *browser, figures int) {
	var pdf []byte
	eval[bool](t, b, `(addEventListener("beforeprint", () => {
		window.drawnForPrint = document.querySelectorAll("figure .main-svg").length;
		window.cutOff = [...document.querySelectorAll(".glance .plot")].filter((p) => {
			const drawn = p.querySelector(".main-svg").getBoundingClientRect().width;
			return drawn < 100 || drawn > p.clientWidth + 1;
		}).length;
	}), true)`)
	b.run(t, chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = page.PrintToPDF().Do(ctx)
		return err
	}))
	if !strings.HasPrefix(string(pdf), "%PDF-") || len(pdf) < 20_000 {
		t.Errorf("%d bytes of PDF", len(pdf))
	}
	if n := eval[int](t, b, `window.drawnForPrint`); n < figures {
		t.Errorf("%d figures drawn before printing, want %d", n, figures)
	}
	if n := eval[int](t, b, `window.cutOff`); n > 0 {
		t.Errorf("%d small figures do not fit their places", n)
	}
	if eval[bool](t, b, `document.documentElement.classList.contains("printing")`) {
		t.Error("the page is still laid out for printing")
	}
}

// On a phone nothing makes the page wider than the screen; opened and printed at once, all figures are there.
func TestOnPhone(t *testing.T) {
	b := newBrowser(t)
	url := b.open(t, pageForBrowser(t), 360, 760)
	wide := `document.documentElement.scrollWidth`
	if w := eval[int](t, b, wide); w > 360 {
		t.Errorf("the page is %d px wide on a phone of 360", w)
	}
	prints(t, b, 6)
	if !eval[bool](t, b, `(`+until+`)(() => document.querySelectorAll("figure.drawn").length === 6)`) {
		t.Error("figures wait to be scrolled to: a capture of the whole page has none of them")
	}
	if w := eval[int](t, b, wide); w > 360 {
		t.Errorf("with its figures the page is %d px wide on a phone of 360", w)
	}
	over := eval[[]string](t, b, `[...document.querySelectorAll("figure .main-svg")].filter((s) => s.getBoundingClientRect().right > 360)
	  .map((s) => s.closest("figure").id)`)
	if len(over) > 0 {
		t.Errorf("figures wider than a phone: %q", over)
	}
	b.size(t, 1200, 800)
	if !eval[bool](t, b, `(`+until+`)(() => document.querySelector("#t-x .main-svg").getBoundingClientRect().width > 500)`) {
		t.Error("a figure does not follow the width of the window")
	}
	b.quiet(t, url)
}

// heatFollows: the cells of a heat map keep to their axes, and the colour bar beside them, when the window changes its
// width.
func heatFollows(t *testing.T, b *browser) {
	place := `(() => {
	  const f = document.querySelector("#pairs-latency"), box = (s) => f.querySelector(s).getBoundingClientRect();
	  const cells = box(".heatmaplayer image"), axes = box(".nsewdrag"), bar = box(".cbbg");
	  return [cells.left - axes.left, cells.width - axes.width, cells.height - axes.height, axes.width,
	    Math.max(0, Math.min(bar.right, axes.right) - Math.max(bar.left, axes.left)) * Math.max(0, Math.min(bar.bottom, axes.bottom) - Math.max(bar.top, axes.top))];
	})()`
	was := map[int64]float64{} // width of the window → of the cells
	for _, width := range []int64{1280, 500, 1280, 500} {
		b.size(t, width, 900)
		eval[bool](t, b, `(`+until+`)(() => document.querySelector("#pairs-latency .main-svg").getBoundingClientRect().right <= innerWidth)`)
		// A window's new width reaches the figure a frame later, and its picture one after that.
		got := eval[[]float64](t, b, `new Promise((done) => { let n = 20; const look = () => --n ? requestAnimationFrame(look) : done(`+place+`); look(); })`)
		for i, what := range []string{"cells begin off their axis", "cells are wider than their axis", "cells are higher than their axis"} {
			if math.Abs(got[i]) > 2 {
				t.Errorf("at %d px: %s, by %.0f px", width, what, got[i])
			}
		}
		if w, again := was[width]; again && math.Abs(got[3]-w) > 2 {
			t.Errorf("at %d px again: the cells take %.0f px, and took %.0f", width, got[3], w)
		}
		was[width] = got[3]
		if got[4] > 4 {
			t.Errorf("at %d px: the colour bar covers %.0f square pixels of the cells", width, got[4])
		}
	}
}

// The first screen has a picture beside its words.
func TestFirstScreen(t *testing.T) {
	b := newBrowser(t)
	url := b.open(t, pageForBrowser(t), 1280, 800)
	if !eval[bool](t, b, `(`+until+`)(() => document.querySelector(".glance .main-svg"))`) {
		t.Fatal("no small figure")
	}
	if at := eval[float64](t, b, `document.querySelector(".glance").getBoundingClientRect().bottom`); at > 800 {
		t.Errorf("it ends at %.0f px of 800", at)
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

// Without scripts every table and sentence is there, and figures say what they need.
func TestWithoutScript(t *testing.T) {
	b := newBrowser(t)
	b.run(t, emulation.SetScriptExecutionDisabled(true))
	url := b.open(t, pageForBrowser(t), 1200, 900)
	var text string
	b.run(t, chromedp.Text("body", &text, chromedp.ByQuery))
	for _, want := range []string{"behaves like a shared medium", "cost of a message at a host", "It is flat, then rises.", "needs JavaScript", "bcast-binary"} {
		if !strings.Contains(text, want) {
			t.Errorf("without scripts the page does not say %q", want)
		}
	}
	b.quiet(t, url)
}

// A program that captures the page shows nothing to anybody, so that the browser may draw no frame and never be idle:
// the figures are there all the same.
func TestCaptured(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(pageForBrowser(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	for range 4 {
		dom, err := exec.CommandContext(ctx, needs.Program(t, "chromium"), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
			"--user-data-dir="+t.TempDir(), "--window-size=600,1500", "--virtual-time-budget=10000", "--dump-dom", "file://"+file).Output()
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(dom), "main-svg"); n == 0 {
			t.Error("no figure is drawn")
		}
		if n := len(regexp.MustCompile(`<figure[^>]* class="[^"]*drawn`).FindAll(dom, -1)); n != 6 {
			t.Errorf("%d figures are drawn, want 6", n)
		}
	}
}
