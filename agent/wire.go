package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"calib/bench"
	"calib/internal/dataset"
	"calib/internal/plane"
	"calib/transport"
)

// The control protocol. A coordinator posts a request to the path of a call, over HTTP/2; the agent answers with lines.
// Both are JSON. Nothing here is timed: what is measured travels over the data plane. Every version has hello, and in
// its answer Protocol, version and build.
const (
	callHello   = "/calib/hello"
	callPrepare = "/calib/prepare"
	callAlive   = "/calib/alive"
	callRelease = "/calib/release"
	callRun     = "/calib/run"
)

type request struct {
	Protocol int            `json:",omitempty"`
	DataAddr string         `json:",omitempty"` // of hello: by which peers will reach the host
	Closer   bool           `json:",omitempty"` // of hello: a closer look, which may take longer
	Run      string         `json:",omitempty"`
	Secret   []byte         `json:",omitempty"` // of the run's lease
	Session  *plane.Session `json:",omitempty"`
	Task     *bench.Task    `json:",omitempty"`
}

// answer is a line. A task has many: its progress, what was foreign, and its samples.
type answer struct {
	Refused  *refusal           `json:",omitempty"`
	Hello    *greeting          `json:",omitempty"`
	Secret   []byte             `json:",omitempty"` // of the lease that a session got
	Progress *progress          `json:",omitempty"`
	Foreign  *transport.Foreign `json:",omitempty"`
	Sample   *dataset.Sample    `json:",omitempty"`
}

// greeting is who an agent is, and what of a dataset.Host is not stored.
type greeting struct {
	Protocol int
	dataset.Host
	MostBytes int64
	Consent   string
	Now       dataset.Now
}

type progress struct{ Slot, Done, Of int }

// serve answers a call: it checks nothing of the request but its length.
func serve(longest int64, call func(context.Context, *request, func(answer) error) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		lines, flush := json.NewEncoder(w), http.NewResponseController(w).Flush
		send := func(a answer) error { return errors.Join(lines.Encode(a), flush()) }
		var q request
		err := json.NewDecoder(http.MaxBytesReader(w, r.Body, longest)).Decode(&q)
		if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
			err = fault(ErrLimit, "a request of more than %d bytes", large.Limit)
		} else if err != nil {
			err = fault(ErrInvalid, "%w", err)
		} else {
			err = call(r.Context(), &q, send)
		}
		if err == nil {
			return
		}
		refused, ok := errors.AsType[*refusal](err)
		if !ok {
			refused = fault(ErrTask, "%w", err)
		}
		_ = send(answer{Refused: refused}) // who has gone needs no answer
	}
}

// exchange makes a call and gives take its answers, one at least. Errors of the way to the agent are ErrGone.
func (c *Client) exchange(ctx context.Context, call string, q request, take func(answer) error) error {
	text, err := json.Marshal(q)
	if err != nil {
		return err
	}
	r, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://agent"+call, bytes.NewReader(text)) // a good URL
	response, err := c.http.RoundTrip(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return &refusal{Class: ErrVersion.Error(), Text: "it has no call " + call, Version: "of unknown version"}
	} else if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", ErrAnswer, response.Status)
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxAnswer)
	got := false
	for ; lines.Scan(); got = true {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			return fmt.Errorf("%w: %w", ErrAnswer, err)
		}
		if a.Refused != nil {
			return a.Refused
		}
		if err := take(a); err != nil {
			return fmt.Errorf("%w: %w", ErrAnswer, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("%w: %w", ErrAnswer, err)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrGone, err)
	case !got:
		return fmt.Errorf("%w: none to %s", ErrAnswer, call)
	}
	return nil
}

// belongs refuses a sample that does not belong to the task, or could not be stored: an agent speaks for its own slot
// and team only.
func belongs(s *dataset.Sample, t bench.Task) error {
	if s.Slot != t.Slot || s.Round != t.Round || s.Exp == "" || s.NS == nil {
		return fmt.Errorf("sample of experiment %q, slot %d, round %d in answer to slot %d, round %d",
			s.Exp, s.Slot, s.Round, t.Slot, t.Round)
	}
	for _, r := range s.Ranks {
		if !slices.Contains(t.Team, r) {
			return fmt.Errorf("sample of host %d, which is not in the team %v", r, t.Team)
		}
	}
	if by := s.Thread; by != nil && by.Host != t.Team[t.Rank] {
		return fmt.Errorf("sample timed by host %d in answer of host %d", by.Host, t.Team[t.Rank])
	}
	return s.CheckRange()
}
