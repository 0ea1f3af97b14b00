import { CHAT_SCHEMA } from './schema-chat.js'
import { CHAT_ANNOTATIONS_SCHEMA } from './schema-chat-annotations.js'
import { CHAT_FILES_SCHEMA } from './schema-chat-files.js'
import { CHAT_UPLOADS_SCHEMA } from './schema-chat-uploads.js'
import { CHAT_VARIABLES_SCHEMA } from './schema-chat-variables.js'
import { CONFLICTS_SCHEMA } from './schema-conflicts.js'
import { CORE_SCHEMA } from './schema-core.js'
import { DELETIONS_SCHEMA } from './schema-deletions.js'
import { EMBEDDING_MIGRATIONS_SCHEMA } from './schema-embedding-migrations.js'
import { ENDED_WORK_SCHEMA } from './schema-ended-work.js'
import { FAILED_CLUSTERS_SCHEMA } from './schema-failed-clusters.js'
import { GRAPH_SCHEMA } from './schema-graph.js'
import { GRAPH_READINGS_SCHEMA } from './schema-graph-readings.js'
import { INTEGRITY_SCHEMA } from './schema-integrity.js'
import { JOB_LIST_SCHEMA } from './schema-job-list.js'
import { KEPT_SECRETS_SCHEMA } from './schema-kept-secrets.js'
import { LOCAL_FILES_SCHEMA } from './schema-local-files.js'
import { NAMES_SCHEMA } from './schema-names.js'
import { PREDICATES_SCHEMA } from './schema-predicates.js'
import { QUALITY_SCHEMA } from './schema-quality.js'
import { RESEARCH_SCHEMA } from './schema-research.js'
import { RETENTION_SCHEMA } from './schema-retention.js'
import { SOURCE_READERS_SCHEMA } from './schema-source-readers.js'
import { SOURCES_SCHEMA } from './schema-sources.js'
import { STORE_SCHEMA } from './schema-store.js'
import { VALIDATORS_SCHEMA } from './schema-validators.js'
import { VECTOR_COUNTS_SCHEMA } from './schema-vector-counts.js'
import { VECTORS_SCHEMA } from './schema-vectors.js'
import { VERSION_PARTS_SCHEMA } from './schema-version-parts.js'
import { VIEW_COVERAGE_SCHEMA } from './schema-view-coverage.js'
import { VIEWS_SCHEMA } from './schema-views.js'
import { WORKSPACES_SCHEMA } from './schema-workspaces.js'

/**
 * The schema, as numbered forward-only migrations. Times are milliseconds since the epoch, ids are UUIDv7 text, `key`
 * columns are row keys that never leave the process. A row of a space's content is reached through `space_key`,
 * which is only ever obtained by looking a space up by (tenant, id).
 */
export const MIGRATIONS: readonly string[] = [
  CORE_SCHEMA,
  `
-- a document's folder (each part closed by U+0001, which sorts before every character of a name, so that folders come in
-- the order of their names) and its name within it, for listings by folder
ALTER TABLE documents ADD COLUMN folder TEXT GENERATED ALWAYS AS
  (replace(rtrim(filename, replace(filename, '/', '')), '/', char(1))) VIRTUAL;
ALTER TABLE documents ADD COLUMN base TEXT GENERATED ALWAYS AS
  (substr(filename, length(rtrim(filename, replace(filename, '/', ''))) + 1)) VIRTUAL;
CREATE INDEX documents_place ON documents (space_key, source_id, folder, base, id) WHERE deleted_at IS NULL;
CREATE INDEX documents_base ON documents (space_key, base, id) WHERE deleted_at IS NULL;
-- answers whether a document is visible, and in which version, without its rows
CREATE INDEX versions_visible ON versions (doc_key, from_revision, until_revision, version);
-- superseded so often that nothing keeps it any more
ALTER TABLE versions ADD COLUMN obsolete_at INTEGER;
CREATE INDEX versions_obsolete ON versions (obsolete_at) WHERE obsolete_at IS NOT NULL;
`,
  RETENTION_SCHEMA,
  INTEGRITY_SCHEMA,
  GRAPH_SCHEMA,
  QUALITY_SCHEMA,
  CHAT_SCHEMA,
  SOURCES_SCHEMA,
  CHAT_FILES_SCHEMA,
  WORKSPACES_SCHEMA,
  RESEARCH_SCHEMA,
  ENDED_WORK_SCHEMA,
  LOCAL_FILES_SCHEMA,
  CHAT_ANNOTATIONS_SCHEMA,
  VIEWS_SCHEMA,
  CHAT_UPLOADS_SCHEMA,
  CHAT_VARIABLES_SCHEMA,
  SOURCE_READERS_SCHEMA,
  VECTOR_COUNTS_SCHEMA,
  NAMES_SCHEMA,
  VECTORS_SCHEMA,
  KEPT_SECRETS_SCHEMA,
  JOB_LIST_SCHEMA,
  DELETIONS_SCHEMA,
  EMBEDDING_MIGRATIONS_SCHEMA,
  VALIDATORS_SCHEMA,
  VIEW_COVERAGE_SCHEMA,
  STORE_SCHEMA,
  VERSION_PARTS_SCHEMA,
  PREDICATES_SCHEMA,
  CONFLICTS_SCHEMA,
  GRAPH_READINGS_SCHEMA,
  FAILED_CLUSTERS_SCHEMA,
]
