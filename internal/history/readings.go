package history

import (
	"context"
	"database/sql"
	"time"

	"calib/internal/params"
)

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
	return name == f.Name || name == base
}

// Reading is the value of a metric in one run.
type Reading struct {
	Run   string      `json:"run"`
	At    time.Time   `json:"at"` // start of the run
	Value float64     `json:"value"`
	CI95  *[2]float64 `json:"ci95,omitempty"`
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
		return []any{&r.Run, moment{&r.At}, &r.Value, &r.lo, &r.hi}
	}, `SELECT runs.id, runs.started, value, lo, hi FROM readings JOIN runs ON runs.key = readings.run
		WHERE metric = ? AND readings.started `+filtered+` ORDER BY readings.started DESC, readings.run DESC LIMIT ?`,
		append(append([]any{of.key}, filter.condition()...), limit(filter.Last))...)
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
	addReading = `INSERT INTO readings (metric, started, run, value, lo, hi) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT DO NOTHING`
	countMetrics = `UPDATE metrics SET runs = runs + ?
		WHERE key IN (SELECT metric FROM readings WHERE started = ? AND run = ?)`
)

// addReadings stores the metrics of a run that are ok. The label of a metric is that of the run added last.
func addReadings(ctx context.Context, tx *sql.Tx, metrics []params.Metric, started, run int64) error {
	metric, err := tx.PrepareContext(ctx, addMetric)
	if err != nil {
		return err
	}
	reading, err := tx.PrepareContext(ctx, addReading) // both end with the transaction
	if err != nil {
		return err
	}
	for _, m := range metrics {
		if m.Status != params.StatusOK {
			continue
		}
		var key int64
		if err := metric.QueryRowContext(ctx, m.Name, m.From, m.To, m.Unit, m.Label, m.Better).Scan(&key); err != nil {
			return err
		}
		var lo, hi any
		if m.CI95 != nil {
			lo, hi = m.CI95[0], m.CI95[1]
		}
		if _, err := reading.ExecContext(ctx, key, started, run, m.Value, lo, hi); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, countMetrics, 1, started, run)
	return err
}
