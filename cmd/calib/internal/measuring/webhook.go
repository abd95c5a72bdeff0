package measuring

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	_ "golang.org/x/crypto/x509roots/fallback" // authorities where the system has none, as in the image

	"calib/internal/exit"
	"calib/internal/history"
	"calib/internal/units"
	"calib/run/watch"
)

const (
	hookTimeout = 10 * time.Second
	hookTries   = 5
	firstPause  = time.Second // each further one is longer by the factor
	pauseFactor = 4
	hookQueue   = 1000 // events that may wait
	hookEnds    = 3 * time.Second
	mostAnswer  = 64 << 10 // bytes that are read of an answer, so that the connection stays
)

// webhook posts what a watch says to a URL. The watch never waits for it.
type webhook struct {
	url    string
	note   func(string)
	client *http.Client
	pause  func(context.Context, time.Duration) error
	ends   time.Duration
	queue  chan watch.Event
	ended  chan struct{}
	lost   atomic.Int64 // since the last that was delivered

	sending, pausing context.Context
	abort, hurry     context.CancelFunc
}

// newWebhook posts to a URL; nil is none. What is wrong with the URL is said without it: it may hold a password.
func newWebhook(to string, note func(string)) (*webhook, error) {
	if to == "" {
		return nil, nil
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, exit.Usagef("--webhook: want a URL such as https://alerts.example/calib")
	}
	w := &webhook{url: to, note: note, pause: sleep, ends: hookEnds,
		queue: make(chan watch.Event, hookQueue), ended: make(chan struct{})}
	w.client = &http.Client{Timeout: hookTimeout, CheckRedirect: func(r *http.Request, before []*http.Request) error {
		switch {
		case len(before) > 3:
			return errors.New("it redirects in circles")
		case r.URL.Scheme != before[0].URL.Scheme:
			return fmt.Errorf("it redirects from %s to %s", before[0].URL.Scheme, r.URL.Scheme)
		case r.Method != http.MethodPost:
			return errors.New("it redirects, and the event would be lost on the way")
		}
		return nil
	}}
	w.sending, w.abort = context.WithCancel(context.Background())
	w.pausing, w.hurry = context.WithCancel(w.sending)
	go w.run()
	return w, nil
}

// post hands over what has changed, and what troubles the watch. Marks stay where they are.
func (w *webhook) post(e watch.Event) {
	if w == nil || e.Kind == history.EventMark {
		return
	}
	select {
	case w.queue <- e:
	default:
		w.lose("too many events wait")
	}
}

// close gives what waits a few seconds, without pauses.
func (w *webhook) close() {
	if w == nil {
		return
	}
	close(w.queue)
	w.hurry()
	t := time.AfterFunc(w.ends, w.abort)
	<-w.ended
	t.Stop()
	w.abort()
}

func (w *webhook) run() {
	defer close(w.ended)
	for e := range w.queue {
		if err := w.deliver(e); err != nil {
			w.lose(err.Error())
		} else if n := w.lost.Swap(0); n > 0 {
			w.note(fmt.Sprintf("the webhook takes events again: %s were not delivered, and are in the history",
				units.Plural(int(n), "event")))
		}
	}
}

// lose notes the first event that is not delivered, until one is.
func (w *webhook) lose(why string) {
	if w.lost.Add(1) == 1 {
		w.note("an event could not be posted to the webhook: " + units.OneLine(why))
	}
}

func (w *webhook) deliver(e watch.Event) (err error) {
	e.Text = units.OneLine(e.Kind + ": " + e.Text) // a chat shows nothing else
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	for try, pause := 1, firstPause; ; try, pause = try+1, pauseFactor*pause {
		if err = w.send(body); err == nil || try == hookTries || w.sending.Err() != nil {
			return err
		}
		w.pause(w.pausing, pause) // when the watch ends, the next try follows at once
	}
}

func (w *webhook) send(body []byte) error {
	r, _ := http.NewRequestWithContext(w.sending, http.MethodPost, w.url, bytes.NewReader(body)) // a URL that is good
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "calib")
	answer, err := w.client.Do(r)
	if e := (*url.Error)(nil); errors.As(err, &e) {
		err = e.Err // without the URL
	}
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	io.CopyN(io.Discard, answer.Body, mostAnswer)
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %s", answer.Status)
	}
	return nil
}
