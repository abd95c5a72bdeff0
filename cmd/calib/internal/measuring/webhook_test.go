package measuring

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"calib/internal/exit"
	"calib/internal/history"
	"calib/run/watch"
)

// hooked is a webhook whose pauses are written down, and not made.
func hooked(t *testing.T, url string) (w *webhook, notes *[]string, pauses *[]time.Duration) {
	t.Helper()
	notes, pauses = new([]string), new([]time.Duration)
	w, err := newWebhook(url, func(text string) { *notes = append(*notes, text) })
	if err != nil {
		t.Fatal(err)
	}
	w.pause = func(_ context.Context, d time.Duration) error { *pauses = append(*pauses, d); return nil }
	return w, notes, pauses
}

// TestWebhook: what has changed is posted as JSON, in order, and marks are not.
func TestWebhook(t *testing.T) {
	ratio := 1.5
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var e watch.Event
		if err := json.Unmarshal(body, &e); err != nil || r.Method != http.MethodPost || !e.At.Equal(noon) ||
			r.Header.Get("Content-Type") != "application/json" ||
			e.Kind == history.EventSlower && (e.Change == nil || *e.Change.Ratio != ratio) {
			t.Errorf("%s %v: %s (%v)", r.Method, r.Header, body, err)
		}
		got = append(got, e.Text)
		out.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	w, notes, _ := hooked(t, server.URL+"/x?y=1")
	for _, e := range []watch.Event{
		{At: noon, Kind: history.EventSlower, Text: "host h1: a\nmessage", Change: &history.Change{Ratio: &ratio}},
		{At: noon, Kind: history.EventMark, Text: "h1 was booted"},
		{At: noon, Kind: history.EventOver, Text: "host h1"},
		{At: noon, Kind: history.EventUsual, Text: "host h2"}, {At: noon, Kind: watch.EventTrouble, Text: "disk full"},
	} {
		w.post(e)
	}
	w.close()
	want := []string{"slower: host h1: a message", "over: host h1", "usual: host h2", "trouble: disk full"}
	if !slices.Equal(got, want) || len(*notes) > 0 {
		t.Errorf("posted %q, want %q; %q", got, want, *notes)
	}
	none, err := newWebhook("", nil)
	none.post(watch.Event{})
	none.close()
	if err != nil {
		t.Error(err)
	}
}

// TestWebhookFails: each event is tried five times; what is lost is said once, and when events are taken again.
func TestWebhookFails(t *testing.T) {
	tries := 0
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if tries++; tries <= 12 {
			out.WriteHeader(http.StatusBadGateway)
		}
	}))
	defer server.Close()
	w, notes, pauses := hooked(t, strings.Replace(server.URL, "http://", "http://u:password@", 1))
	for range 4 {
		w.post(watch.Event{Kind: history.EventOver})
	}
	w.close()
	want := []string{"an event could not be posted to the webhook: it answers 502 Bad Gateway",
		"the webhook takes events again: 2 events were not delivered, and are in the history"}
	if !slices.Equal(*notes, want) {
		t.Errorf("notes %q, want %q", *notes, want)
	}
	four := []time.Duration{time.Second, 4 * time.Second, 16 * time.Second, 64 * time.Second}
	if want := slices.Concat(four, four, four[:2]); tries != 14 || !slices.Equal(*pauses, want) {
		t.Errorf("%d tries with pauses %v, want 14 with %v", tries, *pauses, want)
	}

	server.Close()
	w, notes, _ = hooked(t, strings.Replace(server.URL, "http://", "http://u:password@", 1))
	w.post(watch.Event{Kind: history.EventOver})
	w.close()
	if said := strings.Join(*notes, "|"); !strings.HasSuffix(said, "connection refused") ||
		strings.Contains(said, "password") {
		t.Errorf("notes %q", said)
	}
}

// TestWebhookHangs: a server that does not answer holds up neither the watch nor, for long, its end.
func TestWebhookHangs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}))
	defer server.Close()
	w, notes, _ := hooked(t, server.URL)
	w.ends = time.Millisecond
	for range hookQueue + 10 {
		w.post(watch.Event{Kind: history.EventOver})
	}
	w.close()
	if len(*notes) != 1 {
		t.Errorf("notes %q", *notes)
	}
}

// TestWebhookPauses: a pause ends when the watch does.
func TestWebhookPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := newWebhook("http://calib.invalid", func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		var tried []time.Duration
		begun := time.Now()
		w.client.Transport = transport(func(*http.Request) (*http.Response, error) {
			tried = append(tried, time.Since(begun))
			return nil, io.ErrUnexpectedEOF
		})
		w.post(watch.Event{Kind: history.EventOver})
		time.Sleep(10 * time.Second)
		w.close()
		want := []time.Duration{0, time.Second, 5 * time.Second, 10 * time.Second, 10 * time.Second}
		if !slices.Equal(tried, want) {
			t.Errorf("tries after %v, want %v", tried, want)
		}
	})
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestWebhookURL: what is no URL of the web is wrong use, and no redirect leads elsewhere.
func TestWebhookURL(t *testing.T) {
	for _, url := range []string{"nowhere", "ftp://nowhere/x", "file:///etc/passwd", "http://", "https://:443/",
		"http://a b/", "javascript:1"} {
		w, err := newWebhook(url, nil)
		if w != nil || exit.CodeOf(err) != exit.Usage || strings.Contains(err.Error(), url) {
			t.Errorf("%s: %v", url, err)
		}
	}
	other := httptest.NewTLSServer(http.NotFoundHandler())
	defer other.Close()
	taken := 0
	mux := http.NewServeMux()
	mux.HandleFunc("/taken", func(http.ResponseWriter, *http.Request) { taken++ })
	server := httptest.NewServer(mux)
	defer server.Close()
	for to, want := range map[string]string{
		"308 /taken": "", "302 /taken": "be lost on the way", "307 " + other.URL: "it redirects from http to https",
		"307 ftp://h/x": "it redirects from http to ftp", "307 /circle": "in circles",
	} {
		code, place, _ := strings.Cut(to, " ")
		from := "/" + strings.NewReplacer(" ", "", "/", "").Replace(to)
		mux.HandleFunc(from, func(out http.ResponseWriter, r *http.Request) {
			status := map[string]int{"302": 302, "307": 307, "308": 308}[code]
			if place == "/circle" {
				place = r.URL.Path
			}
			http.Redirect(out, r, place, status)
		})
		w, notes, _ := hooked(t, server.URL+from)
		w.post(watch.Event{Kind: history.EventOver})
		w.close()
		if said := strings.Join(*notes, "|"); want == "" != (said == "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", to, said, want)
		}
	}
	if taken != 1 {
		t.Errorf("%d events were taken", taken)
	}
}

// TestAuthorities: where the system has no certificates of authorities, calib has them.
func TestAuthorities(t *testing.T) {
	const nowhere = "/nonexistent"
	if os.Getenv("SSL_CERT_FILE") != nowhere { // a process reads them once
		c := exec.Command(os.Args[0], "-test.run=^TestAuthorities$")
		c.Env = append(os.Environ(), "SSL_CERT_FILE="+nowhere, "SSL_CERT_DIR="+nowhere)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if pool, err := x509.SystemCertPool(); err != nil || pool.Equal(x509.NewCertPool()) {
		t.Errorf("no authorities: %v", err)
	}
}
