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

	"calib/fit/params"
)

const entryColumns = "id, started, added, plan, hosts, status, label, revision, path"

// scanEntry reads the columns entryColumns.
func scanEntry(scan func(...any) error) (e Entry, err error) {
	var started, added int64
	err = scan(&e.ID, &started, &added, &e.Plan, &e.Hosts, &e.Status, &e.Label, &e.Commit, &e.Path)
	e.Started, e.Added = moment(started), moment(added)
	return e, err
}

// where is the filter as a condition on the table runs, with its arguments, but for Last, which limit returns.
func (f Filter) where() (string, []any) {
	conditions, args := []string{"TRUE"}, []any(nil)
	if !f.Since.IsZero() {
		conditions, args = append(conditions, "runs.started >= ?"), append(args, nanos(f.Since))
	}
	if f.Label != "" {
		conditions, args = append(conditions, "runs.label = ?"), append(args, f.Label)
	}
	if f.Plan != "" {
		conditions, args = append(conditions, "runs.plan = ?"), append(args, f.Plan)
	}
	return strings.Join(conditions, " AND "), args
}

// limit is Last as SQLite's LIMIT.
func (f Filter) limit() int {
	if f.Last <= 0 {
		return -1
	}
	return f.Last
}

// List returns the runs of a filter by their start, oldest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Entry, error) {
	where, args := f.where()
	out, err := collect(ctx, s, "list the runs", scanEntry,
		"SELECT "+entryColumns+" FROM runs WHERE "+where+" ORDER BY started DESC, key DESC LIMIT ?", append(args, f.limit())...)
	slices.Reverse(out)
	return out, err
}

// shownMatches bounds the runs that ErrAmbiguous names.
const shownMatches = 4

// Find returns the run of that ID, or the only one whose ID begins with it. Otherwise it is ErrNotFound or ErrAmbiguous.
func (s *Store) Find(ctx context.Context, id string) (Entry, error) {
	found, err := collect(ctx, s, "find run "+id, scanEntry,
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
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("history %s: run %s: %w: %w", s.path, id, ErrDamaged, err)
	}
	p, err := params.Decode(z)
	if err != nil {
		return nil, fmt.Errorf("history %s: run %s: %w: %w", s.path, id, ErrDamaged, err)
	}
	return p, nil
}

// interval is the confidence interval of two columns, nil where there is none.
func interval(lo, hi sql.NullFloat64) *[2]float64 {
	if !lo.Valid || !hi.Valid {
		return nil
	}
	return &[2]float64{lo.Float64, hi.Float64}
}

// Remove takes a run out of the store, for good. A run of a baseline is ErrInUse.
func (s *Store) Remove(ctx context.Context, id string) error {
	return s.change(ctx, "remove run "+id, func(tx *sql.Tx) error {
		var key int64
		err := tx.QueryRowContext(ctx, "SELECT key FROM runs WHERE id = ?", id).Scan(&key)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrNotFound
		}
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
		if _, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE key = ?", key); err != nil {
			return err
		}
		return s.note(ctx, tx, Event{Kind: EventRemoved, Subject: id})
	})
}
