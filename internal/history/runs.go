package history

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"calib/fit/params"
)

const entryColumns = "id, started, added, plan, hosts, status, label, revision, path"

// columns are where entryColumns go.
func (e *Entry) columns() []any {
	return []any{&e.ID, moment{&e.Started}, moment{&e.Added}, &e.Plan, &e.Hosts, &e.Status, &e.Label, &e.Commit, &e.Path}
}

// filtered is a Filter, but for Last, as a condition on the start of runs and on the table runs; its arguments are
// condition.
const filtered = ">= ? AND ? IN ('', runs.label) AND ? IN ('', runs.plan)"

func (f Filter) condition() []any {
	since := int64(0) // no run is from before 1970
	if !f.Since.IsZero() {
		since = nanos(f.Since)
	}
	return []any{since, f.Label, f.Plan}
}

// List returns the runs of a filter by their start, oldest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Entry, error) {
	out, err := collect(ctx, s, "list the runs", (*Entry).columns,
		"SELECT "+entryColumns+" FROM runs WHERE started "+filtered+" ORDER BY started DESC, key DESC LIMIT ?",
		append(f.condition(), limit(f.Last))...)
	slices.Reverse(out)
	return out, err
}

// shownMatches bounds the runs that ErrAmbiguous names.
const shownMatches = 4

// Find returns the run of that ID, or the only one whose ID begins with it. Otherwise it is ErrNotFound or
// ErrAmbiguous.
func (s *Store) Find(ctx context.Context, id string) (Entry, error) {
	found, err := collect(ctx, s, "find run "+id, (*Entry).columns,
		"SELECT "+entryColumns+" FROM runs WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id = ?1 DESC, started DESC LIMIT ?2", id, shownMatches+1)
	switch {
	case err != nil:
		return Entry{}, err
	case len(found) == 0 || id == "":
		return Entry{}, fmt.Errorf("history %s: run %q: %w; calib history list --last 0 names all", s.path, id, ErrNotFound)
	case len(found) == 1 || found[0].ID == id:
		return found[0], nil
	}
	var names []string
	for _, e := range found[:min(len(found), shownMatches)] {
		names = append(names, e.ID)
	}
	if len(found) > shownMatches {
		names = append(names, "…")
	}
	return Entry{}, fmt.Errorf("history %s: run %q: %w begins so: %s; give more of its ID", s.path, id, ErrAmbiguous, strings.Join(names, ", "))
}

// Params returns the params.json of the run of exactly that ID.
func (s *Store) Params(ctx context.Context, id string) (*params.Params, error) {
	var b []byte
	err := s.db.QueryRowContext(ctx, "SELECT params FROM documents JOIN runs ON runs.key = documents.run WHERE id = ?", id).Scan(&b)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("history %s: run %q: %w", s.path, id, ErrNotFound)
	}
	if err != nil {
		return nil, s.wrap("read run "+id, err)
	}
	var p *params.Params
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err == nil {
		p, err = params.Decode(z)
	}
	if err != nil {
		return nil, fmt.Errorf("history %s: run %s: %w: %w", s.path, id, ErrDamaged, err)
	}
	return p, nil
}

// Measured returns how the run of exactly that ID was measured; without a Detail where that is not known.
func (s *Store) Measured(ctx context.Context, id string) (m Measured, err error) {
	var took *int64
	err = s.db.QueryRowContext(ctx, "SELECT detail, took FROM documents JOIN runs ON runs.key = documents.run WHERE id = ?", id).
		Scan((*[]byte)(&m.Detail), &took)
	if took != nil {
		m.Took = time.Duration(*took)
	}
	return m, s.wrap("read how run "+id+" was measured", err)
}

// rowOf returns the row of a run and its start, or ErrNotFound.
func rowOf(ctx context.Context, tx *sql.Tx, id string) (key int64, started time.Time, err error) {
	err = tx.QueryRowContext(ctx, "SELECT key, started FROM runs WHERE id = ?", id).Scan(&key, moment{&started})
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("run %q: %w", id, ErrNotFound)
	}
	return key, started, err
}

// Remove takes a run out of the store, for good. A run of a baseline is ErrInUse.
func (s *Store) Remove(ctx context.Context, id string) error {
	return s.change(ctx, "remove run "+id, func(tx *sql.Tx) error {
		key, started, err := rowOf(ctx, tx, id)
		if err != nil {
			return err
		}
		var name string
		err = tx.QueryRowContext(ctx, "SELECT name FROM baselines JOIN baseline_runs ON baseline = baselines.key WHERE run = ?", key).Scan(&name)
		if err == nil {
			return fmt.Errorf("%w: %s; remove that, or set it anew, first", ErrInUse, name)
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if _, err := tx.ExecContext(ctx, countMetric, -1, nanos(started), key); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE key = ?", key); err != nil { // its readings go with it
			return err
		}
		return s.note(ctx, tx, Event{Kind: EventRemoved, Subject: id})
	})
}
