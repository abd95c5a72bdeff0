package history

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"

	"calib/fit/params"
)

// linkKey is the row of a link, given its sender and receiver; NULL where there is none of these hosts.
const linkKey = `(SELECT links.key FROM links JOIN hosts AS sender ON sender.key = links.sender
	JOIN hosts AS receiver ON receiver.key = links.receiver WHERE sender.name = ? AND receiver.name = ?)`

// What stores the metrics of a run, with the rows they point to.
const (
	addHost = "INSERT INTO hosts (name) VALUES (?) ON CONFLICT DO NOTHING"
	addLink = `INSERT INTO links (sender, receiver) SELECT sender.key, receiver.key FROM hosts AS sender, hosts AS receiver
		WHERE sender.name = ? AND receiver.name = ? ON CONFLICT DO NOTHING`
	addMetric = `INSERT INTO metrics (name, unit, link, label, better, runs, first, last) VALUES (?1, ?2, ` + linkKey + `, ?, ?, 1, ?7, ?7)
		ON CONFLICT (name, ifnull(link, 0), unit) DO UPDATE SET label = excluded.label, better = excluded.better, runs = runs + 1,
		first = iif(runs = 0, excluded.first, min(first, excluded.first)), last = max(last, excluded.last) RETURNING key`
	addTile = "INSERT INTO tiles (strip, started, run, numbers) VALUES (?, ?, ?, ?)"
)

// addReadings stores the metrics of a run. Of what a params.json names twice, the first value stands. The label of a
// metric is that of the run added last.
func addReadings(ctx context.Context, tx *sql.Tx, metrics []params.Metric, started, run int64) error {
	var err error
	prepared := map[string]*sql.Stmt{} // they end with the transaction
	statement := func(text string) *sql.Stmt {
		if err == nil && prepared[text] == nil {
			prepared[text], err = tx.PrepareContext(ctx, text)
		}
		return prepared[text]
	}
	exec := func(text string, args ...any) {
		if s := statement(text); err == nil {
			_, err = s.ExecContext(ctx, args...)
		}
	}
	type named struct{ name, unit, from, to string }
	stored := map[named]bool{}
	tiles := map[int64][]byte{} // by strip
	for _, m := range metrics {
		n := named{m.Name, m.Unit, m.From, m.To}
		if stored[n] {
			continue
		}
		stored[n] = true
		if m.Link() != "" {
			exec(addHost, m.From)
			exec(addHost, m.To)
			exec(addLink, m.From, m.To)
		}
		var key int64
		if s := statement(addMetric); err == nil {
			err = s.QueryRowContext(ctx, m.Name, m.Unit, m.From, m.To, m.Label, m.Better, started).Scan(&key)
		}
		strip, slot := stripOf(key)
		tiles[strip] = appendNumber(tiles[strip], slot, m.Value, m.CI95)
	}
	for _, strip := range slices.Sorted(maps.Keys(tiles)) {
		exec(addTile, strip, started, run, tiles[strip])
	}
	return err
}

// removeRun takes the row of a run out, with all that belongs to it.
func removeRun(ctx context.Context, tx *sql.Tx, run, started int64) error {
	strips, err := integers(ctx, tx, "SELECT strip FROM tiles WHERE started = ? AND run = ?", started, run)
	if err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE key = ?", run); err != nil {
		return err
	}
	for _, strip := range strips {
		if err := recount(ctx, tx, strip); err != nil {
			return err
		}
	}
	return nil
}

// recount brings up to date how many runs have the metrics of a strip, and the oldest and the newest of them.
func recount(ctx context.Context, tx *sql.Tx, strip int64) (err error) {
	rows, err := tx.QueryContext(ctx, "SELECT started, numbers FROM tiles WHERE strip = ? ORDER BY started", strip)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var found [tileWidth]struct{ runs, first, last int64 }
	for rows.Next() {
		var started int64
		var tile sql.RawBytes
		if err := rows.Scan(&started, &tile); err != nil {
			return err
		}
		err := eachNumber(tile, func(n number) {
			f := &found[n.slot]
			if f.runs == 0 {
				f.first = started
			}
			f.runs++
			f.last = started
		})
		if err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for slot, f := range found {
		if _, err := tx.ExecContext(ctx, "UPDATE metrics SET runs = ?, first = ?, last = ? WHERE key = ?", f.runs, f.first, f.last,
			strip*tileWidth+int64(slot)); err != nil {
			return err
		}
	}
	return nil
}

// integers reads a column of integers.
func integers(ctx context.Context, tx *sql.Tx, query string, args ...any) (out []int64, err error) {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var v int64
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}
