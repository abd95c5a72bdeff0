package history

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

// Kinds of an Event.
const (
	EventAdded      = "added"
	EventRemoved    = "removed"
	EventBaseline   = "baseline"
	EventNoBaseline = "baseline removed"
	EventAck        = "acknowledged"
	EventNoAck      = "acknowledgement withdrawn"
)

// Event is one thing that was done to a store.
type Event struct {
	ID      int64     `json:"id"`
	At      time.Time `json:"at"` // UTC
	Kind    string    `json:"kind"`
	Subject string    `json:"subject"` // the run, the baseline, or what an acknowledgement is of
	Detail  string    `json:"detail,omitempty"`
}

// note appends to the log, within the transaction that it describes.
func (s *Store) note(ctx context.Context, tx *sql.Tx, e Event) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO events (at, kind, subject, detail) VALUES (?, ?, ?, ?)",
		nanos(s.now()), e.Kind, e.Subject, e.Detail)
	return err
}

// Events returns the newest so many events of the log, oldest first; last 0 is all.
func (s *Store) Events(ctx context.Context, last int) ([]Event, error) {
	out, err := collect(ctx, s, "read the log", func(e *Event) []any {
		return []any{&e.ID, moment{&e.At}, &e.Kind, &e.Subject, &e.Detail}
	}, "SELECT key, at, kind, subject, detail FROM events ORDER BY key DESC LIMIT ?", limit(last))
	slices.Reverse(out)
	return out, err
}

// limit is the newest so many rows, or all, as SQLite's LIMIT.
func limit(last int) int {
	if last <= 0 {
		return -1
	}
	return last
}

// collect reads all rows of a query; columns says where the columns of a row go.
func collect[T any](ctx context.Context, s *Store, what string, columns func(*T) []any, query string, args ...any) ([]T, error) {
	rows, err := s.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, s.wrap(what, err)
	}
	defer rows.Close()
	out := []T{}
	for rows.Next() {
		var v T
		if err := rows.Scan(columns(&v)...); err != nil {
			return nil, s.wrap(what, err)
		}
		out = append(out, v)
	}
	return out, s.wrap(what, rows.Err())
}
