-- The hosts of the watch that found a change, with commas between them; empty where they are not known.

-- +goose Up
ALTER TABLE changes ADD COLUMN watched TEXT NOT NULL DEFAULT '';
