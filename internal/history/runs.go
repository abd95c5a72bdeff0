package history

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"calib/internal/units"
	"calib/params"
)

const maxWord = 4096 // bounds the texts of an Entry, in bytes

// Add stores a run: all of it, or nothing. Followed from run to run are the numbers of status ok; the others stay in
// its params.json. When it returns, the run is on the disk. Adding the same run again returns false, and stores nothing
// but how it was measured, where that was not known; another run of the same ID is ErrConflict. A record that no run
// can have is ErrInvalid.
func (s *Store) Add(ctx context.Context, r Record) (added bool, err error) {
	r, text, err := complete(r)
	if err != nil {
		return false, fmt.Errorf("history %s: run %q: %w", s.Path, r.ID, err)
	}
	err = s.change(ctx, "add run "+r.ID, func(tx *transaction) (err error) {
		added, err = s.add(tx, r, text)
		return err
	})
	return added && err == nil, err
}

// complete checks a record and returns it as a reader of its encoded params.json, which is text, would find it.
func complete(r Record) (_ Record, text []byte, err error) {
	if r.Params == nil {
		return r, nil, fmt.Errorf("%w: it has no parameters", ErrInvalid)
	}
	var b bytes.Buffer
	if err := params.Encode(&b, r.Params); err != nil {
		return r, nil, err
	}
	if r.Params, err = params.Decode(bytes.NewReader(b.Bytes())); err != nil {
		return r, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	r.ID = cmp.Or(r.ID, r.Params.Run.ID)
	r.Plan = cmp.Or(r.Plan, r.Params.Run.Plan)
	r.Hosts = cmp.Or(r.Hosts, len(r.Params.Run.Hosts))
	if err := r.check(); err != nil {
		return r, nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return r, b.Bytes(), nil
}

// check refuses texts that could not be printed or found again, and times that could not be sorted.
func (e Entry) check() error {
	for _, w := range []struct{ what, text string }{
		{"ID", e.ID}, {"plan", e.Plan}, {"status", e.Status}, {"label", e.Label}, {"commit", e.Commit}, {"path", e.Path},
	} {
		switch {
		case len(w.text) > maxWord:
			return fmt.Errorf("its %s is longer than %d bytes", w.what, maxWord)
		case units.OneLine(w.text) != w.text:
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

// add stores a run whose params.json is text.
func (s *Store) add(tx *transaction, r Record, text []byte) (bool, error) {
	sum := sha256.Sum256(text)
	detail := []byte(r.Detail) // of which nil is NULL
	run, err := tx.stored(r, sum[:])
	if errors.Is(err, ErrConflict) { // or an older build wrote the same otherwise, or there was no points.json
		if p, _, failed := s.Read(tx.ctx, r.ID); failed == nil && bytes.Equal(short(p), short(r.Params)) {
			err = nil
		}
	}
	if err == nil && detail != nil {
		tx.exec("UPDATE documents SET detail = ?, took = ? WHERE detail IS NULL AND run = ?", detail, r.Took, run)
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, err
	}
	tx.row([]any{&run}, "INSERT INTO runs ("+entryColumns+`, digest)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING key`, r.ID, nanos(r.Started), nanos(s.now()), r.Plan, r.Hosts,
		r.Status, r.Label, r.Commit, r.Path, sum[:])
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(text)
	if err = cmp.Or(err, z.Close()); err != nil {
		return false, err
	}
	tx.exec("INSERT INTO documents (run, params, detail, took) VALUES (?, ?, ?, ?)", run, packed.Bytes(), detail, r.Took)
	tx.addReadings(r.Params.Metrics(), nanos(r.Started), run)
	return true, tx.note(EventAdded, r.ID, r.Label)
}

// short is the params.json of p.
func short(p *params.Params) []byte {
	var b bytes.Buffer
	_ = params.EncodeShort(&b, p) // what was encoded before
	return b.Bytes()
}

// stored returns the row of the same run. It is sql.ErrNoRows where there is none, and ErrConflict where another run
// has its ID.
func (tx *transaction) stored(r Record, sum []byte) (run int64, err error) {
	var have []byte
	var path string
	var added time.Time
	err = tx.row([]any{&run, &have, &path, moment{&added}}, "SELECT key, digest, path, added FROM runs WHERE id = ?", r.ID)
	if err != nil || bytes.Equal(have, sum) {
		return run, err
	}
	const unknown = "an unknown place"
	return run, fmt.Errorf("%w: those from %s, added %s, have SHA-256 %.6x, those from %s have %.6x; "+
		"calib history remove %s first, if these are to stand", ErrConflict, cmp.Or(path, unknown),
		added.Format("2006-01-02 15:04"), have, cmp.Or(r.Path, unknown), sum, r.ID)
}

const unlimited = -1 // as SQLite's LIMIT

const entryColumns = "id, started, added, plan, hosts, status, label, revision, path"

// columns are where entryColumns go.
func (e *Entry) columns() []any {
	return []any{&e.ID, moment{&e.Started}, moment{&e.Added}, &e.Plan, &e.Hosts, &e.Status, &e.Label, &e.Commit, &e.Path}
}

// filtered is a Filter, but for Last, as a condition on the start of runs and on the table runs. A LIMIT of Last
// follows it. Its arguments and that of the limit are args.
const filtered = ">= ? AND ? IN ('', runs.label) AND ? IN ('', runs.plan)"

func (f Filter) args() []any {
	return []any{nanos(f.Since), f.Label, f.Plan, cmp.Or(f.Last, unlimited)}
}

// newest are the runs of a filter, the newest first, as many as its Last.
const newest = " WHERE started " + filtered + " ORDER BY started DESC, key DESC LIMIT ?"

// List returns the runs of a filter by their start, oldest first.
func (s *Store) List(ctx context.Context, f Filter) ([]Entry, error) {
	out, err := collect(ctx, s, "list the runs", (*Entry).columns,
		"SELECT "+entryColumns+" FROM runs"+newest, f.args()...)
	slices.Reverse(out)
	return out, err
}

// Find returns the run of that ID, or the only one whose ID begins with it. Otherwise it is ErrNotFound or
// ErrAmbiguous.
func (s *Store) Find(ctx context.Context, id string) (Entry, error) {
	found, err := collect(ctx, s, "find run "+id, (*Entry).columns,
		"SELECT "+entryColumns+` FROM runs WHERE substr(id, 1, length(?1)) = ?1
		ORDER BY id = ?1 DESC, started DESC LIMIT 2`, id)
	switch {
	case err != nil:
		return Entry{}, err
	case len(found) == 0 || id == "":
		return Entry{}, fmt.Errorf("history %s: run %q: %w; calib history list --last 0 names all", s.Path, id, ErrNotFound)
	case len(found) == 1 || found[0].ID == id:
		return found[0], nil
	}
	return Entry{}, fmt.Errorf("history %s: run %q: %w begins so; give more of its ID", s.Path, id, ErrAmbiguous)
}

// Read returns the params.json of the run of exactly that ID, and how it was measured, without a Detail where that is
// not known.
func (s *Store) Read(ctx context.Context, id string) (p *params.Params, m Measured, err error) {
	var b []byte
	err = s.db.QueryRowContext(ctx, `SELECT params, detail, ifnull(took, 0) FROM documents JOIN runs ON runs.key = run
		WHERE id = ?`, id).Scan(&b, (*[]byte)(&m.Detail), &m.Took)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, m, fmt.Errorf("history %s: run %q: %w", s.Path, id, ErrNotFound)
	case err != nil:
		return nil, m, s.wrap("read run "+id, err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err == nil {
		p, err = params.Decode(z)
	}
	if err != nil {
		return nil, m, fmt.Errorf("history %s: run %s: %w: %w", s.Path, id, ErrDamaged, err)
	}
	return p, m, nil
}

// Hosts returns the hosts of the runs of a filter, by their IDs; none of a run where they are not to be read. They are
// at the beginning of a params.json, of which the rest is not decoded.
func (s *Store) Hosts(ctx context.Context, f Filter) (map[string][]string, error) {
	type row struct {
		id     string
		params []byte
	}
	out := map[string][]string{}
	columns := func(r *row) []any { return []any{&r.id, &r.params} }
	err := each(ctx, s, "read the hosts of runs", columns, func(r row) error {
		var run struct{ Hosts []string }
		if z, err := gzip.NewReader(bytes.NewReader(r.params)); err == nil {
			d := json.NewDecoder(z)
			for at := json.Token(nil); err == nil && at != "run"; {
				at, err = d.Token()
			}
			_ = d.Decode(&run)
		}
		out[r.id] = run.Hosts
		return nil
	}, "SELECT id, params FROM runs JOIN documents ON run = key"+newest, f.args()...)
	return out, err
}

// run returns the row of a run and its start, or ErrNotFound.
func (tx *transaction) run(id string) (key int64, started time.Time, err error) {
	err = tx.row([]any{&key, moment{&started}}, "SELECT key, started FROM runs WHERE id = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("run %q: %w", id, ErrNotFound)
	}
	return key, started, err
}

// Remove takes a run out of the store, for good. A run of a baseline is ErrInUse.
func (s *Store) Remove(ctx context.Context, id string) error {
	return s.change(ctx, "remove run "+id, func(tx *transaction) error {
		key, started, err := tx.run(id)
		if err != nil {
			return err
		}
		var name string
		if tx.row([]any{&name}, `SELECT name FROM baselines JOIN baseline_runs ON baseline = baselines.key
			WHERE run = ?`, key) == nil {
			return fmt.Errorf("%w: %s; remove that, or set it anew, first", ErrInUse, name)
		}
		tx.exec(countMetrics, -1, nanos(started), key)
		tx.exec("DELETE FROM runs WHERE key = ?", key) // its readings go with it
		return tx.note(EventRemoved, id, "")
	})
}

// Followed is a metric that stored runs have, of the whole network or of one link: it can be followed over time.
type Followed struct {
	Name   string    `json:"name"`
	From   string    `json:"from,omitempty"` // with To, the link
	To     string    `json:"to,omitempty"`
	Unit   string    `json:"unit"`
	Label  string    `json:"label"`
	Better string    `json:"better,omitempty"` // as params.Metric's
	Runs   int       `json:"runs"`             // how many have it
	First  time.Time `json:"first"`            // start of the oldest and the newest of them
	Last   time.Time `json:"last"`

	key int64 // of its row
}

// Link names the link, "" for the whole network.
func (f Followed) Link() string { return params.Metric{From: f.From, To: f.To}.Link() }

// Named reports whether name is that of f, with its message size or without: "rate" names "rate.64KiB".
func (f Followed) Named(name string) bool {
	base, _ := params.SplitSize(f.Name)
	name = params.Renamed(name)
	return name == f.Name || name == base
}

type Reading struct {
	Run   string      `json:"run"`
	At    time.Time   `json:"at"` // start of the run
	Value float64     `json:"value"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
	Sizes string      `json:"sizes,omitempty"` // that it was fitted to; "" is not known, or none
}

// Followed lists the metrics that can be followed: those of the whole network, then those of links, each by name.
func (s *Store) Followed(ctx context.Context) ([]Followed, error) {
	return collect(ctx, s, "list what is followed", func(f *Followed) []any {
		return []any{&f.key, &f.Name, &f.From, &f.To, &f.Unit, &f.Label, &f.Better, &f.Runs, moment{&f.First},
			moment{&f.Last}}
	}, `SELECT key, name, sender, receiver, unit, label, better, runs,
		(SELECT min(started) FROM readings WHERE metric = key), (SELECT max(started) FROM readings WHERE metric = key)
		FROM metrics WHERE runs > 0 ORDER BY sender <> '', sender, receiver, name, unit`)
}

// Series returns the values of a metric that Followed has listed in the runs of a filter, oldest first. The filter's
// Last counts the runs that have it.
func (s *Store) Series(ctx context.Context, filter Filter, of Followed) ([]Reading, error) {
	type row struct {
		Reading
		lo, hi *float64
	}
	rows, err := collect(ctx, s, "read a series", func(r *row) []any {
		return []any{&r.Run, moment{&r.At}, &r.Value, &r.lo, &r.hi, &r.Sizes}
	}, `SELECT runs.id, runs.started, value, lo, hi, sizes FROM readings JOIN runs ON runs.key = readings.run
		WHERE metric = ? AND readings.started `+filtered+` ORDER BY readings.started DESC, readings.run DESC LIMIT ?`,
		append([]any{of.key}, filter.args()...)...)
	out := make([]Reading, len(rows))
	for i, r := range rows {
		if r.lo != nil && r.hi != nil {
			r.CI95 = &[2]float64{*r.lo, *r.hi}
		}
		out[len(rows)-1-i] = r.Reading
	}
	return out, err
}

// What stores the readings of a run. Of what a params.json names twice, the first value stands.
const (
	addMetric = `INSERT INTO metrics (name, sender, receiver, unit, label, better) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (name, sender, receiver, unit) DO UPDATE SET label = excluded.label, better = excluded.better
		RETURNING key`
	addReading = `INSERT INTO readings (metric, started, run, value, lo, hi, sizes) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`
	countMetrics = `UPDATE metrics SET runs = runs + ?
		WHERE key IN (SELECT metric FROM readings WHERE started = ? AND run = ?)`
)

// addReadings stores the metrics of a run that are ok. The label of a metric is that of the run added last.
func (tx *transaction) addReadings(metrics []params.Metric, started, run int64) {
	metric, err := tx.PrepareContext(tx.ctx, addMetric)
	reading, other := tx.PrepareContext(tx.ctx, addReading) // both end with the transaction
	tx.err = cmp.Or(tx.err, err, other)
	for _, m := range metrics {
		if m.Status != params.StatusOK || tx.err != nil {
			continue
		}
		var key int64
		var lo, hi any
		if m.CI95 != nil {
			lo, hi = m.CI95[0], m.CI95[1]
		}
		tx.err = metric.QueryRowContext(tx.ctx, m.Name, m.From, m.To, m.Unit, m.Label, m.Better).Scan(&key)
		if tx.err == nil {
			_, tx.err = reading.ExecContext(tx.ctx, key, started, run, m.Value, lo, hi, m.Sizes)
		}
	}
	tx.exec(countMetrics, 1, started, run)
}
