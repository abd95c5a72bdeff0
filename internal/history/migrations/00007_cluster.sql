-- L of the cluster model has the name L_cluster; its coefficients have gone by that of LogGP's parameter, as L.l0.

-- +goose Up
UPDATE metrics SET name = 'L_cluster' || substr(name, 2) WHERE name GLOB 'L.*';
