-- What people say about runs: baselines, known changes, and the log of all that was done to the store.

-- +goose Up
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

-- +goose Down
DROP TABLE events;
DROP TABLE acks;
DROP TABLE baseline_runs;
DROP TABLE baselines;
