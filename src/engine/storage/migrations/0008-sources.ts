/** Sources. Which page became which document stands in the documents themselves. */
export const SOURCES_SCHEMA = `
CREATE TABLE sources (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('upload', 'object-storage', 'connector', 'web')),
  uri TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'syncing', 'error', 'disabled')),
  permission_scope TEXT NOT NULL,
  metadata TEXT NOT NULL, -- the client's keys, without credentials
  credentials BLOB, -- sealed
  version INTEGER NOT NULL,
  last_sync_at INTEGER,
  last_sync_error TEXT,
  next_sync_at INTEGER,
  sync_started_at INTEGER,
  sync_summary TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  deletes_documents INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX sources_space ON sources (space_key, id);
CREATE INDEX sources_due ON sources (next_sync_at) WHERE next_sync_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX sources_deleted ON sources (deleted_at) WHERE deleted_at IS NOT NULL;
`
