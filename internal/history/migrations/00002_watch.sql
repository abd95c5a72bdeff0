-- What calib watch sees, and the changes that it finds. Times are nanoseconds since 1970, UTC.

-- +goose Up
-- What was seen of a network at a time, or, where span is not 0, in so many nanoseconds from then on. Data is the watch's.
CREATE TABLE looks (
    key  INTEGER PRIMARY KEY AUTOINCREMENT,
    at   INTEGER NOT NULL,
    span INTEGER NOT NULL,
    data BLOB    NOT NULL
) STRICT;

CREATE INDEX looks_at ON looks (at);

-- What has become slower: the network where there are no hosts, a host, or a pair. It has ended where there is a time over; usual says
-- that it has not, but has lasted so long that it is no news. No ratio is that of a pair between which nothing comes through.
CREATE TABLE changes (
    key       INTEGER PRIMARY KEY AUTOINCREMENT,
    first     TEXT    NOT NULL,
    second    TEXT    NOT NULL,
    quantity  TEXT    NOT NULL,
    direction TEXT    NOT NULL,
    since     INTEGER NOT NULL,
    found     INTEGER NOT NULL,
    over      INTEGER,
    usual     INTEGER NOT NULL,
    ratio     REAL,
    lo        REAL,
    hi        REAL,
    evidence  REAL    NOT NULL,
    says      TEXT    NOT NULL
) STRICT;

CREATE INDEX changes_found ON changes (found);

-- The newest fingerprint of each host that is watched, as JSON.
CREATE TABLE machines (
    host TEXT PRIMARY KEY,
    says TEXT NOT NULL
) STRICT, WITHOUT ROWID;
