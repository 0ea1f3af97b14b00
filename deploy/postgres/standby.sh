#!/bin/bash
# A standby of the server named by PRIMARY: copies it when it is new, then follows it. From then on the primary answers a
# commit when it is here, too.
set -euo pipefail
: "${PGDATA:?}" "${PRIMARY:?}"
secrets=${SECRETS:-/run/secrets}
port=${PRIMARY_PORT:-5432}
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  PGPASSWORD=$(cat "$secrets/postgres-replication") \
    pg_basebackup -h "$PRIMARY" -p "$port" -U replication -D "$PGDATA" -X stream -c fast
  chmod 0700 "$PGDATA"
  touch "$PGDATA/standby.signal"
  cat >> "$PGDATA/postgresql.auto.conf" << CONF
primary_conninfo = 'host=$PRIMARY port=$port user=replication password=$(cat "$secrets/postgres-replication") application_name=standby'
CONF
  PGPASSWORD=$(cat "$secrets/postgres-admin") psql -v ON_ERROR_STOP=1 -h "$PRIMARY" -p "$port" -U postgres -d postgres \
    -c "ALTER SYSTEM SET synchronous_standby_names = 'ANY 1 (standby)'" -c 'SELECT pg_reload_conf()'
fi
exec postgres -c hot_standby=on "$@"
