-- A link has the first of its hosts by name as its sender, whatever their order in the run was. The readings of the turned metric go to
-- the one that is there, or it is turned.

-- +goose Up
CREATE TEMP TABLE turned (old INTEGER PRIMARY KEY, new INTEGER NOT NULL);

INSERT INTO turned SELECT a.key, b.key FROM metrics a JOIN metrics b
    ON b.name = a.name AND b.unit = a.unit AND b.sender = a.receiver AND b.receiver = a.sender
    WHERE a.sender > a.receiver;

UPDATE OR IGNORE readings SET metric = (SELECT new FROM turned WHERE old = metric) WHERE metric IN (SELECT old FROM turned);

DELETE FROM readings WHERE metric IN (SELECT old FROM turned);

UPDATE metrics SET runs = (SELECT count(*) FROM readings WHERE metric = key) WHERE key IN (SELECT new FROM turned);

DELETE FROM metrics WHERE key IN (SELECT old FROM turned);

DROP TABLE turned;

UPDATE metrics SET sender = receiver, receiver = sender WHERE sender > receiver;

UPDATE acks SET link = substr(link, instr(link, '→') + 1) || '→' || substr(link, 1, instr(link, '→') - 1)
    WHERE link <> '' AND substr(link, 1, instr(link, '→') - 1) > substr(link, instr(link, '→') + 1);
