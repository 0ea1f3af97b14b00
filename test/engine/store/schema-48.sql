-- A store of schema 48 as the last chain of migrations made it. This file never changes.
CREATE TABLE retrieval_profiles (
  space_key INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE TABLE vector_spaces (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  dimension INTEGER NOT NULL,
  trained_nodes INTEGER NOT NULL DEFAULT 0,
  model BLOB,
  state TEXT NOT NULL CHECK (state IN ('building', 'active', 'superseded')),
  created_at INTEGER NOT NULL
, claimed_by TEXT) STRICT;
CREATE INDEX vector_spaces_space ON vector_spaces (space_key, state);
CREATE TABLE versions (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  doc_key INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  version INTEGER NOT NULL,
  from_revision INTEGER,
  until_revision INTEGER,
  node_count INTEGER NOT NULL,
  first_node INTEGER,
  last_node INTEGER,
  artifact_id TEXT NOT NULL,
  artifact_hash TEXT NOT NULL,
  content_type TEXT NOT NULL,
  parser TEXT NOT NULL,
  outline_id TEXT NOT NULL,
  items_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  title TEXT NOT NULL,
  metadata TEXT NOT NULL,
  -- large values last: what stands behind them costs a walk over their pages
  outline BLOB NOT NULL,
  items BLOB NOT NULL,
  artifact BLOB NOT NULL, obsolete_at INTEGER, segment_count INTEGER NOT NULL DEFAULT 0,
  UNIQUE (doc_key, version)
) STRICT;
CREATE INDEX versions_at ON versions (key, from_revision, until_revision);
CREATE INDEX versions_live ON versions (space_key, until_revision, from_revision, node_count);
CREATE TABLE nodes (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  doc_key INTEGER NOT NULL,
  version_key INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  title TEXT NOT NULL,
  text TEXT NOT NULL,
  section TEXT NOT NULL,
  outline_node TEXT NOT NULL,
  elements TEXT NOT NULL,
  start_offset INTEGER NOT NULL,
  end_offset INTEGER NOT NULL,
  page INTEGER,
  kind TEXT NOT NULL,
  row_hash BLOB NOT NULL
, shows TEXT) STRICT;
CREATE INDEX nodes_version ON nodes (version_key, ordinal);
CREATE INDEX nodes_place ON nodes (space_key, key, version_key);
CREATE TABLE vectors (
  vector_space INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (vector_space, node_key)
) STRICT, WITHOUT ROWID;
CREATE TABLE item_assets (
  version_key INTEGER NOT NULL,
  item_id TEXT NOT NULL,
  content_type TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (version_key, item_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE jobs (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  queue_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  doc_key INTEGER NOT NULL,
  version INTEGER NOT NULL,
  stage TEXT NOT NULL,
  error TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  unclean_ends INTEGER NOT NULL DEFAULT 0,
  run_after INTEGER NOT NULL DEFAULT 0,
  claimed_by TEXT,
  replaces INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
, source_id TEXT, waits INTEGER NOT NULL DEFAULT 0, waiting_since INTEGER, fence INTEGER NOT NULL DEFAULT 0, claimed_at INTEGER) STRICT;
CREATE INDEX jobs_waiting ON jobs (space_key, run_after, key) WHERE completed_at IS NULL AND claimed_by IS NULL;
CREATE INDEX jobs_open ON jobs (space_key, stage) WHERE completed_at IS NULL;
CREATE INDEX jobs_document ON jobs (doc_key, version);
CREATE TABLE staged_commits (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  operation_type TEXT NOT NULL,
  status TEXT NOT NULL,
  document_id TEXT,
  artifact_id TEXT,
  raw_object_key TEXT,
  published_object_key TEXT,
  fingerprint TEXT,
  checksum TEXT,
  size_bytes INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0,
  resume_status TEXT,
  error_code TEXT,
  error_message TEXT,
  job_id TEXT,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
, source_id TEXT, claimed_by TEXT) STRICT, WITHOUT ROWID;
CREATE INDEX staged_commits_space ON staged_commits (space_key, status);
CREATE INDEX staged_commits_job ON staged_commits (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX staged_commits_object ON staged_commits (published_object_key) WHERE published_object_key IS NOT NULL;
CREATE TABLE idempotency (
  tenant TEXT NOT NULL,
  subject TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  instance TEXT NOT NULL,
  status INTEGER,
  headers TEXT,
  body TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, subject, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);
CREATE TABLE revoked_tokens (
  jti TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX versions_visible ON versions (doc_key, from_revision, until_revision, version);
CREATE INDEX versions_obsolete ON versions (obsolete_at) WHERE obsolete_at IS NOT NULL;
CREATE TABLE space_usage (
  space_key INTEGER PRIMARY KEY,
  document_count INTEGER NOT NULL DEFAULT 0,
  raw_bytes INTEGER NOT NULL DEFAULT 0,
  artifact_bytes INTEGER NOT NULL DEFAULT 0,
  segment_count INTEGER NOT NULL DEFAULT 0,
  node_count INTEGER NOT NULL DEFAULT 0,
  trace_bytes INTEGER NOT NULL DEFAULT 0
) STRICT;
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
CREATE INDEX versions_superseded ON versions (space_key, doc_key, version)
  WHERE until_revision IS NOT NULL AND obsolete_at IS NULL;
CREATE INDEX versions_inactive ON versions (space_key, until_revision)
  WHERE until_revision IS NOT NULL AND first_node IS NOT NULL;
CREATE TABLE gc_outcomes (
  space_key INTEGER NOT NULL,
  idempotency_key TEXT NOT NULL,
  target TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('deleting', 'deleted')),
  object_key TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (space_key, idempotency_key, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX gc_outcomes_age ON gc_outcomes (created_at);
CREATE TRIGGER usage_version_rewritten AFTER UPDATE OF artifact, outline, items ON versions BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes
    + length(NEW.artifact) + length(NEW.outline) + length(NEW.items)
    - length(OLD.artifact) - length(OLD.outline) - length(OLD.items) WHERE space_key = OLD.space_key;
END;
CREATE INDEX staged_commits_listed ON staged_commits (space_key, id);
CREATE TABLE page_index (
  version_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  doc_key INTEGER NOT NULL,
  format INTEGER NOT NULL,
  length INTEGER NOT NULL,
  range_count INTEGER NOT NULL,
  terms BLOB NOT NULL,
  ranges BLOB NOT NULL
) STRICT;
CREATE INDEX page_index_space ON page_index (space_key, version_key);
CREATE TABLE graph_entities (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('date', 'metric', 'organization', 'person', 'policy', 'product', 'term')),
  canonical_key TEXT NOT NULL,
  name TEXT NOT NULL,
  aliases TEXT NOT NULL DEFAULT '[]',
  confidence REAL NOT NULL,
  extraction_version INTEGER NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (space_key, canonical_key)
) STRICT;
CREATE TABLE graph_mentions (
  entity_key INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  version_key INTEGER NOT NULL, by_model INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (entity_key, node_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_mentions_node ON graph_mentions (node_key);
CREATE INDEX graph_mentions_version ON graph_mentions (version_key);
CREATE TABLE graph_relation_nodes (
  relation_key INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  version_key INTEGER NOT NULL, by_model INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (relation_key, node_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_relation_nodes_version ON graph_relation_nodes (version_key);
CREATE TABLE graph_versions (
  version_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  extraction_version INTEGER NOT NULL
) STRICT;
CREATE TRIGGER versions_derived AFTER DELETE ON versions BEGIN
  DELETE FROM page_index WHERE version_key = OLD.key;
  DELETE FROM graph_relation_nodes WHERE version_key = OLD.key;
  DELETE FROM graph_mentions WHERE version_key = OLD.key;
  DELETE FROM graph_versions WHERE version_key = OLD.key;
END;
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
CREATE INDEX jobs_ended ON jobs (space_key, completed_at) WHERE completed_at IS NOT NULL;
CREATE TABLE local_files (
  key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  filename TEXT NOT NULL,
  path TEXT NOT NULL,
  root TEXT,
  fingerprint TEXT NOT NULL,
  device TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  UNIQUE (space_key, filename)
) STRICT;
CREATE INDEX local_files_root ON local_files (space_key, root, filename);
CREATE TABLE graph_names (
  entity_key INTEGER NOT NULL,
  version_key INTEGER NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  confidence REAL NOT NULL, alias_key TEXT,
  PRIMARY KEY (entity_key, version_key, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_names_version ON graph_names (version_key);
CREATE TRIGGER versions_names AFTER DELETE ON versions BEGIN
  DELETE FROM graph_names WHERE version_key = OLD.key;
END;
CREATE TRIGGER graph_name_gone AFTER DELETE ON graph_names BEGIN
  UPDATE graph_entities SET (name, type, confidence) = (
    SELECT name, type, confidence FROM graph_names WHERE entity_key = OLD.entity_key
    ORDER BY type = 'term', confidence DESC, version_key, name LIMIT 1)
  WHERE key = OLD.entity_key AND EXISTS (SELECT 1 FROM graph_names WHERE entity_key = OLD.entity_key);
END;
CREATE TABLE graph_scans (
  space_key INTEGER PRIMARY KEY,
  node_key INTEGER NOT NULL
) STRICT;
CREATE TABLE semantic_views (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  space_key INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('topic', 'community')),
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  terms TEXT NOT NULL,
  -- 1: a client named it
  named INTEGER NOT NULL,
  member_limit INTEGER NOT NULL,
  generated_version TEXT NOT NULL,
  revision INTEGER NOT NULL,
  created_at INTEGER NOT NULL, dropped INTEGER NOT NULL DEFAULT 0, document_count INTEGER NOT NULL DEFAULT 0, covered INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0, passage_count INTEGER NOT NULL DEFAULT 0, passage_total INTEGER NOT NULL DEFAULT 0,
  UNIQUE (space_key, kind, slug)
) STRICT;
CREATE TABLE semantic_view_members (
  view_key INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('document', 'entity')),
  place INTEGER NOT NULL,
  member_key INTEGER NOT NULL,
  score REAL NOT NULL,
  PRIMARY KEY (view_key, kind, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX semantic_view_members_of ON semantic_view_members (member_key, kind);
CREATE TABLE semantic_builds (
  space_key INTEGER NOT NULL,
  kind TEXT NOT NULL,
  revision INTEGER NOT NULL,
  generated_version TEXT NOT NULL,
  built_at INTEGER NOT NULL, covered INTEGER NOT NULL DEFAULT 0, total INTEGER NOT NULL DEFAULT 0, unread INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (space_key, kind)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER semantic_view_gone AFTER DELETE ON semantic_views BEGIN
  DELETE FROM semantic_view_members WHERE view_key = OLD.key;
END;
CREATE TRIGGER semantic_entity_gone AFTER DELETE ON graph_entities BEGIN
  DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'entity';
END;
CREATE TABLE source_readers (
  source_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  PRIMARY KEY (source_id, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_readers_space ON source_readers (space_key, source_id);
CREATE TRIGGER jobs_source AFTER INSERT ON jobs BEGIN
  UPDATE jobs SET source_id = (SELECT source_id FROM documents WHERE key = NEW.doc_key) WHERE key = NEW.key;
END;
CREATE TABLE vector_counts (
  vector_space INTEGER PRIMARY KEY,
  live INTEGER NOT NULL
) STRICT;
CREATE TRIGGER vector_counts_added AFTER INSERT ON vectors
  WHEN EXISTS (SELECT 1 FROM nodes CROSS JOIN versions ON versions.key = nodes.version_key
               WHERE nodes.key = NEW.node_key AND versions.until_revision IS NULL) BEGIN
  INSERT INTO vector_counts VALUES (NEW.vector_space, 1) ON CONFLICT (vector_space) DO UPDATE SET live = live + 1;
END;
CREATE TRIGGER vector_counts_removed AFTER DELETE ON vectors
  WHEN EXISTS (SELECT 1 FROM nodes CROSS JOIN versions ON versions.key = nodes.version_key
               WHERE nodes.key = OLD.node_key AND versions.until_revision IS NULL) BEGIN
  UPDATE vector_counts SET live = live - 1 WHERE vector_space = OLD.vector_space;
END;
CREATE TRIGGER vector_counts_superseded AFTER UPDATE OF until_revision ON versions
  WHEN OLD.until_revision IS NULL AND NEW.until_revision IS NOT NULL AND OLD.first_node IS NOT NULL BEGIN
  UPDATE vector_counts SET live = live -
    (SELECT count(*) FROM vectors WHERE vectors.vector_space = vector_counts.vector_space
       AND node_key BETWEEN OLD.first_node AND OLD.last_node)
    WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key);
END;
CREATE TRIGGER vector_counts_node_removed AFTER DELETE ON nodes
  WHEN EXISTS (SELECT 1 FROM versions WHERE key = OLD.version_key AND until_revision IS NULL) BEGIN
  UPDATE vector_counts SET live = live - 1
    WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key)
      AND EXISTS (SELECT 1 FROM vectors WHERE vectors.vector_space = vector_counts.vector_space AND node_key = OLD.key);
END;
CREATE TRIGGER vector_counts_ended AFTER DELETE ON vector_spaces BEGIN
  DELETE FROM vector_counts WHERE vector_space = OLD.key;
END;
CREATE TABLE vectors_due (
  version_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  due INTEGER NOT NULL,
  refused INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX vectors_due_space ON vectors_due (space_key, version_key);
CREATE TRIGGER vectors_due_superseded AFTER UPDATE OF until_revision ON versions WHEN NEW.until_revision IS NOT NULL BEGIN
  DELETE FROM vectors_due WHERE version_key = NEW.key;
END;
CREATE TRIGGER vectors_due_removed AFTER DELETE ON versions BEGIN
  DELETE FROM vectors_due WHERE version_key = OLD.key;
END;
CREATE TABLE vector_refusals (
  space_key INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  error TEXT NOT NULL,
  PRIMARY KEY (space_key, node_key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER vector_refusals_removed AFTER DELETE ON nodes BEGIN
  DELETE FROM vector_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key;
END;
CREATE TABLE vector_waits (
  space_key INTEGER PRIMARY KEY,
  attempts INTEGER NOT NULL,
  since INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  error_class TEXT NOT NULL,
  error TEXT NOT NULL,
  permanent INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_listed ON jobs (space_key, key);
CREATE TABLE space_deletions (
  space_key INTEGER PRIMARY KEY,
  deletions INTEGER NOT NULL
) STRICT;
CREATE TRIGGER semantic_view_dropped AFTER UPDATE OF dropped ON semantic_views BEGIN
  DELETE FROM semantic_builds WHERE space_key = NEW.space_key AND kind = NEW.kind;
  DELETE FROM semantic_views WHERE key = NEW.key;
END;
CREATE TABLE embedding_migrations (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  plugin TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  -- id in vector_spaces, where there is no row before the first vector
  vector_space TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('filling', 'published', 'failed', 'canceled')),
  -- failures in a row of its provider, the last of them, and when it is asked next
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0,
  error_class TEXT,
  error TEXT,
  -- how far it had come when it ended
  filled INTEGER NOT NULL DEFAULT 0,
  total INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
, claimed_by TEXT) STRICT;
CREATE UNIQUE INDEX embedding_migrations_open ON embedding_migrations (space_key) WHERE completed_at IS NULL;
CREATE INDEX embedding_migrations_space ON embedding_migrations (space_key, key);
CREATE TABLE embedding_migration_refusals (
  space_key INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  error TEXT NOT NULL,
  PRIMARY KEY (space_key, node_key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER embedding_migration_refusals_removed AFTER DELETE ON nodes BEGIN
  DELETE FROM embedding_migration_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key;
END;
CREATE TABLE store (
  id TEXT NOT NULL,
  opened INTEGER NOT NULL
) STRICT;
CREATE TABLE version_parts (
  version_key INTEGER NOT NULL,
  part TEXT NOT NULL CHECK (part IN ('artifact', 'outline', 'items')),
  place INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (version_key, part, place)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER usage_part_added AFTER INSERT ON version_parts BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes + length(NEW.bytes) WHERE space_key = NEW.space_key;
END;
CREATE TRIGGER usage_part_removed AFTER DELETE ON version_parts BEGIN
  UPDATE space_usage SET artifact_bytes = artifact_bytes - length(OLD.bytes) WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER version_parts_removed AFTER DELETE ON versions BEGIN
  DELETE FROM version_parts WHERE version_key = OLD.key;
END;
CREATE TRIGGER usage_version_grown AFTER UPDATE OF node_count ON versions
  WHEN OLD.until_revision IS NULL AND NEW.until_revision IS NULL AND NEW.node_count <> OLD.node_count BEGIN
  UPDATE space_usage SET node_count = node_count + NEW.node_count - OLD.node_count WHERE space_key = NEW.space_key;
END;
CREATE TABLE "graph_relations" (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  subject_key INTEGER NOT NULL,
  object_key INTEGER NOT NULL,
  type TEXT NOT NULL CHECK (type IN ('contradicts', 'defines', 'depends_on', 'mentions', 'references', 'supersedes')),
  -- such as acquired, from subject to object; empty where only the type is known
  predicate TEXT NOT NULL DEFAULT '',
  confidence REAL NOT NULL,
  extraction_version INTEGER NOT NULL,
  metadata TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (subject_key, object_key, type, predicate)
) STRICT;
CREATE INDEX graph_relations_object ON graph_relations (object_key);
CREATE INDEX graph_relations_space ON graph_relations (space_key);
CREATE TRIGGER graph_relation_unstated AFTER DELETE ON graph_relation_nodes
WHEN NOT EXISTS (SELECT 1 FROM graph_relation_nodes WHERE relation_key = OLD.relation_key) BEGIN
  DELETE FROM graph_relations WHERE key = OLD.relation_key;
END;
CREATE TRIGGER graph_entity_unmentioned AFTER DELETE ON graph_mentions
WHEN NOT EXISTS (SELECT 1 FROM graph_mentions WHERE entity_key = OLD.entity_key) BEGIN
  DELETE FROM graph_relations WHERE subject_key = OLD.entity_key;
  DELETE FROM graph_relations WHERE object_key = OLD.entity_key;
  DELETE FROM graph_entities WHERE key = OLD.entity_key;
END;
CREATE INDEX graph_names_alias ON graph_names (alias_key) WHERE alias_key IS NOT NULL;
CREATE TABLE conflict_claims (
  version_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  format INTEGER NOT NULL,
  -- whether it was compared with all that were compared before
  compared INTEGER NOT NULL CHECK (compared IN (0, 1)),
  claims BLOB NOT NULL
) STRICT;
CREATE INDEX conflict_claims_space ON conflict_claims (space_key, version_key);
CREATE TABLE conflicts (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('number', 'date', 'negation', 'opposite', 'alternative')),
  relation TEXT NOT NULL CHECK (relation IN ('contradiction', 'newer', 'other')),
  reason TEXT NOT NULL,
  one_version INTEGER NOT NULL,
  one_node INTEGER NOT NULL,
  one_quote TEXT NOT NULL,
  other_version INTEGER NOT NULL,
  other_node INTEGER NOT NULL,
  other_quote TEXT NOT NULL,
  -- what a model said of it, where one was asked
  verdict TEXT CHECK (verdict IN ('contradict', 'compatible')),
  created_at INTEGER NOT NULL,
  pair TEXT NOT NULL,
  UNIQUE (one_version, other_version, pair)
) STRICT;
CREATE INDEX conflicts_space ON conflicts (space_key, relation, key);
CREATE INDEX conflicts_other ON conflicts (other_version);
CREATE TABLE conflict_verdicts (
  space_key INTEGER NOT NULL,
  pair TEXT NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('contradict', 'compatible')),
  PRIMARY KEY (space_key, pair)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER versions_ended_conflicts AFTER UPDATE OF until_revision ON versions WHEN NEW.until_revision IS NOT NULL BEGIN
  DELETE FROM conflicts WHERE one_version = NEW.key;
  DELETE FROM conflicts WHERE other_version = NEW.key;
  DELETE FROM conflict_claims WHERE version_key = NEW.key;
END;
CREATE TRIGGER versions_deleted_conflicts AFTER DELETE ON versions BEGIN
  DELETE FROM conflicts WHERE one_version = OLD.key;
  DELETE FROM conflicts WHERE other_version = OLD.key;
  DELETE FROM conflict_claims WHERE version_key = OLD.key;
END;
CREATE TABLE graph_readings (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  space_key INTEGER NOT NULL,
  -- reference of the model that reads beside the rules; NULL: the rules alone
  model TEXT,
  state TEXT NOT NULL CHECK (state IN ('reading', 'completed', 'budget-spent', 'failed', 'canceled')),
  -- tokens that the model may cost, and has cost
  budget INTEGER NOT NULL,
  tokens INTEGER NOT NULL DEFAULT 0,
  -- passage up to which it has come
  node_key INTEGER NOT NULL DEFAULT 0,
  -- passages of the space, those that were read so far by anyone, those that the model was asked for, and those of them
  -- that it gave no usable answer for
  total INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  asked INTEGER NOT NULL DEFAULT 0,
  unusable INTEGER NOT NULL DEFAULT 0,
  -- failures in a row of its provider, the last of them, and when it is asked next
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0,
  error_class TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER
, claimed_by TEXT) STRICT;
CREATE UNIQUE INDEX graph_readings_open ON graph_readings (space_key) WHERE completed_at IS NULL;
CREATE INDEX graph_readings_space ON graph_readings (space_key, key);
CREATE TABLE graph_model_reads (
  node_key INTEGER NOT NULL,
  model TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  text_hash TEXT NOT NULL,
  said TEXT NOT NULL,
  is_current INTEGER NOT NULL,
  PRIMARY KEY (node_key, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX graph_model_reads_text ON graph_model_reads (space_key, model, text_hash);
CREATE TRIGGER graph_model_reads_removed AFTER DELETE ON nodes BEGIN
  DELETE FROM graph_model_reads WHERE node_key = OLD.key;
END;
CREATE TABLE semantic_reports (
  view_key INTEGER PRIMARY KEY,
  space_key INTEGER NOT NULL,
  -- JSON: sentences, the most telling first, each with the passage that it stands in
  evidence TEXT NOT NULL,
  evidence_hash TEXT NOT NULL,
  -- the model, and JSON of what it wrote
  model TEXT,
  written TEXT
) STRICT;
CREATE INDEX semantic_reports_space ON semantic_reports (space_key, evidence_hash);
CREATE TRIGGER semantic_report_gone AFTER DELETE ON semantic_views BEGIN
  DELETE FROM semantic_reports WHERE view_key = OLD.key;
END;
CREATE TABLE gateways (
  id TEXT PRIMARY KEY,
  started_at INTEGER NOT NULL,
  beat_at INTEGER NOT NULL,
  -- names the lock of a data directory that it holds: who holds that lock later knows that it is dead
  held_lock TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_claimed ON jobs (space_key) WHERE claimed_by IS NOT NULL;
CREATE INDEX vector_spaces_building ON vector_spaces (key) WHERE state = 'building';
CREATE INDEX staged_commits_unacknowledged ON staged_commits (id)
  WHERE status IN ('received','object-staged','object-verified');
CREATE TABLE space_counters (
  space_key INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL
) STRICT;
CREATE TABLE "projection_log" (
  space_key INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  op INTEGER NOT NULL,
  first_node INTEGER NOT NULL,
  last_node INTEGER NOT NULL,
  PRIMARY KEY (space_key, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE node_keys (
  last INTEGER NOT NULL
) STRICT;
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
CREATE TABLE "chat_apps" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE TABLE "chat_keys" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  -- who comes with a key is not known before it is found: the one column that is unique over all tenants
  hash BLOB NOT NULL UNIQUE,
  hint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  revoked_at INTEGER,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES "chat_apps" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE "chat_end_users" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, app_id, name),
  FOREIGN KEY (tenant, app_id) REFERENCES "chat_apps" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE "chat_conversations" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- user: named by hand, which no generated name replaces
  named_by TEXT NOT NULL CHECK (named_by IN ('default', 'model', 'user')),
  inputs TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES "chat_apps" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE "chat_messages" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  task_id TEXT NOT NULL,
  query TEXT NOT NULL,
  inputs TEXT NOT NULL,
  answer TEXT NOT NULL DEFAULT '',
  status TEXT NOT NULL CHECK (status IN ('running', 'normal', 'stopped', 'error')),
  error TEXT,
  resources TEXT NOT NULL DEFAULT '[]',
  usage TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  thoughts TEXT NOT NULL DEFAULT '[]',
  -- who writes the answer
  claimed_by TEXT, suggestions TEXT,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, conversation_id, place),
  FOREIGN KEY (tenant, conversation_id) REFERENCES "chat_conversations" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE "chat_feedback" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  rating TEXT NOT NULL CHECK (rating IN ('like', 'dislike')),
  content TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, message_id, end_user_id),
  FOREIGN KEY (tenant, message_id) REFERENCES "chat_messages" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE "chat_files" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  end_user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  extension TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  object_key TEXT NOT NULL,
  -- 0 while the bytes are on their way to their name
  ready INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE TABLE "chat_message_files" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  file_id TEXT NOT NULL,
  belongs_to TEXT NOT NULL CHECK (belongs_to IN ('user', 'assistant')),
  transfer_method TEXT NOT NULL CHECK (transfer_method IN ('remote_url', 'local_file')),
  -- where a remote file was fetched from
  url TEXT,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, message_id, place),
  FOREIGN KEY (tenant, message_id) REFERENCES "chat_messages" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE "chat_conversation_variables" (
  key INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT NOT NULL,
  value_type TEXT NOT NULL,
  -- a string as it is, anything else as JSON text
  value TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (tenant, id),
  UNIQUE (tenant, conversation_id, name),
  FOREIGN KEY (tenant, conversation_id) REFERENCES "chat_conversations" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE "chat_annotations" (
  key INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  question TEXT NOT NULL,
  answer TEXT NOT NULL,
  -- both in lower case, with U+0001 between them: SQLite folds ASCII only
  folded TEXT NOT NULL,
  hit_count INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  UNIQUE (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES "chat_apps" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE "chat_annotation_replies" (
  tenant TEXT NOT NULL,
  app_id TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  score_threshold REAL NOT NULL,
  PRIMARY KEY (tenant, app_id),
  FOREIGN KEY (tenant, app_id) REFERENCES "chat_apps" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE TABLE "chat_annotation_jobs" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  action TEXT NOT NULL CHECK (action IN ('enable', 'disable')),
  score_threshold REAL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'processing', 'completed', 'error')),
  error TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  claimed_by TEXT,
  PRIMARY KEY (tenant, id),
  FOREIGN KEY (tenant, app_id) REFERENCES "chat_apps" (tenant, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX chat_keys_app ON chat_keys (tenant, app_id, id);
CREATE INDEX chat_conversations_updated ON chat_conversations (tenant, app_id, end_user_id, updated_at, id);
CREATE INDEX chat_conversations_created ON chat_conversations (tenant, app_id, end_user_id, created_at, id);
CREATE INDEX chat_messages_running ON chat_messages (id) WHERE status = 'running';
CREATE INDEX chat_feedback_app ON chat_feedback (tenant, app_id, updated_at, id);
CREATE INDEX chat_files_object ON chat_files (object_key);
CREATE INDEX chat_files_expiry ON chat_files (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX chat_files_unused ON chat_files (tenant, app_id, end_user_id, expires_at, size_bytes)
  WHERE expires_at IS NOT NULL;
CREATE INDEX chat_files_app ON chat_files (tenant, app_id);
CREATE INDEX chat_files_named ON chat_files (id);
CREATE INDEX chat_message_files_file ON chat_message_files (tenant, file_id);
CREATE INDEX chat_message_files_named ON chat_message_files (id);
CREATE INDEX chat_annotations_app ON chat_annotations (tenant, app_id, key);
CREATE INDEX chat_annotation_jobs_app ON chat_annotation_jobs (tenant, app_id, action, status);
CREATE TRIGGER chat_files_app_deleted AFTER DELETE ON chat_apps BEGIN
  UPDATE chat_files SET expires_at = 0 WHERE tenant = old.tenant AND app_id = old.id;
END;
CREATE TRIGGER chat_files_unlinked AFTER DELETE ON chat_message_files BEGIN
  UPDATE chat_files SET expires_at = 0 WHERE tenant = old.tenant AND id = old.file_id
    AND NOT EXISTS (SELECT 1 FROM chat_message_files WHERE tenant = old.tenant AND file_id = old.file_id);
END;
CREATE TABLE "research_tasks" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  subject TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  queue_id TEXT NOT NULL,
  query TEXT NOT NULL,
  mode TEXT NOT NULL CHECK (mode IN ('fast', 'deep', 'research')),
  -- frozen when the task was made: how the mode was decided, the publication that is read, the profile
  route TEXT NOT NULL,
  snapshot TEXT NOT NULL,
  profile TEXT NOT NULL,
  limits TEXT,
  budget_usd REAL,
  metadata TEXT,
  permission_scope TEXT,
  stage TEXT NOT NULL CHECK (stage IN
    ('queued', 'planning', 'retrieving', 'analyzing', 'generating', 'completed', 'failed', 'canceled')),
  error TEXT,
  stopped_by TEXT, -- the limit that ended the gathering
  budget_exceeded INTEGER NOT NULL DEFAULT 0,
  active_ms INTEGER NOT NULL DEFAULT 0, -- time at work, over all starts of the daemon
  claimed_by TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  unclean_ends INTEGER NOT NULL DEFAULT 0,
  run_after INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  completed_at INTEGER,
  fence INTEGER NOT NULL DEFAULT 0,
  events INTEGER NOT NULL DEFAULT 0, -- that it has had: the number of its newest one
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE "research_steps" (
  tenant TEXT NOT NULL,
  task_id TEXT NOT NULL,
  step TEXT NOT NULL,
  name TEXT NOT NULL CHECK (name IN ('plan', 'retrieve', 'inspect', 'analyze', 'generate')),
  space_key INTEGER NOT NULL,
  body TEXT NOT NULL,
  tool_calls INTEGER NOT NULL,
  scanned INTEGER NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  latency_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, task_id, step)
) STRICT, WITHOUT ROWID;
CREATE TABLE "research_partials" (
  tenant TEXT NOT NULL,
  task_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (tenant, task_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE "research_costs" (
  tenant TEXT NOT NULL,
  task_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  step TEXT NOT NULL,
  provider TEXT NOT NULL,
  cost_usd REAL NOT NULL,
  usage TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, task_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE "research_events" (
  tenant TEXT NOT NULL,
  task_id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  event TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (tenant, task_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE TABLE "sessions" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  subject TEXT NOT NULL,
  client_kind TEXT NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE "session_turns" (
  tenant TEXT NOT NULL,
  session_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  query TEXT NOT NULL,
  answer TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, session_id, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE "bulk_jobs" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  type TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE "bulk_items" (
  tenant TEXT NOT NULL,
  bulk_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  document_id TEXT NOT NULL,
  job_id TEXT,
  outcome TEXT CHECK (outcome IN ('completed', 'failed')),
  source_id TEXT,
  PRIMARY KEY (tenant, bulk_id, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE "traces" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  subject TEXT NOT NULL,
  query TEXT NOT NULL,
  mode TEXT NOT NULL,
  requested_mode TEXT NOT NULL,
  completed INTEGER NOT NULL,
  bundle_id TEXT,
  evidence_state TEXT,
  steps TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  session_id TEXT,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE "evidence_bundles" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX research_tasks_owner ON research_tasks (tenant, subject, id);
CREATE INDEX research_tasks_space ON research_tasks (space_key, completed_at);
CREATE INDEX research_tasks_open ON research_tasks (space_key, run_after, id) WHERE completed_at IS NULL;
CREATE INDEX research_tasks_claimed ON research_tasks (id) WHERE claimed_by IS NOT NULL;
CREATE INDEX sessions_space ON sessions (space_key, expires_at);
CREATE INDEX sessions_age ON sessions (expires_at);
CREATE INDEX bulk_jobs_space ON bulk_jobs (space_key, created_at);
CREATE INDEX bulk_items_job ON bulk_items (tenant, job_id) WHERE job_id IS NOT NULL;
CREATE INDEX traces_space ON traces (space_key, subject, id);
CREATE INDEX traces_age ON traces (space_key, created_at);
CREATE INDEX traces_own ON traces (space_key, subject, created_at, id);
CREATE INDEX traces_session ON traces (tenant, session_id, id) WHERE session_id IS NOT NULL;
CREATE INDEX evidence_bundles_trace ON evidence_bundles (tenant, trace_id);
CREATE TRIGGER research_task_removed AFTER DELETE ON research_tasks BEGIN
  DELETE FROM research_steps WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_partials WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_costs WHERE tenant = OLD.tenant AND task_id = OLD.id;
  DELETE FROM research_events WHERE tenant = OLD.tenant AND task_id = OLD.id;
END;
CREATE TRIGGER usage_research_step_added AFTER INSERT ON research_steps BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_research_step_removed AFTER DELETE ON research_steps BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER usage_research_partial_added AFTER INSERT ON research_partials BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_research_partial_removed AFTER DELETE ON research_partials BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER usage_trace_added AFTER INSERT ON traces BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.query) + octet_length(NEW.steps))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_trace_removed AFTER DELETE ON traces BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.query) - octet_length(OLD.steps)
    WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER traces_reviewed AFTER DELETE ON traces BEGIN
  DELETE FROM missing_reviews WHERE tenant = OLD.tenant AND trace_id = OLD.id;
  UPDATE failed_queries SET answer_trace_id = NULL WHERE tenant = OLD.tenant AND answer_trace_id = OLD.id;
END;
CREATE TRIGGER usage_bundle_added AFTER INSERT ON evidence_bundles BEGIN
  INSERT INTO space_usage (space_key, trace_bytes) VALUES (NEW.space_key, octet_length(NEW.body))
    ON CONFLICT (space_key) DO UPDATE SET trace_bytes = trace_bytes + excluded.trace_bytes;
END;
CREATE TRIGGER usage_bundle_removed AFTER DELETE ON evidence_bundles BEGIN
  UPDATE space_usage SET trace_bytes = trace_bytes - octet_length(OLD.body) WHERE space_key = OLD.space_key;
END;
CREATE TABLE "golden_questions" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  question TEXT NOT NULL,
  expected_evidence TEXT NOT NULL,
  tags TEXT NOT NULL,
  metadata TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, expected_answer TEXT,
  PRIMARY KEY (tenant, id)
) STRICT;
CREATE TABLE "failed_queries" (
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
CREATE TABLE "quoted_sources" (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  source_id TEXT NOT NULL,
  PRIMARY KEY (tenant, owner, source_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE "missing_reviews" (
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
CREATE TABLE "missing_review_history" (
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
CREATE TABLE "workspace_snapshots" (
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
CREATE TABLE "snapshot_files" (
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
CREATE TABLE "snapshot_queries" (
  tenant TEXT NOT NULL,
  snapshot_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (tenant, snapshot_id, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE "sources" (
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
CREATE TABLE "watches" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  folder TEXT NOT NULL,
  rules TEXT NOT NULL, -- JSON
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, space_key, folder)
) STRICT, WITHOUT ROWID;
CREATE TABLE "retention_policies" (
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
CREATE TABLE "provider_usage" (
  tenant TEXT NOT NULL,
  account TEXT NOT NULL,
  day TEXT NOT NULL,
  counter TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (tenant, account, day, counter)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE "publications" (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (space_key, revision)
) STRICT, WITHOUT ROWID;
CREATE TABLE "documents" (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  source_id TEXT,
  filename TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  object_key TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  parser_status TEXT NOT NULL CHECK (parser_status IN ('pending', 'parsed', 'failed')),
  version INTEGER NOT NULL DEFAULT 1,
  metadata TEXT NOT NULL DEFAULT '{}',
  error_code TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  path_name TEXT,
  folder TEXT GENERATED ALWAYS AS
    (replace(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', '')), '/', char(1)))
    VIRTUAL,
  base TEXT GENERATED ALWAYS AS
    (substr(coalesce(path_name, filename),
      length(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', ''))) + 1)) VIRTUAL,
  -- JSON, see Kept in engine/sources/kept.ts
  validators TEXT, parent_id TEXT, next_parent_id TEXT,
  UNIQUE (tenant, id)
) STRICT;
CREATE TABLE "spaces" (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  manifest_id TEXT NOT NULL,
  manifest_version INTEGER NOT NULL DEFAULT 1,
  manifest TEXT NOT NULL,
  embedding_plugin TEXT NOT NULL,
  embedding_provider TEXT NOT NULL,
  embedding_model TEXT NOT NULL,
  embedding_revision INTEGER NOT NULL DEFAULT 1,
  vector_space TEXT NOT NULL,
  dimension INTEGER,
  frozen_at INTEGER,
  head_revision INTEGER NOT NULL DEFAULT 0,
  publication_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  published_at INTEGER NOT NULL, imported_by TEXT,
  UNIQUE (tenant, id)
) STRICT;
CREATE INDEX documents_space ON documents (space_key, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_name ON documents (space_key, filename) WHERE deleted_at IS NULL;
CREATE INDEX documents_size ON documents (space_key, size_bytes) WHERE deleted_at IS NULL;
CREATE INDEX documents_object ON documents (object_key);
CREATE INDEX documents_deleted ON documents (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX documents_age ON documents (space_key, created_at) WHERE deleted_at IS NULL;
CREATE INDEX documents_place ON documents (space_key, source_id, folder, base, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_base ON documents (space_key, base, id) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX spaces_slug ON spaces (tenant, slug) WHERE deleted_at IS NULL;
CREATE INDEX spaces_named ON spaces (id);
CREATE TRIGGER usage_document_added AFTER INSERT ON documents WHEN NEW.deleted_at IS NULL BEGIN
  INSERT INTO space_usage (space_key, document_count, raw_bytes) VALUES (NEW.space_key, 1, NEW.size_bytes)
    ON CONFLICT (space_key) DO UPDATE SET document_count = document_count + 1, raw_bytes = raw_bytes + excluded.raw_bytes;
END;
CREATE TRIGGER usage_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE space_usage SET document_count = document_count - 1, raw_bytes = raw_bytes - OLD.size_bytes
    WHERE space_key = OLD.space_key;
END;
CREATE TRIGGER semantic_document_gone AFTER DELETE ON documents BEGIN
  DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'document';
END;
CREATE TRIGGER semantic_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  INSERT INTO space_deletions (space_key, deletions) VALUES (NEW.space_key, 1)
    ON CONFLICT (space_key) DO UPDATE SET deletions = deletions + 1;
  UPDATE semantic_views SET dropped = 1 WHERE named = 0 AND key IN (
    SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document'
    UNION SELECT member.view_key FROM versions version
      CROSS JOIN graph_mentions mention ON mention.version_key = version.key
      CROSS JOIN semantic_view_members member ON member.member_key = mention.entity_key AND member.kind = 'entity'
    WHERE version.doc_key = NEW.key);
END;
CREATE TRIGGER jobs_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE jobs SET error = 'its document was deleted' WHERE doc_key = NEW.key AND error IS NOT NULL;
  UPDATE staged_commits SET error_message = 'its document was deleted'
    WHERE job_id IN (SELECT id FROM jobs WHERE doc_key = NEW.key) AND error_message IS NOT NULL;
END;
CREATE TRIGGER semantic_named_document_deleted AFTER UPDATE OF deleted_at ON documents
  WHEN OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL BEGIN
  UPDATE semantic_views SET document_count = document_count - 1 WHERE named = 1 AND document_count > 0 AND key IN
    (SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document');
END;
CREATE INDEX documents_failed ON documents (space_key) WHERE parser_status = 'failed' AND deleted_at IS NULL;
CREATE INDEX spaces_imported ON spaces (key) WHERE imported_by IS NOT NULL;
CREATE TABLE chat_turn_requests (
  tenant TEXT NOT NULL,
  message_id TEXT NOT NULL,
  -- who answers
  gateway TEXT NOT NULL,
  stop INTEGER NOT NULL DEFAULT 0,
  -- when somebody said last that the frames are read elsewhere; 0 for never
  followed_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, message_id),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_messages (tenant, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_turn_requests_gateway ON chat_turn_requests (gateway);
CREATE TABLE chat_turn_frames (
  tenant TEXT NOT NULL,
  message_id TEXT NOT NULL,
  -- how many came before, and how many these are
  first INTEGER NOT NULL,
  frame_count INTEGER NOT NULL,
  frames TEXT NOT NULL,
  -- none come after them
  last INTEGER NOT NULL,
  PRIMARY KEY (tenant, message_id, first),
  FOREIGN KEY (tenant, message_id) REFERENCES chat_turn_requests (tenant, message_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE TABLE held_leases (
  gateway TEXT NOT NULL,
  id TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  subject TEXT,
  type TEXT NOT NULL CHECK (type IN ('read', 'delete')),
  target_type TEXT NOT NULL,
  target_id TEXT NOT NULL,
  target_version INTEGER,
  virtual_path TEXT NOT NULL,
  fence INTEGER NOT NULL,
  acquired_at INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  PRIMARY KEY (gateway, id),
  FOREIGN KEY (gateway) REFERENCES gateways (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX held_leases_space ON held_leases (space_key);
CREATE TABLE ocr_pages (
  doc_key INTEGER NOT NULL,
  page INTEGER NOT NULL,
  space_key INTEGER NOT NULL,
  -- the engine and its languages: what another one read is read anew
  engine TEXT NOT NULL,
  -- JSON of a RecognisedPage
  text TEXT NOT NULL,
  PRIMARY KEY (doc_key, page),
  FOREIGN KEY (doc_key) REFERENCES documents (key) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX ocr_pages_space ON ocr_pages (space_key);
CREATE INDEX documents_parent ON documents (tenant, parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE picture_descriptions (
  doc_key INTEGER NOT NULL,
  -- reference of the model, and the number of what it was asked
  model TEXT NOT NULL,
  -- hash of its bytes, or of its place in the file
  picture TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  said TEXT,
  error TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (doc_key, model, picture)
) STRICT, WITHOUT ROWID;
CREATE INDEX picture_descriptions_space ON picture_descriptions (space_key, model, picture);
CREATE TABLE picture_readings (
  doc_key INTEGER NOT NULL PRIMARY KEY,
  space_key INTEGER NOT NULL,
  version_key INTEGER NOT NULL,
  model TEXT NOT NULL,
  -- how often the document was read again for what the model said
  rounds INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX picture_readings_version ON picture_readings (version_key, model);
CREATE TABLE picture_waits (
  space_key INTEGER NOT NULL PRIMARY KEY,
  attempts INTEGER NOT NULL,
  since INTEGER NOT NULL,
  next_at INTEGER NOT NULL,
  error_class TEXT NOT NULL,
  error TEXT NOT NULL,
  permanent INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX golden_questions_answer ON golden_questions (space_key, tenant, substr(question, 1, 200))
  WHERE expected_answer IS NOT NULL;
INSERT INTO node_keys VALUES (1);
INSERT INTO spaces (key, tenant, id, name, slug, created_at, updated_at, manifest_id, manifest, embedding_plugin, embedding_provider, embedding_model, vector_space, head_revision, publication_id, fingerprint, published_at)
  VALUES (1, 'a', '0198c0de-0000-7000-8000-000000000001', 'Harbour', 'harbour', 1, 1, '0198c0de-0000-7000-8000-000000000002', '{}', 'p', 'p', 'm', '0198c0de-0000-7000-8000-000000000003', 1, '0198c0de-0000-7000-8000-000000000004', 'f', 1);
INSERT INTO documents (key, tenant, id, space_key, filename, mime_type, object_key, sha256, size_bytes, parser_status, created_at, updated_at)
  VALUES (1, 'a', '0198c0de-0000-7000-8000-000000000005', 1, 'tides/brest.md', 'text/markdown', 'o', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 12, 'parsed', 1, 1);
INSERT INTO versions (key, doc_key, space_key, version, from_revision, node_count, first_node, last_node, artifact_id, artifact_hash, content_type, parser, outline_id, items_id, created_at, title, metadata, outline, items, artifact, segment_count)
  VALUES (1, 1, 1, 1, 1, 1, 1, 1, '0198c0de-0000-7000-8000-000000000006', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'text', 'native-markdown', '0198c0de-0000-7000-8000-000000000007', '0198c0de-0000-7000-8000-000000000008', 1, 'Tides', '{}', x'01', x'0203', x'040506', 1);
INSERT INTO nodes (key, id, space_key, doc_key, version_key, ordinal, title, text, section, outline_node, elements, start_offset, end_offset, kind, row_hash)
  VALUES (1, '0198c0de-0000-7000-8000-000000000009', 1, 1, 1, 0, 'Tides', 'High water at Brest.', '[]', 'n', '[]', 0, 20, 'text', x'00112233445566778899aabbccddeeff');
INSERT INTO traces (tenant, id, space_key, subject, query, mode, requested_mode, completed, steps, created_at)
  VALUES ('a', '0198c0de-0000-7000-8000-000000000010', 1, 's', 'when is high water?', 'fast', 'fast', 1, '[]', 1);
INSERT INTO golden_questions (tenant, id, space_key, question, expected_evidence, tags, metadata, created_at, updated_at)
  VALUES ('a', '0198c0de-0000-7000-8000-000000000011', 1, 'When is high water?', '[]', '[]', '{}', 1, 1);
PRAGMA user_version = 48;
