/** Retention policies, and what each space holds. */
export const RETENTION_SCHEMA = `
CREATE TABLE retention_policies (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER, -- NULL: the policy of the tenant
  answer_trace_days INTEGER NOT NULL,
  evidence_cache_days INTEGER NOT NULL,
  inactive_projection_days INTEGER NOT NULL,
  artifact_versions INTEGER NOT NULL,
  raw_document_days INTEGER,
  session_minutes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX retention_policies_tenant ON retention_policies (tenant) WHERE space_key IS NULL;
CREATE UNIQUE INDEX retention_policies_space ON retention_policies (space_key) WHERE space_key IS NOT NULL;

-- what a space holds, kept by triggers: quotas are checked on every upload, and counting would read every row
CREATE TABLE space_usage (
  space_key INTEGER PRIMARY KEY,
  document_count INTEGER NOT NULL DEFAULT 0,
  raw_bytes INTEGER NOT NULL DEFAULT 0,
  artifact_bytes INTEGER NOT NULL DEFAULT 0,
  segment_count INTEGER NOT NULL DEFAULT 0,
  node_count INTEGER NOT NULL DEFAULT 0,
  trace_bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
-- elements of the parse artifact, which text search calls segments
ALTER TABLE versions ADD COLUMN segment_count INTEGER NOT NULL DEFAULT 0;
INSERT INTO space_usage
  SELECT key,
    (SELECT count(*) FROM documents WHERE space_key = spaces.key AND deleted_at IS NULL),
    (SELECT coalesce(sum(size_bytes), 0) FROM documents WHERE space_key = spaces.key AND deleted_at IS NULL),
    (SELECT coalesce(sum(length(artifact) + length(outline) + length(items)), 0) FROM versions WHERE space_key = spaces.key)
      + (SELECT coalesce(sum(length(bytes)), 0) FROM item_assets
         WHERE version_key IN (SELECT key FROM versions WHERE space_key = spaces.key)),
    0,
    (SELECT coalesce(sum(node_count), 0) FROM versions WHERE space_key = spaces.key AND until_revision IS NULL),
    (SELECT coalesce(sum(octet_length(query) + octet_length(steps)), 0) FROM traces WHERE space_key = spaces.key)
      + (SELECT coalesce(sum(octet_length(body)), 0) FROM evidence_bundles WHERE space_key = spaces.key)
  FROM spaces;
CREATE TRIGGER usage_document_added AFTER INSERT ON documents WHEN NEW.deleted_at IS NULL BEGIN
  INSERT INTO space_usage (space_key, document_count, raw_bytes) VALUES (NEW.space_key, 1, NEW.size_bytes)
    ON CONFLICT (space_key) DO UPDATE SET document_count = document_count + 1, raw_bytes = raw_bytes + excluded.raw_bytes;
END;
CREATE TRIGGER usage_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE space_usage SET document_count = document_count - 1, raw_bytes = raw_bytes - OLD.size_bytes
    WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER usage_version_added AFTER INSERT ON versions BEGIN
  INSERT INTO space_usage (space_key, artifact_bytes, segment_count, node_count)
    VALUES (NEW.space_key, length(NEW.artifact) + length(NEW.outline) + length(NEW.items), NEW.segment_count,
            CASE WHEN NEW.until_revision IS NULL THEN NEW.node_count ELSE 0 END)
    ON CONFLICT (space_key) DO UPDATE SET artifact_bytes = artifact_bytes + excluded.artifact_bytes,
      segment_count = segment_count + excluded.segment_count, node_count = node_count + excluded.node_count;
END;
CREATE TRIGGER usage_version_superseded AFTER UPDATE OF until_revision ON versions
  WHEN OLD.until_revision IS NULL AND NEW.until_revision IS NOT NULL BEGIN
  UPDATE space_usage SET node_count = node_count - OLD.node_count WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER usage_version_removed AFTER DELETE ON versions BEGIN
  UPDATE space_usage SET
    artifact_bytes = artifact_bytes - length(OLD.artifact) - length(OLD.outline) - length(OLD.items),
    segment_count = segment_count - OLD.segment_count,
    node_count = node_count - CASE WHEN OLD.until_revision IS NULL THEN OLD.node_count ELSE 0 END
    WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER usage_item_added AFTER INSERT ON item_assets BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes + length(NEW.bytes)
    WHERE space_key = (SELECT space_key FROM versions WHERE key = NEW.version_key);
END;
CREATE TRIGGER usage_item_removed AFTER DELETE ON item_assets BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes - length(OLD.bytes)
    WHERE space_key = (SELECT space_key FROM versions WHERE key = OLD.version_key);
END;
CREATE TRIGGER usage_trace_added AFTER INSERT ON traces BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.query) + octet_length(NEW.steps))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_trace_removed AFTER DELETE ON traces BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.query) - octet_length(OLD.steps)
    WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER usage_bundle_added AFTER INSERT ON evidence_bundles BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_bundle_removed AFTER DELETE ON evidence_bundles BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
END;
-- found by the background clean-up, and by nothing else
CREATE INDEX documents_age ON documents (space_key, created_at) WHERE deleted_at IS NULL;
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE INDEX versions_superseded ON versions (space_key, doc_key, version)
  WHERE until_revision IS NOT NULL AND obsolete_at IS NULL;
CREATE INDEX versions_inactive ON versions (space_key, until_revision)
  WHERE until_revision IS NOT NULL AND first_node IS NOT NULL;
`
