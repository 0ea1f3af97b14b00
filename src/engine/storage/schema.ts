import { CORE_SCHEMA } from './migrations/0001-core.js'
import { FOLDERS_SCHEMA } from './migrations/0002-folders.js'
import { RETENTION_SCHEMA } from './migrations/0003-retention.js'
import { INTEGRITY_SCHEMA } from './migrations/0004-integrity.js'
import { GRAPH_SCHEMA } from './migrations/0005-graph.js'
import { QUALITY_SCHEMA } from './migrations/0006-quality.js'
import { CHAT_SCHEMA } from './migrations/0007-chat.js'
import { SOURCES_SCHEMA } from './migrations/0008-sources.js'
import { CHAT_FILES_SCHEMA } from './migrations/0009-chat-files.js'
import { WORKSPACES_SCHEMA } from './migrations/0010-workspaces.js'
import { RESEARCH_SCHEMA } from './migrations/0011-research.js'
import { ENDED_WORK_SCHEMA } from './migrations/0012-ended-work.js'
import { LOCAL_FILES_SCHEMA } from './migrations/0013-local-files.js'
import { CHAT_ANNOTATIONS_SCHEMA } from './migrations/0014-chat-annotations.js'
import { VIEWS_SCHEMA } from './migrations/0015-views.js'
import { CHAT_UPLOADS_SCHEMA } from './migrations/0016-chat-uploads.js'
import { CHAT_VARIABLES_SCHEMA } from './migrations/0017-chat-variables.js'
import { SOURCE_READERS_SCHEMA } from './migrations/0018-source-readers.js'
import { VECTOR_COUNTS_SCHEMA } from './migrations/0019-vector-counts.js'
import { NAMES_SCHEMA } from './migrations/0020-names.js'
import { VECTORS_SCHEMA } from './migrations/0021-vectors.js'
import { KEPT_SECRETS_SCHEMA } from './migrations/0022-kept-secrets.js'
import { JOB_LIST_SCHEMA } from './migrations/0023-job-list.js'
import { DELETIONS_SCHEMA } from './migrations/0024-deletions.js'
import { EMBEDDING_MIGRATIONS_SCHEMA } from './migrations/0025-embedding-migrations.js'
import { VALIDATORS_SCHEMA } from './migrations/0026-validators.js'
import { VIEW_COVERAGE_SCHEMA } from './migrations/0027-view-coverage.js'
import { STORE_SCHEMA } from './migrations/0028-store.js'
import { VERSION_PARTS_SCHEMA } from './migrations/0029-version-parts.js'
import { PREDICATES_SCHEMA } from './migrations/0030-predicates.js'
import { CONFLICTS_SCHEMA } from './migrations/0031-conflicts.js'
import { GRAPH_READINGS_SCHEMA } from './migrations/0032-graph-readings.js'
import { FAILED_CLUSTERS_SCHEMA } from './migrations/0033-failed-clusters.js'
import { GATEWAYS_SCHEMA } from './migrations/0034-gateways.js'
import { SPACE_COUNTERS_SCHEMA } from './migrations/0035-space-counters.js'
import { OBJECTS_SCHEMA } from './migrations/0036-objects.js'
import { CHAT_TENANTS_SCHEMA } from './migrations/0037-chat-tenants.js'
import { WORK_TENANTS_SCHEMA } from './migrations/0038-work-tenants.js'
import { KEPT_TENANTS_SCHEMA } from './migrations/0039-kept-tenants.js'
import { ROOT_TENANTS_SCHEMA } from './migrations/0040-root-tenants.js'
import { FAILED_DOCUMENTS_SCHEMA } from './migrations/0041-failed-documents.js'
import { IMPORTS_SCHEMA } from './migrations/0042-imports.js'
import { BETWEEN_GATEWAYS_SCHEMA } from './migrations/0043-between-gateways.js'
import { OCR_PAGES_SCHEMA } from './migrations/0044-ocr-pages.js'
import { CONTAINED_DOCUMENTS_SCHEMA } from './migrations/0045-contained-documents.js'
import { PICTURES_SCHEMA } from './migrations/0046-pictures.js'
import { CHAT_SUGGESTIONS_SCHEMA } from './migrations/0047-chat-suggestions.js'
import { EXPECTED_ANSWERS_SCHEMA } from './migrations/0048-expected-answers.js'

/** One step of the schema; two texts where SQLite and PostgreSQL need different SQL. */
export type Migration = string | { sqlite: string; postgres: string }

/**
 * The schema, as forward-only migrations: a store records (`user_version`) the number in the name of the last applied
 * one. A released migration never changes. Times are milliseconds since the epoch, ids are UUIDv7 text, `key` columns
 * are row keys that never leave the process. Rows with an id are found by (tenant, id); a row of a space's content is
 * reached through `space_key`, which is only taken from a row that was found so. See
 * docs/decisions/0040-tenant-first.md. A store on PostgreSQL starts from the result of the first forty
 * (`postgres/schema/`) and applies each later one, too: see docs/decisions/0051-one-sql-for-two-databases.md.
 */
const ALL_MIGRATIONS: readonly Migration[] = [
  CORE_SCHEMA,
  FOLDERS_SCHEMA,
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
  GATEWAYS_SCHEMA,
  SPACE_COUNTERS_SCHEMA,
  OBJECTS_SCHEMA,
  CHAT_TENANTS_SCHEMA,
  WORK_TENANTS_SCHEMA,
  KEPT_TENANTS_SCHEMA,
  ROOT_TENANTS_SCHEMA,
  FAILED_DOCUMENTS_SCHEMA,
  IMPORTS_SCHEMA,
  BETWEEN_GATEWAYS_SCHEMA,
  OCR_PAGES_SCHEMA,
  CONTAINED_DOCUMENTS_SCHEMA,
  PICTURES_SCHEMA,
  CHAT_SUGGESTIONS_SCHEMA,
  EXPECTED_ANSWERS_SCHEMA,
]

/** The steps of a store in SQLite. */
export const MIGRATIONS: readonly string[] = ALL_MIGRATIONS.map((step) =>
  typeof step === 'string' ? step : step.sqlite,
)

/** The steps of a store on PostgreSQL after the one with this number. */
export function postgresMigrations(after: number): string[] {
  return ALL_MIGRATIONS.slice(after).map((step) => (typeof step === 'string' ? step : step.postgres))
}
