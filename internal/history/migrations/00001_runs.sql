-- Runs and what was measured in them. Times are nanoseconds since 1970, UTC; numbers are in SI units.

-- +goose Up

-- Where runs ran: hosts in rank order and their environment, as JSON. Night after night it is the same row.
CREATE TABLE clusters (
    key         INTEGER PRIMARY KEY,
    digest      BLOB NOT NULL UNIQUE,
    hosts       TEXT NOT NULL,
    environment TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    key      INTEGER PRIMARY KEY,
    id       TEXT    NOT NULL UNIQUE CHECK (id <> ''),
    started  INTEGER NOT NULL,
    added    INTEGER NOT NULL,
    plan     TEXT    NOT NULL,
    hosts    INTEGER NOT NULL,
    status   TEXT    NOT NULL,
    label    TEXT    NOT NULL,
    revision TEXT    NOT NULL,
    path     TEXT    NOT NULL,
    digest   BLOB    NOT NULL, -- SHA-256 of params.json
    cluster  INTEGER NOT NULL REFERENCES clusters (key),
    UNIQUE (started, key)
) STRICT;

-- params.json, compressed by gzip; apart from runs, so that listing them reads none of it.
CREATE TABLE documents (
    run    INTEGER PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE,
    params BLOB NOT NULL
) STRICT;

CREATE TABLE hosts (
    key  INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE links (
    key     INTEGER PRIMARY KEY,
    sender  INTEGER NOT NULL REFERENCES hosts (key),
    receiver INTEGER NOT NULL REFERENCES hosts (key),
    UNIQUE (sender, receiver)
) STRICT;

-- What can be followed: of a link, or of the whole network where link is NULL.
CREATE TABLE metrics (
    key    INTEGER PRIMARY KEY,
    name   TEXT NOT NULL,
    link   INTEGER REFERENCES links (key),
    unit   TEXT NOT NULL,
    label  TEXT NOT NULL,
    better TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX metrics_named ON metrics (name, ifnull(link, 0), unit);

-- One number of one run. The table is its own index: a series lies together and in the order of time, for which the start of
-- the run is repeated here; the foreign key keeps the two equal.
CREATE TABLE readings (
    metric  INTEGER NOT NULL REFERENCES metrics (key),
    started INTEGER NOT NULL,
    run     INTEGER NOT NULL,
    value   REAL    NOT NULL,
    lo      REAL,
    hi      REAL,
    PRIMARY KEY (metric, started, run),
    FOREIGN KEY (started, run) REFERENCES runs (started, key) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX readings_of_run ON readings (started, run);

-- +goose Down
DROP TABLE readings;
DROP TABLE metrics;
DROP TABLE links;
DROP TABLE hosts;
DROP TABLE documents;
DROP TABLE runs;
DROP TABLE clusters;
