-- The numbers of a run lie together: 32 metrics of neighbouring keys to a tile, so that many series are read by few rows. What the
-- readings of older stores hold is moved here by the next step.

-- +goose Up

-- The numbers of one run of the metrics with keys from 32*strip on; internal/history/tile.go has the form. The table is its own
-- index, in the order of time, for which the start of the run is repeated here; the foreign key keeps the two equal.
CREATE TABLE tiles (
    strip   INTEGER NOT NULL,
    started INTEGER NOT NULL,
    run     INTEGER NOT NULL,
    numbers BLOB    NOT NULL,
    PRIMARY KEY (strip, started, run),
    FOREIGN KEY (started, run) REFERENCES runs (started, key) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX tiles_of_run ON tiles (started, run);

-- How many runs have a metric, and the start of the oldest and of the newest of them.
ALTER TABLE metrics ADD COLUMN runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metrics ADD COLUMN first INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metrics ADD COLUMN last INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE metrics DROP COLUMN last;
ALTER TABLE metrics DROP COLUMN first;
ALTER TABLE metrics DROP COLUMN runs;
DROP TABLE tiles;
