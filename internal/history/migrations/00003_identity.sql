-- The parameter identity_hku of calib.params/1 is identity_cluster: its series goes on under the new name.

-- +goose Up
UPDATE metrics SET name = 'identity_cluster' WHERE name = 'identity_hku';
UPDATE acks SET metric = 'identity_cluster' WHERE metric = 'identity_hku';

-- +goose Down
UPDATE metrics SET name = 'identity_hku' WHERE name = 'identity_cluster';
UPDATE acks SET metric = 'identity_hku' WHERE metric = 'identity_cluster';
