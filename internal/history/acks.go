package history

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"calib/internal/printable"
)

// Ack is an acknowledgement: it says that a change of level is known, and why it came. The change begins with a run; it
// is of one metric or all, and of one link or all.
type Ack struct {
	ID     int64     `json:"id"`
	Metric string    `json:"metric,omitempty"` // "" is any
	Link   string    `json:"link,omitempty"`   // "a→b"; "" is any, and the whole network
	Run    string    `json:"run"`              // the first of the new level
	At     time.Time `json:"at"`               // its start
	Reason string    `json:"reason"`
	Who    string    `json:"who,omitempty"`
	Made   time.Time `json:"made"` // UTC
}

// Covers reports whether a is about the metric f.
func (a Ack) Covers(f Followed) bool {
	return (a.Metric == "" || f.Named(a.Metric)) && (a.Link == "" || a.Link == f.Link())
}

// subject names what a is about, for the log.
func (a Ack) subject() string {
	what := "all metrics"
	if a.Metric != "" {
		what = a.Metric
	}
	if a.Link != "" {
		what += " of " + a.Link
	}
	return what + " from run " + a.Run
}

// Acknowledge stores an acknowledgement and returns it with its ID, At and Made set. A run that is not stored is
// ErrNotFound, no reason ErrInvalid.
func (s *Store) Acknowledge(ctx context.Context, a Ack) (Ack, error) {
	err := s.change(ctx, "acknowledge", func(tx *sql.Tx) error {
		switch text := a.Metric + a.Link + a.Reason + a.Who; {
		case strings.TrimSpace(a.Reason) == "":
			return fmt.Errorf("%w: no reason: say what was changed", ErrInvalid)
		case len(text) > maxWord || printable.Line(text) != text:
			return fmt.Errorf("%w: longer than %d bytes, or with control characters", ErrInvalid, maxWord)
		}
		var err error
		if _, a.At, err = rowOf(ctx, tx, a.Run); err != nil {
			return err
		}
		a.Made = s.now().UTC()
		err = tx.QueryRowContext(ctx, `INSERT INTO acks (metric, link, run, started, reason, who, made) VALUES (?, ?, ?, ?, ?, ?, ?)
			RETURNING key`, a.Metric, a.Link, a.Run, nanos(a.At), a.Reason, a.Who, nanos(a.Made)).Scan(&a.ID)
		if err != nil {
			return err
		}
		return s.note(ctx, tx, Event{Kind: EventAck, Subject: a.subject(), Detail: a.Reason})
	})
	return a, err
}

// Acks lists the acknowledgements by the start of their runs.
func (s *Store) Acks(ctx context.Context) ([]Ack, error) {
	return collect(ctx, s, "list the acknowledgements", func(a *Ack) []any {
		return []any{&a.ID, &a.Metric, &a.Link, &a.Run, moment{&a.At}, &a.Reason, &a.Who, moment{&a.Made}}
	}, "SELECT key, metric, link, run, started, reason, who, made FROM acks ORDER BY started, key")
}

// Unacknowledge withdraws one, or is ErrNotFound.
func (s *Store) Unacknowledge(ctx context.Context, id int64) error {
	return s.change(ctx, "withdraw acknowledgement "+strconv.FormatInt(id, 10), func(tx *sql.Tx) error {
		if err := deleted(tx.ExecContext(ctx, "DELETE FROM acks WHERE key = ?", id)); err != nil {
			return err
		}
		return s.note(ctx, tx, Event{Kind: EventNoAck, Subject: strconv.FormatInt(id, 10)})
	})
}
