package history

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"calib/fit/params"
	"calib/internal/printable"
)

// maxWord bounds the texts of an Entry, in bytes.
const maxWord = 4096

// Add stores a run: all of it, or nothing. Followed from run to run are the numbers of status ok; the others stay in
// its params.json. When it returns, the run is on the disk. Adding the same run again returns false, and stores nothing
// but how it was measured, where that was not known; another run of the same ID is ErrConflict. A record that no run
// can have is ErrInvalid.
func (s *Store) Add(ctx context.Context, r Record) (added bool, err error) {
	d, err := digest(r)
	if err != nil {
		return false, fmt.Errorf("history %s: run %q: %w", s.path, r.ID, err)
	}
	err = s.change(ctx, "add run "+d.entry.ID, func(tx *sql.Tx) error {
		added, err = s.add(ctx, tx, d)
		return err
	})
	return added && err == nil, err
}

// change runs f in a transaction.
func (s *Store) change(ctx context.Context, what string, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return s.wrap(what, err)
	}
	if err := f(tx); err != nil {
		if ctx.Err() != nil { // the library's own error is then "statement is closed", or the like
			err = ctx.Err()
		}
		return errors.Join(s.wrap(what, err), rollback(tx))
	}
	return s.wrap(what, tx.Commit())
}

// rollback ends tx; that a cancelled context has done so already is no error.
func rollback(tx *sql.Tx) error {
	if err := tx.Rollback(); !errors.Is(err, sql.ErrTxDone) && primary(err) == 0 {
		return err
	}
	return nil
}

// digested is a Record in the form in which it is stored.
type digested struct {
	entry    Entry
	sum      [sha256.Size]byte // of params.json
	params   []byte            // params.json by gzip
	metrics  []params.Metric
	measured Measured
}

// digest checks a record. It stores what a reader of the encoded params.json would find.
func digest(r Record) (*digested, error) {
	if r.Params == nil {
		return nil, fmt.Errorf("%w: it has no parameters", ErrInvalid)
	}
	var text bytes.Buffer
	if err := params.Encode(&text, r.Params); err != nil {
		return nil, err
	}
	p, err := params.Decode(bytes.NewReader(text.Bytes()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	d := &digested{entry: r.Entry, measured: r.Measured, sum: sha256.Sum256(text.Bytes())}
	d.entry.ID = cmp.Or(d.entry.ID, p.Run.ID)
	d.entry.Plan = cmp.Or(d.entry.Plan, p.Run.Plan)
	d.entry.Hosts = cmp.Or(d.entry.Hosts, len(p.Run.Hosts))
	if err := d.entry.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	d.metrics = slices.DeleteFunc(p.Metrics(), func(m params.Metric) bool { return m.Status != params.StatusOK })
	d.params, err = compress(text.Bytes())
	return d, err
}

// check refuses texts that could not be printed or found again, and times that could not be sorted.
func (e Entry) check() error {
	for _, w := range []struct{ what, text string }{
		{"ID", e.ID}, {"plan", e.Plan}, {"status", e.Status}, {"label", e.Label}, {"commit", e.Commit}, {"path", e.Path},
	} {
		switch {
		case len(w.text) > maxWord:
			return fmt.Errorf("its %s is longer than %d bytes", w.what, maxWord)
		case printable.Line(w.text) != w.text:
			return fmt.Errorf("its %s %q holds characters that cannot be printed", w.what, w.text)
		}
	}
	switch year := e.Started.Year(); {
	case e.ID == "":
		return errors.New("it has no ID")
	case strings.HasPrefix(e.ID, "-"):
		return fmt.Errorf("its ID %q looks like a flag", e.ID)
	case e.Started.IsZero():
		return errors.New("it is not known when it started")
	case year < 1970 || year > 2200:
		return fmt.Errorf("it started in the year %d", year)
	}
	return nil
}

func compress(b []byte) ([]byte, error) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, err := z.Write(b)
	err = errors.Join(err, z.Close())
	return out.Bytes(), err
}

func (s *Store) add(ctx context.Context, tx *sql.Tx, d *digested) (bool, error) {
	if same, err := s.stored(ctx, tx, d); same || err != nil {
		if err == nil && d.measured.Detail != nil {
			_, err = tx.ExecContext(ctx, `UPDATE documents SET detail = ?, took = ? WHERE detail IS NULL AND run = (SELECT key FROM runs WHERE id = ?)`,
				[]byte(d.measured.Detail), d.measured.Took, d.entry.ID)
		}
		return false, err
	}
	e := d.entry
	var run int64
	err := tx.QueryRowContext(ctx, "INSERT INTO runs ("+entryColumns+", digest) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key",
		e.ID, nanos(e.Started), nanos(s.now()), e.Plan, e.Hosts, e.Status, e.Label, e.Commit, e.Path, d.sum[:]).Scan(&run)
	if err != nil {
		return false, err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO documents (run, params, detail, took) VALUES (?, ?, ?, ?)", run, d.params,
		[]byte(d.measured.Detail), d.measured.Took); err != nil {
		return false, err
	}
	if err := addReadings(ctx, tx, d.metrics, nanos(e.Started), run); err != nil {
		return false, err
	}
	return true, s.note(ctx, tx, Event{Kind: EventAdded, Subject: e.ID, Detail: e.Label})
}

// stored reports whether the same run is there; another of its ID is ErrConflict.
func (s *Store) stored(ctx context.Context, tx *sql.Tx, d *digested) (bool, error) {
	var sum []byte
	var path string
	var added time.Time
	err := tx.QueryRowContext(ctx, "SELECT digest, path, added FROM runs WHERE id = ?", d.entry.ID).Scan(&sum, &path, moment{&added})
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case bytes.Equal(sum, d.sum[:]):
		return true, nil
	}
	const unknown = "an unknown place"
	return false, fmt.Errorf("%w: those from %s, added %s, have SHA-256 %.6x, those from %s have %.6x; calib history remove %s first, "+
		"if these are to stand", ErrConflict, cmp.Or(path, unknown), added.Format("2006-01-02 15:04"), sum, cmp.Or(d.entry.Path, unknown),
		d.sum, d.entry.ID)
}
