package history

import (
	"context"
	"database/sql"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrations embed.FS

// unpackVersion is the step that is not in the directory migrations. Step 5 is no longer there: it filled the tiles
// that this one empties.
const unpackVersion = 7

func (s *Store) provider() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	unpacking := goose.NewGoMigration(unpackVersion, &goose.GoFunc{RunTx: unpack}, nil)
	p, err := goose.NewProvider(goose.DialectSQLite3, s.db, files, goose.WithLogger(goose.NopLogger()),
		goose.WithDisableGlobalRegistry(true), goose.WithGoMigrations(unpacking))
	if err != nil {
		return nil, fmt.Errorf("history %s: migrations: %w", s.path, err)
	}
	return p, nil
}

// A store before version 4 has this table already.
const makeReadings = `
	CREATE TABLE IF NOT EXISTS readings (
		metric  INTEGER NOT NULL REFERENCES metrics (key),
		started INTEGER NOT NULL,
		run     INTEGER NOT NULL,
		value   REAL    NOT NULL,
		lo      REAL,
		hi      REAL,
		PRIMARY KEY (metric, started, run),
		FOREIGN KEY (started, run) REFERENCES runs (started, key) ON DELETE CASCADE
	) STRICT, WITHOUT ROWID;`

// The hosts of a link are named in its metrics; they are empty for the whole network. Hosts and environment of a run
// are in its params.json only.
const dropTiles = `
	CREATE INDEX IF NOT EXISTS readings_of_run ON readings (started, run);
	DROP TABLE tiles;
	UPDATE metrics SET runs = (SELECT count(*) FROM readings WHERE metric = key);
	ALTER TABLE metrics DROP COLUMN first;
	ALTER TABLE metrics DROP COLUMN last;
	ALTER TABLE metrics ADD COLUMN sender TEXT NOT NULL DEFAULT '';
	ALTER TABLE metrics ADD COLUMN receiver TEXT NOT NULL DEFAULT '';
	UPDATE metrics SET (sender, receiver) = (SELECT sender.name, receiver.name FROM links
		JOIN hosts AS sender ON sender.key = links.sender JOIN hosts AS receiver ON receiver.key = links.receiver
		WHERE links.key = link) WHERE link IS NOT NULL;
	DROP INDEX metrics_named;
	ALTER TABLE metrics DROP COLUMN link;
	CREATE UNIQUE INDEX metrics_named ON metrics (name, sender, receiver, unit);
	DROP TABLE links;
	DROP TABLE hosts;
	ALTER TABLE runs DROP COLUMN cluster;
	DROP TABLE clusters;`

// unpack moves the numbers of all runs from tiles to readings, a row for each. A tile holds the numbers of one run, of
// metrics whose keys are 32*strip and the slot of the number. Each is a byte of its slot, its value in 8 bytes, the
// lowest first, and, where 0x80 is set in the first byte, the bounds of its interval.
func unpack(ctx context.Context, tx *sql.Tx) (err error) {
	if _, err := tx.ExecContext(ctx, makeReadings); err != nil {
		return err
	}
	insert, err := tx.PrepareContext(ctx, addReading)
	if err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, "SELECT strip, started, run, numbers FROM tiles")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var strip, started, run int64
		var tile sql.RawBytes
		if err := rows.Scan(&strip, &started, &run, &tile); err != nil {
			return err
		}
		for len(tile) > 0 {
			slot, floats := int64(tile[0]&0x7f), 1
			if tile[0]&0x80 != 0 {
				floats = 3
			}
			if slot >= 32 || len(tile) < 1+8*floats {
				return fmt.Errorf("%w: numbers of a run cannot be read", ErrDamaged)
			}
			var number [3]any // value, lo, hi
			for i := range floats {
				number[i] = math.Float64frombits(binary.LittleEndian.Uint64(tile[1+8*i:]))
			}
			if _, err := insert.ExecContext(ctx, 32*strip+slot, started, run, number[0], number[1], number[2]); err != nil {
				return err
			}
			tile = tile[1+8*floats:]
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, dropTiles)
	return err
}
