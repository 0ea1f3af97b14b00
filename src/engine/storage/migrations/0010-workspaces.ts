/** Files that agents write, and snapshots of them. Bytes stand among the objects. */
export const WORKSPACES_SCHEMA = `
-- one row for each version of a file, seen by readers at from_seq <= s < until_seq. A folder begins with the workspace's
-- name; each of its parts is closed by U+0001, as in documents.folder
CREATE TABLE workspace_files (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL, -- stays the same when the file is overwritten or moved
  space_key INTEGER NOT NULL,
  folder TEXT NOT NULL,
  base TEXT NOT NULL,
  object_key TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  version INTEGER NOT NULL,
  subject TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  from_seq INTEGER NOT NULL,
  until_seq INTEGER,
  until_at INTEGER,
  removed INTEGER NOT NULL DEFAULT 0 -- shown to nobody any more
) STRICT;
CREATE UNIQUE INDEX workspace_files_live ON workspace_files (space_key, folder, base) WHERE until_seq IS NULL;
CREATE INDEX workspace_files_place ON workspace_files (space_key, folder, base, from_seq);
CREATE INDEX workspace_files_size ON workspace_files (space_key, size_bytes) WHERE until_seq IS NULL;
CREATE INDEX workspace_files_old ON workspace_files (space_key, until_at, size_bytes)
  WHERE until_seq IS NOT NULL AND removed = 0;
CREATE INDEX workspace_files_ended ON workspace_files (removed, until_at) WHERE until_seq IS NOT NULL;
CREATE INDEX workspace_files_id ON workspace_files (id);
CREATE INDEX workspace_files_object ON workspace_files (object_key);
CREATE TABLE workspace_changes (
  space_key INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;

CREATE TABLE workspace_snapshots (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  subject TEXT NOT NULL,
  workspace TEXT NOT NULL,
  name TEXT,
  session_id TEXT,
  publication_id TEXT NOT NULL,
  file_count INTEGER NOT NULL,
  total_bytes INTEGER NOT NULL,
  query_count INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX workspace_snapshots_owner ON workspace_snapshots (tenant, subject, id) WHERE deleted_at IS NULL;
CREATE INDEX workspace_snapshots_space ON workspace_snapshots (space_key, total_bytes) WHERE deleted_at IS NULL;
CREATE INDEX workspace_snapshots_deleted ON workspace_snapshots (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE TABLE snapshot_files (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  snapshot_id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  path TEXT NOT NULL, -- within the workspace
  object_key TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (snapshot_id, path)
) STRICT;
CREATE INDEX snapshot_files_space ON snapshot_files (space_key, key);
CREATE INDEX snapshot_files_object ON snapshot_files (object_key);
CREATE TABLE snapshot_queries (
  snapshot_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (snapshot_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX snapshot_queries_space ON snapshot_queries (space_key);

-- which session a question belongs to, for longer than the session lives
ALTER TABLE traces ADD COLUMN session_id TEXT;
CREATE INDEX traces_session ON traces (session_id, id) WHERE session_id IS NOT NULL;
`
