#!/bin/bash
# Runs once, in a new primary: the roles and the database. The role of the gateways is no superuser, since row-level security
# does not hold for those.
set -euo pipefail
quoted() { sed "s/'/''/g" "/run/secrets/$1"; }
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres << SQL
CREATE ROLE ks LOGIN PASSWORD '$(quoted postgres-ks)';
CREATE ROLE replication LOGIN REPLICATION PASSWORD '$(quoted postgres-replication)';
CREATE DATABASE ks OWNER ks TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C';
SQL
echo 'host replication replication all scram-sha-256' >> "$PGDATA/pg_hba.conf"
