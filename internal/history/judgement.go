package history

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"calib/internal/lists"
	"calib/internal/units"
)

type Baseline struct {
	Name  string    `json:"name"`
	Note  string    `json:"note,omitempty"`
	Made  time.Time `json:"made"`  // UTC
	Runs  []string  `json:"runs"`  // by their start, oldest first
	Noise bool      `json:"noise"` // whether it has a Floor
	Floor []byte    `json:"-"`     // the noise floor of runs without a change, kept with it; nil is none
}

// SetBaseline makes a baseline of stored runs, in place of one of the same name; Made is now unless it is set. A run
// that is not stored is ErrNotFound; a name that could not be given on a command line, or no runs, ErrInvalid.
func (s *Store) SetBaseline(ctx context.Context, b Baseline) error {
	return s.change(ctx, "set baseline "+b.Name, func(tx *transaction) error { return tx.setBaseline(b) })
}

func (tx *transaction) setBaseline(b Baseline) error {
	switch text := b.Name + b.Note; {
	case b.Name == "" || strings.HasPrefix(b.Name, "-") || len(b.Name) > maxWord:
		return fmt.Errorf("%w: baseline name %.60q: want a word that does not begin with -", ErrInvalid, b.Name)
	case units.OneLine(text) != text:
		return fmt.Errorf("%w: baseline name %q, note %q: characters that cannot be printed", ErrInvalid, b.Name,
			b.Note)
	case len(b.Runs) == 0:
		return fmt.Errorf("%w: a baseline without runs", ErrInvalid)
	}
	var key int64
	tx.row([]any{&key}, `INSERT INTO baselines (name, note, made, noise) VALUES (?, ?, ?, ?)
		ON CONFLICT (name) DO UPDATE SET note = excluded.note, made = excluded.made, noise = excluded.noise RETURNING key`,
		b.Name, b.Note, nanos(cmp.Or(b.Made, tx.now())), b.Floor)
	tx.exec("DELETE FROM baseline_runs WHERE baseline = ?", key)
	for _, id := range b.Runs {
		run, _, err := tx.run(id)
		if err != nil {
			return err
		}
		tx.exec("INSERT OR IGNORE INTO baseline_runs (baseline, run) VALUES (?, ?)", key, run)
	}
	return tx.note(EventBaseline, b.Name, fmt.Sprintf("%d runs", len(b.Runs)))
}

func (s *Store) Baselines(ctx context.Context) ([]Baseline, error) {
	out, err := collect(ctx, s, "list the baselines", func(b *Baseline) []any {
		return []any{&b.Name, &b.Note, moment{&b.Made}, &b.Noise, &b.Floor}
	}, "SELECT name, note, made, noise IS NOT NULL, noise FROM baselines ORDER BY name")
	for i := range out {
		if err == nil {
			out[i].Runs, err = collect(ctx, s, "read baseline "+out[i].Name, func(id *string) []any { return []any{id} },
				`SELECT runs.id FROM baselines JOIN baseline_runs ON baseline = baselines.key JOIN runs ON runs.key = run
				WHERE baselines.name = ? ORDER BY started, runs.key`, out[i].Name)
		}
	}
	return out, err
}

func (s *Store) Baseline(ctx context.Context, name string) (Baseline, error) {
	all, err := s.Baselines(ctx)
	if err != nil {
		return Baseline{}, err
	}
	i := slices.IndexFunc(all, func(b Baseline) bool { return b.Name == name })
	if i < 0 {
		return Baseline{}, fmt.Errorf("history %s: baseline %q: %w; calib history baseline list names them", s.Path, name,
			ErrNotFound)
	}
	return all[i], nil
}

// RemoveBaseline removes a baseline and leaves its runs, or is ErrNotFound.
func (s *Store) RemoveBaseline(ctx context.Context, name string) error {
	return s.remove(ctx, "remove baseline "+name, "DELETE FROM baselines WHERE name = ?", name, EventNoBaseline)
}

// remove deletes what a statement names, or is ErrNotFound.
func (s *Store) remove(ctx context.Context, what, statement, name, kind string) error {
	return s.change(ctx, what, func(tx *transaction) error {
		var key int64
		if err := tx.row([]any{&key}, statement+" RETURNING key", name); errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
		return tx.note(kind, name, "")
	})
}

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

func (a Ack) Covers(f Followed) bool {
	return (a.Metric == "" || f.Named(a.Metric)) && (a.Link == "" || a.Link == f.Link())
}

// Acknowledge stores an acknowledgement and returns it with its ID, At and Made set; Made is now unless it was set. A
// run that is not stored is ErrNotFound, no reason ErrInvalid.
func (s *Store) Acknowledge(ctx context.Context, a Ack) (Ack, error) {
	err := s.change(ctx, "acknowledge", func(tx *transaction) error { return tx.acknowledge(&a) })
	return a, err
}

func (tx *transaction) acknowledge(a *Ack) (err error) {
	switch text := a.Metric + a.Link + a.Reason + a.Who; {
	case strings.TrimSpace(a.Reason) == "":
		return fmt.Errorf("%w: no reason: say what was changed", ErrInvalid)
	case len(text) > maxWord || units.OneLine(text) != text:
		return fmt.Errorf("%w: longer than %d bytes, or with control characters", ErrInvalid, maxWord)
	}
	if _, a.At, err = tx.run(a.Run); err != nil {
		return err
	}
	a.Made = cmp.Or(a.Made, tx.now().UTC())
	tx.row([]any{&a.ID}, `INSERT INTO acks (metric, link, run, started, reason, who, made)
		VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING key`, a.Metric, a.Link, a.Run, nanos(a.At), a.Reason, a.Who,
		nanos(a.Made))
	subject := cmp.Or(a.Metric, "all metrics")
	if a.Link != "" {
		subject += " of " + a.Link
	}
	return tx.note(EventAck, subject+" from run "+a.Run, a.Reason)
}

// Acks lists the acknowledgements by the start of their runs.
func (s *Store) Acks(ctx context.Context) ([]Ack, error) {
	return collect(ctx, s, "list the acknowledgements", func(a *Ack) []any {
		return []any{&a.ID, &a.Metric, &a.Link, &a.Run, moment{&a.At}, &a.Reason, &a.Who, moment{&a.Made}}
	}, "SELECT key, metric, link, run, started, reason, who, made FROM acks ORDER BY started, key")
}

// Unacknowledge withdraws one, or is ErrNotFound.
func (s *Store) Unacknowledge(ctx context.Context, id int64) error {
	name := strconv.FormatInt(id, 10)
	return s.remove(ctx, "withdraw acknowledgement "+name, "DELETE FROM acks WHERE key = CAST(? AS INTEGER)", name,
		EventNoAck)
}

const (
	EventAdded      = "added"
	EventRemoved    = "removed"
	EventBaseline   = "baseline"
	EventNoBaseline = "baseline removed"
	EventAck        = "acknowledged"
	EventNoAck      = "acknowledgement withdrawn"
)

type Event struct {
	At      time.Time // UTC
	Kind    string
	Subject string // the run, the baseline, or what an acknowledgement is of
	Detail  string
}

// Events returns the newest so many events of the log, oldest first; last 0 is all.
func (s *Store) Events(ctx context.Context, last int) ([]Event, error) {
	out, err := collect(ctx, s, "read the log", func(e *Event) []any {
		return []any{moment{&e.At}, &e.Kind, &e.Subject, &e.Detail}
	}, "SELECT at, kind, subject, detail FROM events ORDER BY key DESC LIMIT ?", cmp.Or(last, unlimited))
	slices.Reverse(out)
	return out, err
}

// SameCluster reports whether two lists name hosts of one cluster. It may have gained and lost some hosts, but half of
// the shorter list at least is in both.
func SameCluster(a, b []string) bool {
	both := lists.Count(a, func(h string) bool { return slices.Contains(b, h) })
	return 2*both >= min(len(a), len(b))
}
