-- How a run was measured: the detail of its run.json, its plan above all, and how long it took [ns]; NULL of runs that an older calib added,
-- or that came without a run.json.

-- +goose Up
ALTER TABLE documents ADD COLUMN detail BLOB;
ALTER TABLE documents ADD COLUMN took INTEGER;

-- +goose Down
ALTER TABLE documents DROP COLUMN took;
ALTER TABLE documents DROP COLUMN detail;
