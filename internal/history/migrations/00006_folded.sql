-- The times of the looks that a folded look was made of, so that a merge tells what it has. Those of an older build are not known.

-- +goose Up
CREATE TABLE folded (
    at   INTEGER NOT NULL,
    look INTEGER NOT NULL, -- its key, which stays
    PRIMARY KEY (at, look)
) STRICT, WITHOUT ROWID;
