/**
 * What people keep and decide carries its tenant first in every key: golden questions, failed queries, reviews, what
 * these quote, snapshots, sources, watches, retention policies; and what providers were used for.
 */
export const KEPT_TENANTS_SCHEMA = `
-- triggers of other tables name these in between
PRAGMA legacy_alter_table = ON;
CREATE TABLE golden_questions_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  question TEXT NOT NULL,
  expected_evidence TEXT NOT NULL,
  tags TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
INSERT INTO golden_questions_next (tenant, id, space_key, question, expected_evidence, tags, metadata, created_at,
  updated_at)
  SELECT tenant, id, space_key, question, expected_evidence, tags, metadata, created_at, updated_at FROM
  golden_questions;
CREATE TABLE failed_queries_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  query_key TEXT NOT NULL,
  cluster_key TEXT NOT NULL,
  mode TEXT NOT NULL,
  trigger TEXT NOT NULL CHECK (trigger IN ('no-retrieval-evidence', 'low-confidence', 'abstained')),
  status TEXT NOT NULL CHECK
    (status IN ('pending-triage', 'triaged', 'pending-annotation', 'annotated', 'dismissed', 'promoted')),
  occurrences INTEGER NOT NULL,
  asked_at INTEGER NOT NULL,
  answer_trace_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  metadata TEXT NOT NULL,
  query TEXT NOT NULL,
  unclustered INTEGER NOT NULL DEFAULT 0 CHECK (unclustered IN (0, 1)),
  PRIMARY KEY (tenant, id)
) STRICT;
INSERT INTO failed_queries_next (tenant, id, space_key, query_key, cluster_key, mode, trigger, status, occurrences,
  asked_at, answer_trace_id, created_at, updated_at, metadata, query, unclustered)
  SELECT tenant, id, space_key, query_key, cluster_key, mode, trigger, status, occurrences, asked_at, answer_trace_id,
  created_at, updated_at, metadata, query, unclustered FROM failed_queries;
CREATE TABLE quoted_sources_next (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  source_id TEXT NOT NULL,
  PRIMARY KEY (tenant, owner, source_id)
) STRICT, WITHOUT ROWID;
INSERT INTO quoted_sources_next (tenant, owner, source_id)
  SELECT p.tenant, t.owner, t.source_id FROM quoted_sources t JOIN (SELECT id, tenant FROM golden_questions UNION ALL
  SELECT id, tenant FROM failed_queries) p ON p.id = t.owner;
CREATE TABLE missing_reviews_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  item_key TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'dismissed')),
  reason TEXT,
  revision INTEGER NOT NULL,
  actor TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, trace_id, item_key)
) STRICT;
INSERT INTO missing_reviews_next (tenant, id, space_key, trace_id, item_key, status, reason, revision, actor,
  created_at, updated_at)
  SELECT tenant, id, space_key, trace_id, item_key, status, reason, revision, actor, created_at, updated_at FROM
  missing_reviews;
CREATE TABLE missing_review_history_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  review_id TEXT NOT NULL,
  actor TEXT NOT NULL,
  from_status TEXT,
  to_status TEXT NOT NULL,
  reason TEXT,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, review_id, revision)
) STRICT;
INSERT INTO missing_review_history_next (tenant, id, space_key, review_id, actor, from_status, to_status, reason,
  revision, created_at)
  SELECT tenant, id, space_key, review_id, actor, from_status, to_status, reason, revision, created_at FROM
  missing_review_history;
CREATE TABLE workspace_snapshots_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
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
  deleted_at INTEGER,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
INSERT INTO workspace_snapshots_next (tenant, id, space_key, subject, workspace, name, session_id, publication_id,
  file_count, total_bytes, query_count, created_at, deleted_at)
  SELECT tenant, id, space_key, subject, workspace, name, session_id, publication_id, file_count, total_bytes,
  query_count, created_at, deleted_at FROM workspace_snapshots;
CREATE TABLE snapshot_files_next (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  snapshot_id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  path TEXT NOT NULL, -- within the workspace
  object_key TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  content_type TEXT NOT NULL,
  version INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, snapshot_id, path)
) STRICT;
INSERT INTO snapshot_files_next (tenant, key, snapshot_id, space_key, path, object_key, sha256, size_bytes,
  content_type, version, updated_at)
  SELECT p.tenant, t.key, t.snapshot_id, t.space_key, t.path, t.object_key, t.sha256, t.size_bytes, t.content_type,
  t.version, t.updated_at FROM snapshot_files t JOIN workspace_snapshots p ON p.id = t.snapshot_id;
DELETE FROM sqlite_sequence WHERE name = 'snapshot_files_next';
INSERT INTO sqlite_sequence SELECT 'snapshot_files_next', seq FROM sqlite_sequence WHERE name = 'snapshot_files';
CREATE TABLE snapshot_queries_next (
  tenant TEXT NOT NULL,
  snapshot_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (tenant, snapshot_id, place)
) STRICT, WITHOUT ROWID;
INSERT INTO snapshot_queries_next (tenant, snapshot_id, place, space_key, body)
  SELECT p.tenant, t.snapshot_id, t.place, t.space_key, t.body FROM snapshot_queries t JOIN workspace_snapshots p ON
  p.id = t.snapshot_id;
CREATE TABLE sources_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
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
  deletes_documents INTEGER NOT NULL DEFAULT 0,
  claimed_by TEXT,
  fence INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
INSERT INTO sources_next (tenant, id, space_key, name, type, uri, status, permission_scope, metadata, credentials,
  version, last_sync_at, last_sync_error, next_sync_at, sync_started_at, sync_summary, created_at, updated_at,
  deleted_at, deletes_documents, claimed_by, fence)
  SELECT tenant, id, space_key, name, type, uri, status, permission_scope, metadata, credentials, version,
  last_sync_at, last_sync_error, next_sync_at, sync_started_at, sync_summary, created_at, updated_at, deleted_at,
  deletes_documents, claimed_by, fence FROM sources;
CREATE TABLE watches_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  folder TEXT NOT NULL,
  rules TEXT NOT NULL, -- JSON
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, space_key, folder)
) STRICT, WITHOUT ROWID;
INSERT INTO watches_next (tenant, id, space_key, folder, rules, created_at)
  SELECT tenant, id, space_key, folder, rules, created_at FROM watches;
CREATE TABLE retention_policies_next (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER, -- NULL: the policy of the tenant
  answer_trace_days INTEGER NOT NULL,
  evidence_cache_days INTEGER NOT NULL,
  inactive_projection_days INTEGER NOT NULL,
  artifact_versions INTEGER NOT NULL,
  raw_document_days INTEGER,
  session_minutes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
INSERT INTO retention_policies_next (tenant, id, space_key, answer_trace_days, evidence_cache_days,
  inactive_projection_days, artifact_versions, raw_document_days, session_minutes, created_at, updated_at)
  SELECT tenant, id, space_key, answer_trace_days, evidence_cache_days, inactive_projection_days, artifact_versions,
  raw_document_days, session_minutes, created_at, updated_at FROM retention_policies;
CREATE TABLE provider_usage_next (
  tenant TEXT NOT NULL,
  account TEXT NOT NULL,
  day TEXT NOT NULL,
  counter TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (tenant, account, day, counter)
) STRICT, WITHOUT ROWID;
INSERT INTO provider_usage_next (tenant, account, day, counter, used)
  SELECT coalesce(p.tenant, ''), t.account, t.day, t.counter, t.used FROM provider_usage t LEFT JOIN spaces p ON p.id
  = t.account;
DROP TABLE golden_questions;
DROP TABLE failed_queries;
DROP TABLE quoted_sources;
DROP TABLE missing_reviews;
DROP TABLE missing_review_history;
DROP TABLE workspace_snapshots;
DROP TABLE snapshot_files;
DROP TABLE snapshot_queries;
DROP TABLE sources;
DROP TABLE watches;
DROP TABLE retention_policies;
DROP TABLE provider_usage;
ALTER TABLE golden_questions_next RENAME TO golden_questions;
ALTER TABLE failed_queries_next RENAME TO failed_queries;
ALTER TABLE quoted_sources_next RENAME TO quoted_sources;
ALTER TABLE missing_reviews_next RENAME TO missing_reviews;
ALTER TABLE missing_review_history_next RENAME TO missing_review_history;
ALTER TABLE workspace_snapshots_next RENAME TO workspace_snapshots;
ALTER TABLE snapshot_files_next RENAME TO snapshot_files;
ALTER TABLE snapshot_queries_next RENAME TO snapshot_queries;
ALTER TABLE sources_next RENAME TO sources;
ALTER TABLE watches_next RENAME TO watches;
ALTER TABLE retention_policies_next RENAME TO retention_policies;
ALTER TABLE provider_usage_next RENAME TO provider_usage;
PRAGMA legacy_alter_table = OFF;

CREATE INDEX golden_questions_space ON golden_questions (space_key, tenant, id);
CREATE INDEX failed_queries_space ON failed_queries (space_key, tenant, id);
CREATE INDEX failed_queries_status ON failed_queries (space_key, tenant, status, id);
CREATE INDEX failed_queries_query ON failed_queries (space_key, query_key, id);
CREATE INDEX failed_queries_cluster ON failed_queries (space_key, cluster_key);
CREATE INDEX failed_queries_trace ON failed_queries (tenant, answer_trace_id) WHERE answer_trace_id IS NOT NULL;
CREATE INDEX failed_queries_unclustered ON failed_queries (space_key, id) WHERE unclustered = 1;
CREATE INDEX missing_reviews_space ON missing_reviews (space_key);
CREATE INDEX workspace_snapshots_owner ON workspace_snapshots (tenant, subject, id) WHERE deleted_at IS NULL;
CREATE INDEX workspace_snapshots_space ON workspace_snapshots (space_key, total_bytes) WHERE deleted_at IS NULL;
CREATE INDEX workspace_snapshots_deleted ON workspace_snapshots (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX snapshot_files_space ON snapshot_files (space_key, key);
CREATE INDEX snapshot_files_object ON snapshot_files (object_key);
CREATE INDEX snapshot_queries_space ON snapshot_queries (space_key);
CREATE INDEX sources_space ON sources (space_key, id);
CREATE INDEX sources_due ON sources (next_sync_at) WHERE next_sync_at IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX sources_deleted ON sources (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX sources_syncing ON sources (id) WHERE sync_started_at IS NOT NULL;
CREATE UNIQUE INDEX retention_policies_tenant ON retention_policies (tenant) WHERE space_key IS NULL;
CREATE UNIQUE INDEX retention_policies_space ON retention_policies (space_key) WHERE space_key IS NOT NULL;
CREATE TRIGGER golden_questions_quotes AFTER DELETE ON golden_questions BEGIN
  DELETE FROM quoted_sources WHERE tenant = OLD.tenant AND owner = OLD.id;
END;
CREATE TRIGGER failed_queries_quotes AFTER DELETE ON failed_queries BEGIN
  DELETE FROM quoted_sources WHERE tenant = OLD.tenant AND owner = OLD.id;
END;
CREATE TRIGGER missing_reviews_history AFTER DELETE ON missing_reviews BEGIN
  DELETE FROM missing_review_history WHERE tenant = OLD.tenant AND review_id = OLD.id;
END;
CREATE TRIGGER source_readers_added AFTER INSERT ON sources BEGIN
  INSERT OR IGNORE INTO source_readers (source_id, subject, space_key)
    SELECT NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader;
END;
CREATE TRIGGER source_readers_changed AFTER UPDATE OF permission_scope ON sources BEGIN
  DELETE FROM source_readers WHERE source_id = OLD.id;
  INSERT OR IGNORE INTO source_readers (source_id, subject, space_key)
    SELECT NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader;
END;
`
