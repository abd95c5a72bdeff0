-- The second half of step 7, when the numbers are in readings. The hosts of a link are named in its metrics; they are empty for the
-- whole network. Hosts and environment of a run are in its params.json only.
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
DROP TABLE clusters;
