-- The first half of step 7. A store before version 4 has this table already.
CREATE TABLE IF NOT EXISTS readings (
    metric  INTEGER NOT NULL REFERENCES metrics (key),
    started INTEGER NOT NULL,
    run     INTEGER NOT NULL,
    value   REAL    NOT NULL,
    lo      REAL,
    hi      REAL,
    PRIMARY KEY (metric, started, run),
    FOREIGN KEY (started, run) REFERENCES runs (started, key) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
