package html

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"calib/internal/needs"
)

// browser is a Chromium of this test alone, with everything it complained of and asked for.
type browser struct {
	ctx context.Context

	mu         sync.Mutex
	complaints []string
	requests   []string
}

// startLimit is how long Chromium may take to start. Read from a cold disk it needs over 20 s, chromedp's own limit; a
// fresh machine is cold.
const startLimit = 3 * time.Minute

// newBrowser starts Chromium with an empty profile; it ends with the test.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := needs.Program(t, "chromium")
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-dev-shm-usage", true), chromedp.WSURLReadTimeout(startLimit))
	ctx, cancel := context.WithTimeout(context.Background(), startLimit+time.Minute)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	b := &browser{ctx: ctx}
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil { // waits until the browser has gone
			t.Errorf("ending chromium: %v", err)
		}
		closeTab()
	})
	chromedp.ListenTarget(ctx, b.listen)
	b.run(t, cdplog.Enable(), network.Enable(), runtime.Enable())
	return b
}

func (b *browser) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *cdplog.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text)
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, fmt.Sprintf("console.%s %s", e.Type, e.Args[0].Value))
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Error())
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	}
}

func (b *browser) run(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		t.Fatal(err)
	}
}

// eval evaluates an expression, or a promise, in the page.
func eval[T any](t *testing.T, b *browser, js string) T {
	t.Helper()
	var v T
	await := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	b.run(t, chromedp.Evaluate(js, &v, await))
	return v
}

// open writes a page and opens it, at a size.
func (b *browser) open(t *testing.T, text string, width, height int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	b.size(t, width, height)
	b.run(t, chromedp.Navigate("file://"+path))
	return "file://" + path
}

func (b *browser) size(t *testing.T, width, height int64) {
	t.Helper()
	b.run(t, emulation.SetDeviceMetricsOverride(width, height, 1, width < 600))
}

// quiet fails on any message, and on any request but for the page itself.
func (b *browser) quiet(t *testing.T, url string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		t.Errorf("the browser says: %s", c)
	}
	for _, r := range b.requests {
		if r != url && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "blob:") && r != "about:blank" {
			t.Errorf("request for %s", r)
		}
	}
}
