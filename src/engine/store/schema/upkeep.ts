import { checked, index, note, table, uniqueIndex } from './table.js'

/** Objects, retention, and what belongs to the store. */
export const UPKEEP = {
  objects: table({
    purpose: 'Content-addressed bytes of a tenant, and whether they are being removed.',
    owner: 'tenant',
    withoutRowid: true,
    columns: {
      tenant: 'text',
      sha256: 'sha256',
      state: checked(['live', 'deleting']),
      life: note('text', 'changes whenever the bytes are received again or their removal starts'),
      claimed_by: note('text?', 'the process run that removes it'),
      touched_at: note('time', 'when bytes were last received, or when the removal started'),
      loose_since: note('time?', 'since when no row may refer to it: a pending upload, or an object to remove'),
    },
    primary: ['tenant', 'sha256'],
    indexes: { objects_loose: index('tenant, loose_since', 'loose_since IS NOT NULL') },
  }),
  gc_outcomes: table({
    purpose: 'Objects that a clean-up removed, by its idempotency key.',
    withoutRowid: true,
    columns: {
      space_key: 'key',
      idempotency_key: 'text',
      target: 'text',
      state: checked(['deleting', 'deleted']),
      object_key: 'text',
      created_at: 'time',
    },
    primary: ['space_key', 'idempotency_key', 'target'],
    indexes: { gc_outcomes_age: index('created_at') },
  }),
  retention_policies: table({
    purpose: 'How long the data of a tenant or space is kept.',
    owner: { sql: 't.space_key = here.space OR t.space_key IS NULL AND t.tenant = here.tenant' },
    withoutRowid: true,
    columns: {
      tenant: 'text',
      id: 'uuid',
      space_key: note('key?', 'NULL: the policy of the tenant'),
      answer_trace_days: 'integer',
      evidence_cache_days: 'integer',
      inactive_projection_days: 'integer',
      artifact_versions: 'integer',
      raw_document_days: 'integer?',
      session_minutes: 'integer',
      created_at: 'time',
      updated_at: 'time',
    },
    primary: ['tenant', 'id'],
    indexes: {
      retention_policies_tenant: uniqueIndex('tenant', 'space_key IS NULL'),
      retention_policies_space: uniqueIndex('space_key', 'space_key IS NOT NULL'),
    },
  }),
  revoked_tokens: table({
    purpose: 'Credentials of the API that were revoked before they expire.',
    owner: 'store',
    shared: 'a token is rejected before its tenant is trusted',
    withoutRowid: true,
    columns: { jti: 'text', expires_at: 'time' },
    primary: ['jti'],
  }),
  provider_usage: table({
    purpose: 'What an account of a tenant consumed at providers on a day.',
    owner: 'store',
    withoutRowid: true,
    columns: { tenant: 'text', account: 'text', day: 'text', counter: 'text', used: 'integer' },
    primary: ['tenant', 'account', 'day', 'counter'],
  }),
  store: table({
    purpose: 'The identity of the store, and the number of times that it was opened.',
    owner: 'store',
    shared: 'belongs to the deployment, and is read before the tenant is known',
    columns: { id: 'text', opened: 'integer' },
  }),
}
