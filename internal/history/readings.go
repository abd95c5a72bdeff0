package history

import (
	"context"
	"database/sql"
	"errors"

	"calib/fit/params"
)

// dictionary finds or makes the rows of hosts, links and metrics that readings point to. Its statements end with the transaction.
type dictionary struct {
	hosts                 map[string]int64
	findHost, makeHost    *sql.Stmt
	findLink, makeLink    *sql.Stmt
	findMetric, newMetric *sql.Stmt
	relabel, insert       *sql.Stmt
}

func newDictionary(ctx context.Context, tx *sql.Tx) (*dictionary, error) {
	d := &dictionary{hosts: map[string]int64{}}
	var err error
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&d.findHost, "SELECT key FROM hosts WHERE name = ?"},
		{&d.makeHost, "INSERT INTO hosts (name) VALUES (?) RETURNING key"},
		{&d.findLink, "SELECT key FROM links WHERE sender = ? AND receiver = ?"},
		{&d.makeLink, "INSERT INTO links (sender, receiver) VALUES (?, ?) RETURNING key"},
		{&d.findMetric, "SELECT key, label, better FROM metrics WHERE name = ? AND ifnull(link, 0) = ? AND unit = ?"},
		{&d.newMetric, "INSERT INTO metrics (name, link, unit, label, better) VALUES (?, nullif(?, 0), ?, ?, ?) RETURNING key"},
		{&d.relabel, "UPDATE metrics SET label = ?, better = ? WHERE key = ?"},
		{&d.insert, "INSERT INTO readings (metric, started, run, value, lo, hi) VALUES (?, ?, ?, ?, ?, ?)"},
	} {
		if *p.to, err = tx.PrepareContext(ctx, p.text); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// key runs find, and makes the row if there is none.
func key(ctx context.Context, find, make *sql.Stmt, args ...any) (k int64, err error) {
	err = find.QueryRowContext(ctx, args...).Scan(&k)
	if errors.Is(err, sql.ErrNoRows) {
		err = make.QueryRowContext(ctx, args...).Scan(&k)
	}
	return k, err
}

func (d *dictionary) host(ctx context.Context, name string) (k int64, err error) {
	if k, ok := d.hosts[name]; ok {
		return k, nil
	}
	k, err = key(ctx, d.findHost, d.makeHost, name)
	d.hosts[name] = k
	return k, err
}

// link returns 0 for the whole network.
func (d *dictionary) link(ctx context.Context, m params.Metric) (int64, error) {
	if m.Link() == "" {
		return 0, nil
	}
	from, err := d.host(ctx, m.From)
	if err != nil {
		return 0, err
	}
	to, err := d.host(ctx, m.To)
	if err != nil {
		return 0, err
	}
	return key(ctx, d.findLink, d.makeLink, from, to)
}

// metric returns the row of m. Its label is that of the run added last.
func (d *dictionary) metric(ctx context.Context, m params.Metric) (k int64, err error) {
	link, err := d.link(ctx, m)
	if err != nil {
		return 0, err
	}
	var label, better string
	err = d.findMetric.QueryRowContext(ctx, m.Name, link, m.Unit).Scan(&k, &label, &better)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		err = d.newMetric.QueryRowContext(ctx, m.Name, link, m.Unit, m.Label, m.Better).Scan(&k)
	case err == nil && (label != m.Label || better != m.Better):
		_, err = d.relabel.ExecContext(ctx, m.Label, m.Better, k)
	}
	return k, err
}

// addReadings stores the metrics of a run.
func addReadings(ctx context.Context, tx *sql.Tx, metrics []params.Metric, started, run int64) error {
	d, err := newDictionary(ctx, tx)
	if err != nil {
		return err
	}
	for _, m := range metrics {
		k, err := d.metric(ctx, m)
		if err != nil {
			return err
		}
		var lo, hi sql.NullFloat64
		if m.CI95 != nil {
			lo, hi = sql.NullFloat64{Float64: m.CI95[0], Valid: true}, sql.NullFloat64{Float64: m.CI95[1], Valid: true}
		}
		if _, err := d.insert.ExecContext(ctx, k, started, run, m.Value, lo, hi); err != nil {
			return err
		}
	}
	return nil
}
