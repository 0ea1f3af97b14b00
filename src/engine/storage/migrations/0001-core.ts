/** The first one, with the tables of spaces, documents, passages, jobs and traces. */
export const CORE_SCHEMA = `
CREATE TABLE spaces (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT NOT NULL,
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
  published_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX spaces_slug ON spaces (tenant, slug) WHERE deleted_at IS NULL;
CREATE INDEX spaces_tenant ON spaces (tenant, id) WHERE deleted_at IS NULL;

CREATE TABLE retrieval_profiles (
  space_key INTEGER PRIMARY KEY,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL
) STRICT;

-- embedding models of a space, newest revision last; a trained model's parameters stand in model
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
) STRICT;
CREATE INDEX vector_spaces_space ON vector_spaces (space_key, state);

CREATE TABLE documents (
  key INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
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
  deleted_at INTEGER
) STRICT;
CREATE INDEX documents_space ON documents (space_key, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_name ON documents (space_key, filename) WHERE deleted_at IS NULL;
CREATE INDEX documents_size ON documents (space_key, size_bytes) WHERE deleted_at IS NULL;
CREATE INDEX documents_object ON documents (object_key);
CREATE INDEX documents_deleted ON documents (deleted_at) WHERE deleted_at IS NOT NULL;

-- what compiling one version of a document made; visible in revisions from_revision <= r < until_revision
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
  artifact BLOB NOT NULL,
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
) STRICT;
CREATE INDEX nodes_version ON nodes (version_key, ordinal);
-- answers whether a hit is visible without touching the rows of text; so does versions_at; and gives the nodes of one space in order
CREATE INDEX nodes_place ON nodes (space_key, key, version_key);

-- unit vectors as 16-bit floats
CREATE TABLE vectors (
  vector_space INTEGER NOT NULL,
  node_key INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (vector_space, node_key)
) STRICT, WITHOUT ROWID;

-- bytes of pictures inside documents, by the item that shows them
CREATE TABLE item_assets (
  version_key INTEGER NOT NULL,
  item_id TEXT NOT NULL,
  content_type TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (version_key, item_id)
) STRICT, WITHOUT ROWID;

-- what the search indexes have to apply, in order: op 1 adds the nodes first_node..last_node, -1 removes them
CREATE TABLE projection_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  space_key INTEGER NOT NULL,
  op INTEGER NOT NULL,
  first_node INTEGER NOT NULL,
  last_node INTEGER NOT NULL
) STRICT;
CREATE INDEX projection_log_space ON projection_log (space_key, seq);

CREATE TABLE publications (
  id TEXT PRIMARY KEY,
  space_key INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (space_key, revision)
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
) STRICT;
CREATE INDEX jobs_waiting ON jobs (space_key, run_after, key) WHERE completed_at IS NULL AND claimed_by IS NULL;
CREATE INDEX jobs_open ON jobs (space_key, stage) WHERE completed_at IS NULL;
CREATE INDEX jobs_document ON jobs (doc_key, version);

CREATE TABLE bulk_jobs (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  type TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
-- an item is a job to wait for, or an outcome that was known at once
CREATE TABLE bulk_items (
  bulk_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  document_id TEXT NOT NULL,
  job_id TEXT,
  outcome TEXT CHECK (outcome IN ('completed', 'failed')),
  PRIMARY KEY (bulk_id, place)
) STRICT, WITHOUT ROWID;

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
) STRICT, WITHOUT ROWID;
CREATE INDEX staged_commits_space ON staged_commits (space_key, status);
CREATE INDEX staged_commits_job ON staged_commits (job_id) WHERE job_id IS NOT NULL;
CREATE INDEX staged_commits_object ON staged_commits (published_object_key) WHERE published_object_key IS NOT NULL;

CREATE TABLE traces (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  subject TEXT NOT NULL,
  query TEXT NOT NULL,
  mode TEXT NOT NULL,
  requested_mode TEXT NOT NULL,
  completed INTEGER NOT NULL,
  bundle_id TEXT,
  evidence_state TEXT,
  steps TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX traces_space ON traces (space_key, subject, id);
CREATE INDEX traces_age ON traces (space_key, created_at);

CREATE TABLE evidence_bundles (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX evidence_bundles_trace ON evidence_bundles (trace_id);

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  space_key INTEGER NOT NULL,
  subject TEXT NOT NULL,
  client_kind TEXT NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_space ON sessions (space_key, expires_at);
CREATE TABLE session_turns (
  session_id TEXT NOT NULL,
  place INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  query TEXT NOT NULL,
  answer TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, place)
) STRICT, WITHOUT ROWID;

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

-- what a space used of its providers' budgets, by UTC day
CREATE TABLE provider_usage (
  account TEXT NOT NULL,
  day TEXT NOT NULL,
  counter TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (account, day, counter)
) STRICT, WITHOUT ROWID;

CREATE TABLE revoked_tokens (
  jti TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`
