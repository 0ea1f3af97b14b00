/**
 * Which objects there are, one row for the bytes of one hash of a tenant. A row is what uploads and removals of the same
 * bytes agree by, in whatever process they run. Objects of earlier versions get the rows that name them.
 */
export const OBJECTS_SCHEMA = `
CREATE TABLE objects (
  tenant TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('live', 'deleting')),
  -- another each time the bytes come, or begin to go: who put them in an earlier life has to put them again
  life TEXT NOT NULL,
  -- the run of a process that removes it, or did
  claimed_by TEXT,
  -- when bytes were received for it last, or when their removal began
  touched_at INTEGER NOT NULL,
  -- since when it may be that nothing names it: it is being received without a row that holds it, or is to be removed
  loose_since INTEGER,
  PRIMARY KEY (tenant, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX objects_loose ON objects (tenant, loose_since) WHERE loose_since IS NOT NULL;
INSERT INTO objects (tenant, sha256, state, life, touched_at)
  SELECT tenant, substr(object_key, -64), 'live', 'first', max(created_at) FROM (
    SELECT s.tenant, d.object_key, d.created_at FROM documents d JOIN spaces s ON s.key = d.space_key
    UNION ALL SELECT tenant, published_object_key, created_at FROM staged_commits
      WHERE status IN ('received', 'object-staged', 'object-verified', 'failed-retryable')
    UNION ALL SELECT tenant, object_key, created_at FROM chat_files
    UNION ALL SELECT s.tenant, f.object_key, f.created_at FROM workspace_files f JOIN spaces s ON s.key = f.space_key
    UNION ALL SELECT s.tenant, f.object_key, f.updated_at FROM snapshot_files f JOIN spaces s ON s.key = f.space_key)
  -- a damaged key names no object
  WHERE length(object_key) = 99 AND substr(object_key, -64) NOT GLOB '*[^0-9a-f]*'
  GROUP BY tenant, substr(object_key, -64);
`
