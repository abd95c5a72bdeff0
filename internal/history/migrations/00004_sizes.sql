-- The message sizes that a number was fitted to; empty where it is not known, or there are none.

-- +goose Up
ALTER TABLE readings ADD COLUMN sizes TEXT NOT NULL DEFAULT '';
