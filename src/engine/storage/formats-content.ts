import {
  CONFLICT_KINDS,
  CONFLICT_RELATIONS,
  JOB_STAGES,
  SOURCE_TYPES,
  STAGED_COMMIT_STATUSES,
} from '../../contract/values.js'
import { maybe, ownedThrough, type TableFormat, table } from './formats.js'

const CLASSES = ['auth', 'rate-limited', 'context-too-long', 'budget-spent', 'unavailable', 'timeout'] as const
const OF_VECTOR_SPACE = ownedThrough('vector_spaces', 'key', 'vector_space')

/** Spaces, documents and what compiling them makes. */
export const CONTENT_FORMATS: Readonly<Record<string, TableFormat>> = {
  spaces: table(
    {
      ...{ key: 'key', id: 'uuid', tenant: 'text', name: 'text', slug: 'text', description: maybe('text') },
      ...{ created_at: 'time', updated_at: 'time', deleted_at: maybe('time'), published_at: 'time' },
      ...{ manifest_id: 'uuid', manifest_version: 'integer', manifest: 'json-object' },
      ...{ embedding_plugin: 'text', embedding_provider: 'text', embedding_model: 'text' },
      ...{ embedding_revision: 'integer', vector_space: 'uuid', dimension: maybe('integer'), frozen_at: maybe('time') },
      ...{ head_revision: 'integer', publication_id: 'uuid', fingerprint: 'text' },
    },
    // a damaged one cannot be looked at itself, so every space of the tenant shows it
    { owned: 't.tenant = here.tenant' },
  ),
  retrieval_profiles: table({ space_key: 'key', revision: 'integer', body: 'json-object' }),
  vector_spaces: table(
    {
      ...{ key: 'key', id: 'uuid', space_key: 'key', revision: 'integer', dimension: 'integer' },
      ...{ trained_nodes: 'integer', model: maybe('bytes'), state: ['building', 'active', 'superseded'] },
      created_at: 'time',
    },
    { derived: true },
  ),
  documents: table(
    {
      ...{ key: 'key', id: 'uuid', space_key: 'key', source_id: maybe('text'), filename: 'text', mime_type: 'text' },
      ...{ object_key: 'object-key', sha256: 'sha256', size_bytes: 'integer' },
      ...{ parser_status: ['pending', 'parsed', 'failed'], version: 'integer', metadata: 'json-object' },
      ...{
        error_code: maybe('text'),
        error: maybe('text'),
        path_name: maybe('text'),
        validators: maybe('json-object'),
      },
      ...{ created_at: 'time', updated_at: 'time', deleted_at: maybe('time') },
    },
    { source: 'source_id' },
  ),
  versions: table({
    ...{ key: 'key', doc_key: 'key', space_key: 'key', version: 'integer' },
    ...{ from_revision: maybe('integer'), until_revision: maybe('integer'), node_count: 'integer' },
    ...{ first_node: maybe('key'), last_node: maybe('key'), artifact_id: 'uuid', artifact_hash: 'sha256' },
    content_type: ['text', 'structured', 'mixed'],
    parser: ['native-markdown', 'native-html', 'native-structured', 'unstructured'],
    ...{ outline_id: 'uuid', items_id: 'uuid', created_at: 'time', title: 'text', metadata: 'json-object' },
    ...{ outline: 'packed', items: 'packed', artifact: 'packed' },
    ...{ obsolete_at: maybe('time'), segment_count: 'integer' },
  }),
  version_parts: table({
    version_key: 'key',
    part: ['artifact', 'outline', 'items'],
    ...{ place: 'integer', space_key: 'key', bytes: 'packed' },
  }),
  nodes: table({
    ...{ key: 'key', id: 'uuid', space_key: 'key', doc_key: 'key', version_key: 'key', ordinal: 'integer' },
    ...{ title: 'text', text: 'text', section: 'json-array', outline_node: 'text', elements: 'json-array' },
    ...{ start_offset: 'integer', end_offset: 'integer', page: maybe('integer') },
    ...{ kind: ['text', 'table', 'code', 'list'], row_hash: 'row-hash' },
  }),
  vectors: table({ vector_space: 'key', node_key: 'key', vector: 'vector' }, { owned: OF_VECTOR_SPACE, derived: true }),
  vector_counts: table({ vector_space: 'key', live: 'integer' }, { owned: OF_VECTOR_SPACE, derived: true }),
  vectors_due: table({ version_key: 'key', space_key: 'key', due: 'integer', refused: 'integer' }, { derived: true }),
  vector_refusals: table({ space_key: 'key', node_key: 'key', error: 'text' }, { derived: true }),
  vector_waits: table(
    {
      ...{ space_key: 'key', attempts: 'integer', since: 'time', next_at: 'time' },
      ...{ error_class: CLASSES, error: 'text', permanent: 'flag' },
    },
    { derived: true },
  ),
  embedding_migrations: table({
    ...{ key: 'key', id: 'uuid', space_key: 'key', plugin: 'text', provider: 'text', model: 'text' },
    ...{ vector_space: 'uuid', state: ['filling', 'published', 'failed', 'canceled'], attempts: 'integer' },
    ...{ next_at: 'time', error_class: maybe(CLASSES), error: maybe('text'), filled: 'integer', total: 'integer' },
    ...{ created_at: 'time', updated_at: 'time', completed_at: maybe('time') },
  }),
  embedding_migration_refusals: table({ space_key: 'key', node_key: 'key', error: 'text' }, { derived: true }),
  item_assets: table(
    { version_key: 'key', item_id: 'text', content_type: 'text', sha256: 'sha256', bytes: 'object-bytes' },
    { owned: ownedThrough('versions', 'key', 'version_key') },
  ),
  projection_log: table(
    { seq: 'key', space_key: 'key', op: 'integer', first_node: 'key', last_node: 'key' },
    { derived: true },
  ),
  publications: table({ id: 'uuid', space_key: 'key', revision: 'integer', fingerprint: 'text', created_at: 'time' }),
  page_index: table(
    {
      ...{ version_key: 'key', space_key: 'key', doc_key: 'key', format: 'integer', length: 'integer' },
      ...{ range_count: 'integer', terms: 'bytes', ranges: 'bytes' },
    },
    { derived: true },
  ),
  conflict_claims: table(
    { version_key: 'key', space_key: 'key', format: 'integer', compared: 'flag', claims: 'bytes' },
    { derived: true },
  ),
  conflicts: table(
    {
      ...{ key: 'key', id: 'uuid', space_key: 'key', kind: CONFLICT_KINDS, relation: CONFLICT_RELATIONS },
      ...{ reason: 'text', one_version: 'key', one_node: 'key', one_quote: 'text', other_version: 'key' },
      ...{ other_node: 'key', other_quote: 'text', created_at: 'time', pair: 'text' },
      verdict: maybe(['contradict', 'compatible']),
    },
    { derived: true },
  ),
  conflict_verdicts: table(
    { space_key: 'key', pair: 'text', verdict: ['contradict', 'compatible'] },
    { derived: true },
  ),
  space_usage: table(
    {
      ...{ space_key: 'key', document_count: 'integer', raw_bytes: 'integer', artifact_bytes: 'integer' },
      ...{ segment_count: 'integer', node_count: 'integer', trace_bytes: 'integer' },
    },
    { derived: true },
  ),
  space_deletions: table({ space_key: 'key', deletions: 'integer' }, { derived: true }),
  sources: table(
    {
      ...{ id: 'uuid', tenant: 'text', space_key: 'key', name: 'text', type: SOURCE_TYPES, uri: 'text' },
      ...{
        status: ['active', 'syncing', 'error', 'disabled'],
        permission_scope: 'json-array',
        metadata: 'json-object',
      },
      ...{ credentials: maybe('bytes'), version: 'integer', last_sync_at: maybe('time') },
      ...{ last_sync_error: maybe('text'), next_sync_at: maybe('time'), sync_started_at: maybe('time') },
      ...{ sync_summary: maybe('json-object'), created_at: 'time', updated_at: 'time', deleted_at: maybe('time') },
      deletes_documents: 'flag',
    },
    { source: 'id' },
  ),
  source_readers: table({ source_id: 'text', subject: 'text', space_key: 'key' }, { source: 'source_id' }),
  quoted_sources: table(
    { owner: 'text', source_id: 'text' },
    {
      owned: ownedThrough('source_readers', 'source_id', 'source_id'),
      source: 'source_id',
    },
  ),
  local_files: table(
    {
      ...{ key: 'key', space_key: 'key', filename: 'text', path: 'text', root: maybe('text'), fingerprint: 'text' },
      ...{ device: 'text', size_bytes: 'integer', sha256: 'sha256' },
    },
    { derived: true },
  ),
  watches: table({
    ...{ id: 'uuid', tenant: 'text', space_key: 'key', folder: 'text', rules: 'json-object', created_at: 'time' },
  }),
  graph_entities: table(
    {
      ...{ key: 'key', id: 'uuid', space_key: 'key' },
      type: ['date', 'metric', 'organization', 'person', 'policy', 'product', 'term'],
      ...{ canonical_key: 'text', name: 'text', aliases: 'json-array', confidence: 'number' },
      ...{ extraction_version: 'integer', metadata: 'json-object', created_at: 'time', updated_at: 'time' },
    },
    { derived: true },
  ),
  graph_names: table(
    {
      ...{ entity_key: 'key', version_key: 'key', name: 'text' },
      type: ['date', 'metric', 'organization', 'person', 'policy', 'product', 'term'],
      confidence: 'number',
      alias_key: maybe('text'),
    },
    {
      owned: ownedThrough('graph_entities', 'key', 'entity_key'),
      derived: true,
    },
  ),
  graph_mentions: table(
    { entity_key: 'key', node_key: 'key', version_key: 'key', by_model: 'integer' },
    {
      owned: ownedThrough('graph_entities', 'key', 'entity_key'),
      derived: true,
    },
  ),
  graph_relations: table(
    {
      ...{ key: 'key', id: 'uuid', space_key: 'key', subject_key: 'key', object_key: 'key' },
      type: ['contradicts', 'defines', 'depends_on', 'mentions', 'references', 'supersedes'],
      predicate: 'text',
      ...{ confidence: 'number', extraction_version: 'integer', metadata: 'json-object' },
      ...{ created_at: 'time', updated_at: 'time' },
    },
    { derived: true },
  ),
  graph_relation_nodes: table(
    { relation_key: 'key', node_key: 'key', version_key: 'key', by_model: 'integer' },
    {
      owned: ownedThrough('graph_relations', 'key', 'relation_key'),
      derived: true,
    },
  ),
  graph_versions: table({ version_key: 'key', space_key: 'key', extraction_version: 'integer' }, { derived: true }),
  graph_scans: table({ space_key: 'key', node_key: 'key' }, { derived: true }),
  graph_readings: table({
    ...{ key: 'key', id: 'uuid', space_key: 'key', model: maybe('json-object') },
    state: ['reading', 'completed', 'budget-spent', 'failed', 'canceled'],
    ...{ budget: 'integer', tokens: 'integer', node_key: 'integer', total: 'integer', done: 'integer' },
    ...{ asked: 'integer', unusable: 'integer', attempts: 'integer', next_at: 'time' },
    ...{ error_class: maybe(CLASSES), error: maybe('text'), created_at: 'time', updated_at: 'time' },
    completed_at: maybe('time'),
  }),
  graph_model_reads: table(
    {
      ...{ node_key: 'key', model: 'text', space_key: 'key', text_hash: 'text', said: 'json-object' },
      is_current: 'flag',
    },
    { derived: true },
  ),
  semantic_views: table(
    {
      ...{
        key: 'key',
        space_key: 'key',
        kind: ['topic', 'community'],
        slug: 'text',
        name: 'text',
        terms: 'json-array',
      },
      ...{ named: 'flag', member_limit: 'integer', generated_version: 'text', revision: 'integer', created_at: 'time' },
      ...{ dropped: 'flag', document_count: 'integer', covered: 'integer', total: 'integer' },
      ...{ passage_count: 'integer', passage_total: 'integer' },
    },
    { derived: true },
  ),
  semantic_view_members: table(
    { view_key: 'key', kind: ['document', 'entity'], place: 'integer', member_key: 'key', score: 'number' },
    {
      owned: ownedThrough('semantic_views', 'key', 'view_key'),
      derived: true,
    },
  ),
  semantic_reports: table(
    {
      ...{ view_key: 'key', space_key: 'key', evidence: 'json-array', evidence_hash: 'text' },
      ...{ model: maybe('text'), written: maybe('json-object') },
    },
    { derived: true },
  ),
  semantic_builds: table(
    {
      ...{ space_key: 'key', kind: ['topic', 'community'], revision: 'integer', generated_version: 'text' },
      ...{ built_at: 'time', covered: 'integer', total: 'integer', unread: 'integer' },
    },
    { derived: true },
  ),
  jobs: table(
    {
      ...{ key: 'key', id: 'uuid', queue_id: 'uuid', tenant: 'text', space_key: 'key', doc_key: 'key' },
      ...{ version: 'integer', stage: JOB_STAGES, error: maybe('text'), attempts: 'integer', unclean_ends: 'integer' },
      ...{ run_after: 'time', claimed_by: maybe('text'), replaces: maybe('key'), source_id: maybe('text') },
      ...{ created_at: 'time', updated_at: 'time', completed_at: maybe('time') },
      ...{ waits: 'integer', waiting_since: maybe('time') },
    },
    { source: 'source_id' },
  ),
  bulk_jobs: table({
    ...{ id: 'uuid', tenant: 'text', space_key: 'key', created_at: 'time' },
    type: ['document_upload', 'document_delete', 'document_reindex'],
  }),
  bulk_items: table(
    {
      ...{ bulk_id: 'uuid', place: 'integer', document_id: 'text', job_id: maybe('uuid') },
      ...{ outcome: maybe(['completed', 'failed']), source_id: maybe('text') },
    },
    {
      owned: ownedThrough('bulk_jobs', 'id', 'bulk_id'),
      source: 'source_id',
    },
  ),
  staged_commits: table(
    {
      ...{ id: 'uuid', tenant: 'text', space_key: 'key', idempotency_key: 'text' },
      operation_type: ['document-upload', 'artifact-segment-write', 'bulk-reindex', 'projection-publish'],
      ...{ status: STAGED_COMMIT_STATUSES, document_id: maybe('uuid'), artifact_id: maybe('uuid') },
      ...{ raw_object_key: maybe('text'), published_object_key: maybe('object-key'), fingerprint: maybe('text') },
      ...{ checksum: maybe('sha256'), size_bytes: maybe('integer'), attempts: 'integer' },
      ...{ resume_status: maybe(STAGED_COMMIT_STATUSES), error_code: maybe('text'), error_message: maybe('text') },
      ...{ job_id: maybe('uuid'), expires_at: maybe('time'), created_at: 'time', updated_at: 'time' },
      source_id: maybe('text'),
    },
    { source: 'source_id' },
  ),
}
