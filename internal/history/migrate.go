package history

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// packVersion is the step that is not in the directory migrations.
const packVersion = 5

func (s *Store) provider() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, s.db, files, goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true),
		goose.WithGoMigrations(goose.NewGoMigration(packVersion, &goose.GoFunc{RunTx: pack}, nil)))
	if err != nil {
		return nil, fmt.Errorf("history %s: migrations: %w", s.path, err)
	}
	return p, nil
}

// pack moves readings, a row for each number of each run, into tiles: a strip after the other, so that a long history
// needs no more memory than a short one.
func pack(ctx context.Context, tx *sql.Tx) error {
	strips, err := integers(ctx, tx, "SELECT DISTINCT key / ? FROM metrics", tileWidth)
	if err != nil {
		return err
	}
	for _, strip := range strips {
		if err := errors.Join(packStrip(ctx, tx, strip), recount(ctx, tx, strip)); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "DROP TABLE readings")
	return err
}

// packStrip moves the readings of the metrics of a strip.
func packStrip(ctx context.Context, tx *sql.Tx, strip int64) (err error) {
	rows, err := tx.QueryContext(ctx, `SELECT started, run, metric, value, lo, hi FROM readings WHERE metric >= ?1 * ?2 AND metric < (?1 + 1) * ?2
		ORDER BY started, run, metric`, strip, tileWidth)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	insert, err := tx.PrepareContext(ctx, addTile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	type of struct{ started, run int64 }
	var at of // the run whose tile is being filled
	var tile []byte
	store := func() error {
		if len(tile) == 0 {
			return nil
		}
		_, err := insert.ExecContext(ctx, strip, at.started, at.run, tile)
		tile = tile[:0]
		return err
	}
	for rows.Next() {
		var now of
		var metric int64
		var value float64
		var lo, hi *float64
		if err := rows.Scan(&now.started, &now.run, &metric, &value, &lo, &hi); err != nil {
			return err
		}
		if now != at {
			if err := store(); err != nil {
				return err
			}
			at = now
		}
		var interval *[2]float64
		if lo != nil && hi != nil {
			interval = &[2]float64{*lo, *hi}
		}
		_, slot := stripOf(metric)
		tile = appendNumber(tile, slot, value, interval)
	}
	return errors.Join(rows.Err(), store())
}
