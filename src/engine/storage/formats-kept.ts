import { CONCRETE_MODES, FAILED_QUERY_STATUSES, QUERY_MODES, RESEARCH_STAGES } from '../../contract/values.js'
import { maybe, ownedThrough, type TableFormat, table } from './formats.js'

const OF_TASK = ownedThrough('research_tasks', 'id', 'task_id')
const OF_APP_OF_OWNER = 'EXISTS (SELECT 1 FROM chat_apps a WHERE a.id = o.app_id AND a.tenant = here.tenant)'
const OF_APP = ownedThrough('chat_apps', 'id', 'app_id', 'o.tenant = here.tenant')

/** Answers, what people wrote and decided, research, workspaces, and what the daemon keeps for itself. */
export const KEPT_FORMATS: Readonly<Record<string, TableFormat>> = {
  traces: table({
    ...{ id: 'uuid', tenant: 'text', space_key: 'key', subject: 'text', query: 'text', mode: CONCRETE_MODES },
    ...{ requested_mode: QUERY_MODES, completed: 'flag', bundle_id: maybe('uuid') },
    evidence_state: maybe(['answerable', 'partial', 'not-enough-evidence', 'conflict', 'permission-limited']),
    ...{ steps: 'json-array', created_at: 'time', session_id: maybe('text') },
  }),
  evidence_bundles: table({
    ...{ id: 'uuid', tenant: 'text', space_key: 'key', trace_id: 'uuid', body: 'json-object', created_at: 'time' },
  }),
  sessions: table({
    ...{ id: 'text', tenant: 'text', space_key: 'key', subject: 'text' },
    client_kind: ['api', 'mcp', 'worker', 'admin'],
    ...{ heartbeat_at: 'time', expires_at: 'time', created_at: 'time' },
  }),
  session_turns: table(
    {
      ...{ session_id: 'text', place: 'integer', trace_id: 'uuid', query: 'text', answer: 'text', created_at: 'time' },
    },
    { owned: ownedThrough('sessions', 'id', 'session_id') },
  ),
  golden_questions: table({
    ...{ id: 'uuid', tenant: 'text', space_key: 'key', question: 'text', expected_evidence: 'json-array' },
    ...{ tags: 'json-array', metadata: 'json-object', created_at: 'time', updated_at: 'time' },
  }),
  failed_queries: table({
    ...{ id: 'uuid', tenant: 'text', space_key: 'key', query_key: 'text', cluster_key: 'text', mode: CONCRETE_MODES },
    trigger: ['no-retrieval-evidence', 'low-confidence', 'abstained'],
    ...{ status: FAILED_QUERY_STATUSES, occurrences: 'integer', asked_at: 'time', answer_trace_id: maybe('uuid') },
    ...{ created_at: 'time', updated_at: 'time', metadata: 'json-object', query: 'text', unclustered: 'flag' },
  }),
  missing_reviews: table({
    ...{ id: 'uuid', tenant: 'text', space_key: 'key', trace_id: 'uuid', item_key: 'text' },
    ...{ status: ['active', 'dismissed'], reason: maybe('text'), revision: 'integer', actor: 'text' },
    ...{ created_at: 'time', updated_at: 'time' },
  }),
  missing_review_history: table({
    ...{ id: 'uuid', tenant: 'text', space_key: 'key', review_id: 'uuid', actor: 'text' },
    ...{ from_status: maybe(['active', 'dismissed']), to_status: ['active', 'dismissed'], reason: maybe('text') },
    ...{ revision: 'integer', created_at: 'time' },
  }),
  retention_policies: table(
    {
      ...{ id: 'uuid', tenant: 'text', space_key: maybe('key'), answer_trace_days: 'integer' },
      ...{ evidence_cache_days: 'integer', inactive_projection_days: 'integer', artifact_versions: 'integer' },
      ...{ raw_document_days: maybe('integer'), session_minutes: 'integer', created_at: 'time', updated_at: 'time' },
    },
    { owned: 't.space_key = here.space OR t.space_key IS NULL AND t.tenant = here.tenant' },
  ),
  gc_outcomes: table({
    ...{ space_key: 'key', idempotency_key: 'text', target: 'text', state: ['deleting', 'deleted'] },
    ...{ object_key: 'text', created_at: 'time' },
  }),
  research_tasks: table({
    ...{ id: 'uuid', tenant: 'text', subject: 'text', space_key: 'key', queue_id: 'uuid', query: 'text' },
    ...{ mode: CONCRETE_MODES, route: 'json-object', snapshot: 'json-object', profile: 'json-object' },
    ...{ limits: maybe('json-object'), budget_usd: maybe('number'), metadata: maybe('json') },
    ...{ permission_scope: maybe('json'), stage: RESEARCH_STAGES, error: maybe('text'), stopped_by: maybe('json') },
    ...{ budget_exceeded: 'flag', active_ms: 'integer', claimed_by: maybe('text'), attempts: 'integer' },
    ...{ unclean_ends: 'integer', run_after: 'time', created_at: 'time', updated_at: 'time' },
    completed_at: maybe('time'),
  }),
  research_steps: table({
    ...{ task_id: 'uuid', step: 'text', name: ['plan', 'retrieve', 'inspect', 'analyze', 'generate'] },
    ...{ space_key: 'key', body: 'json', tool_calls: 'integer', scanned: 'integer', input_tokens: 'integer' },
    ...{ output_tokens: 'integer', latency_ms: 'integer', created_at: 'time' },
  }),
  research_partials: table({ task_id: 'uuid', sequence: 'integer', space_key: 'key', body: 'json-object' }),
  research_costs: table(
    {
      ...{ task_id: 'uuid', sequence: 'integer', step: 'text', provider: 'text', cost_usd: 'number' },
      ...{ usage: 'json-object', recorded_at: 'time' },
    },
    { owned: OF_TASK },
  ),
  research_events: table(
    { task_id: 'uuid', sequence: 'integer', event: 'text', data: 'json-object' },
    { owned: OF_TASK },
  ),
  workspace_files: table({
    ...{ key: 'key', id: 'uuid', space_key: 'key', folder: 'text', base: 'text', object_key: 'object-key' },
    ...{ sha256: 'sha256', size_bytes: 'integer', content_type: 'text', version: 'integer', subject: 'text' },
    ...{ created_at: 'time', updated_at: 'time', from_seq: 'integer', until_seq: maybe('integer') },
    ...{ until_at: maybe('time'), removed: 'flag' },
  }),
  workspace_changes: table({ space_key: 'key', seq: 'integer' }),
  workspace_snapshots: table({
    ...{ id: 'uuid', tenant: 'text', space_key: 'key', subject: 'text', workspace: 'text', name: maybe('text') },
    ...{ session_id: maybe('text'), publication_id: 'uuid', file_count: 'integer', total_bytes: 'integer' },
    ...{ query_count: 'integer', created_at: 'time', deleted_at: maybe('time') },
  }),
  snapshot_files: table({
    ...{ key: 'key', snapshot_id: 'uuid', space_key: 'key', path: 'text', object_key: 'object-key' },
    ...{ sha256: 'sha256', size_bytes: 'integer', content_type: 'text', version: 'integer', updated_at: 'time' },
  }),
  snapshot_queries: table({ snapshot_id: 'uuid', place: 'integer', space_key: 'key', body: 'json-object' }),
  chat_apps: table(
    { id: 'uuid', tenant: 'text', owner: 'text', body: 'json-object', created_at: 'time', updated_at: 'time' },
    { owned: 't.tenant = here.tenant' },
  ),
  chat_keys: table(
    {
      ...{ id: 'uuid', app_id: 'uuid', hash: 'sha256-bytes', hint: 'text', created_at: 'time' },
      revoked_at: maybe('time'),
    },
    { owned: OF_APP },
  ),
  chat_end_users: table({ id: 'uuid', app_id: 'uuid', name: 'text', created_at: 'time' }, { owned: OF_APP }),
  chat_conversations: table(
    {
      ...{ id: 'uuid', app_id: 'uuid', end_user_id: 'uuid', name: 'text', named_by: ['default', 'model', 'user'] },
      ...{ inputs: 'json-object', created_at: 'time', updated_at: 'time' },
    },
    { owned: OF_APP },
  ),
  chat_messages: table(
    {
      ...{ id: 'uuid', app_id: 'uuid', end_user_id: 'uuid', conversation_id: 'uuid', place: 'integer' },
      ...{ task_id: 'uuid', query: 'text', inputs: 'json-object', answer: 'text', error: maybe('text') },
      ...{ status: ['running', 'normal', 'stopped', 'error'], resources: 'json-array', usage: maybe('json-object') },
      ...{ created_at: 'time', finished_at: maybe('time'), thoughts: 'json-array' },
    },
    { owned: OF_APP },
  ),
  chat_feedback: table(
    {
      ...{ id: 'uuid', app_id: 'uuid', end_user_id: 'uuid', conversation_id: 'uuid', message_id: 'uuid' },
      ...{ rating: ['like', 'dislike'], content: 'text', created_at: 'time', updated_at: 'time' },
    },
    { owned: OF_APP },
  ),
  chat_files: table(
    {
      ...{ id: 'uuid', tenant: 'text', app_id: 'uuid', end_user_id: 'uuid', name: 'text', extension: 'text' },
      ...{ mime_type: 'text', size_bytes: 'integer', sha256: 'sha256', object_key: 'object-key', ready: 'flag' },
      ...{ expires_at: maybe('time'), created_at: 'time' },
    },
    { owned: 't.tenant = here.tenant' },
  ),
  chat_message_files: table(
    {
      ...{ id: 'uuid', message_id: 'uuid', place: 'integer', file_id: 'uuid', belongs_to: ['user', 'assistant'] },
      ...{ transfer_method: ['remote_url', 'local_file'], url: maybe('text') },
    },
    {
      owned: ownedThrough('chat_messages', 'id', 'message_id', OF_APP_OF_OWNER),
    },
  ),
  chat_annotations: table(
    {
      ...{ key: 'key', id: 'uuid', app_id: 'uuid', question: 'text', answer: 'text', folded: 'text' },
      ...{ hit_count: 'integer', created_at: 'time' },
    },
    { owned: OF_APP },
  ),
  chat_annotation_replies: table({ app_id: 'uuid', enabled: 'flag', score_threshold: 'number' }, { owned: OF_APP }),
  chat_annotation_jobs: table(
    {
      ...{ id: 'uuid', app_id: 'uuid', action: ['enable', 'disable'], score_threshold: maybe('number') },
      ...{ status: ['waiting', 'processing', 'completed', 'error'], error: 'text', created_at: 'time' },
    },
    { owned: OF_APP },
  ),
  chat_conversation_variables: table(
    {
      ...{ key: 'key', id: 'uuid', conversation_id: 'uuid', name: 'text', description: 'text', value_type: 'text' },
      ...{ value: 'text', created_at: 'time', updated_at: 'time' },
    },
    {
      owned: ownedThrough('chat_conversations', 'id', 'conversation_id', OF_APP_OF_OWNER),
    },
  ),
  idempotency: table(
    {
      ...{ tenant: 'text', subject: 'text', key: 'text', fingerprint: 'text', instance: 'text' },
      ...{ status: maybe('integer'), headers: maybe('json-object'), body: maybe('text'), created_at: 'time' },
    },
    { owned: 't.tenant = here.tenant' },
  ),
  // of the whole machine: every space shows them
  store: table({ id: 'text', opened: 'integer' }, { owned: 'true' }),
  provider_usage: table({ account: 'text', day: 'text', counter: 'text', used: 'integer' }, { owned: 'true' }),
  revoked_tokens: table({ jti: 'text', expires_at: 'time' }, { owned: 'true' }),
}
