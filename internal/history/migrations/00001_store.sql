-- Runs, what was measured in them, and what people say about them. Times are nanoseconds since 1970, UTC; numbers are in SI units.

-- +goose Up
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
    UNIQUE (started, key)
) STRICT;

-- params.json, compressed by gzip; apart from runs, so that listing them reads none of it. How a run was measured is the detail of its
-- run.json, its plan above all, and how long it took [ns]; NULL of runs that came without a run.json.
CREATE TABLE documents (
    run    INTEGER PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE,
    params BLOB NOT NULL,
    detail BLOB,
    took   INTEGER
) STRICT;

-- What can be followed: of the link of two hosts, or of the whole network where these are empty; and how many runs have it.
CREATE TABLE metrics (
    key      INTEGER PRIMARY KEY,
    name     TEXT    NOT NULL,
    unit     TEXT    NOT NULL,
    label    TEXT    NOT NULL,
    better   TEXT    NOT NULL,
    runs     INTEGER NOT NULL DEFAULT 0,
    sender   TEXT    NOT NULL DEFAULT '',
    receiver TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE UNIQUE INDEX metrics_named ON metrics (name, sender, receiver, unit);

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

CREATE TABLE baselines (
    key   INTEGER PRIMARY KEY,
    name  TEXT    NOT NULL UNIQUE CHECK (name <> ''),
    note  TEXT    NOT NULL,
    made  INTEGER NOT NULL,
    noise BLOB -- noise.json of runs without a change
) STRICT;

CREATE TABLE baseline_runs (
    baseline INTEGER NOT NULL REFERENCES baselines (key) ON DELETE CASCADE,
    run      INTEGER NOT NULL REFERENCES runs (key) ON DELETE RESTRICT,
    PRIMARY KEY (baseline, run)
) STRICT, WITHOUT ROWID;

CREATE INDEX baselines_of_run ON baseline_runs (run);

-- Changes that are known; an empty metric or link is any. It outlives the run it began with.
CREATE TABLE acks (
    key     INTEGER PRIMARY KEY AUTOINCREMENT,
    metric  TEXT    NOT NULL,
    link    TEXT    NOT NULL,
    run     TEXT    NOT NULL,
    started INTEGER NOT NULL,
    reason  TEXT    NOT NULL,
    who     TEXT    NOT NULL,
    made    INTEGER NOT NULL
) STRICT;

-- The log of all that was done to the store.
CREATE TABLE events (
    key     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      INTEGER NOT NULL,
    kind    TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    detail  TEXT    NOT NULL
) STRICT;

-- +goose StatementBegin
CREATE TRIGGER events_stay BEFORE DELETE ON events
BEGIN
    SELECT raise(ABORT, 'the log of a history is only appended to');
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER events_stand BEFORE UPDATE ON events
BEGIN
    SELECT raise(ABORT, 'the log of a history is only appended to');
END;
-- +goose StatementEnd
