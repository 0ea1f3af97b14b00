import { SOURCE_TYPES } from '../../../contract/values.js'
import { after, checked, index, notBundled, note, reusedRowKey, table, withDefault } from './table.js'

/** Sources and local folders. */
export const SOURCES = {
  sources: table({
    purpose: 'An external origin that is synchronized.',
    source: 'id',
    withoutRowid: true,
    columns: {
      tenant: 'text',
      id: 'uuid',
      space_key: 'key',
      name: 'text',
      type: checked(SOURCE_TYPES),
      uri: 'text',
      status: checked(['active', 'syncing', 'error', 'disabled']),
      permission_scope: 'json-array',
      metadata: note('json-object', 'keys of the client, without credentials'),
      credentials: note(notBundled('bytes?'), 'encrypted'),
      version: 'integer',
      last_sync_at: 'time?',
      last_sync_error: 'text?',
      next_sync_at: notBundled('time?'),
      sync_started_at: notBundled('time?'),
      sync_summary: 'json-object?',
      created_at: 'time',
      updated_at: 'time',
      deleted_at: notBundled('time?'),
      deletes_documents: withDefault('flag', 0),
      claimed_by: notBundled('text?'),
      fence: notBundled(withDefault('integer', 0)),
    },
    primary: ['tenant', 'id'],
    indexes: {
      sources_space: index('space_key, id'),
      sources_due: index('next_sync_at', 'next_sync_at IS NOT NULL AND deleted_at IS NULL'),
      sources_deleted: index('deleted_at', 'deleted_at IS NOT NULL'),
      sources_syncing: index('id', 'sync_started_at IS NOT NULL'),
    },
    triggers: {
      source_readers_added: after(
        'INSERT',
        `INSERT OR IGNORE INTO source_readers (source_id, subject, space_key)
           SELECT NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader`,
      ),
      source_readers_changed: after(
        'UPDATE OF permission_scope',
        `DELETE FROM source_readers WHERE source_id = OLD.id;
         INSERT OR IGNORE INTO source_readers (source_id, subject, space_key)
           SELECT NEW.id, reader.value, NEW.space_key FROM json_each(NEW.permission_scope) reader`,
      ),
    },
  }),
  source_readers: table({
    purpose: 'The subjects that may read the documents of a source.',
    source: 'source_id',
    withoutRowid: true,
    columns: { source_id: 'text', subject: 'text', space_key: 'key' },
    primary: ['source_id', 'subject'],
    indexes: { source_readers_space: index('space_key, source_id') },
  }),
  watches: table({
    purpose: 'A local folder that is watched.',
    withoutRowid: true,
    columns: {
      tenant: 'text',
      id: 'uuid',
      space_key: 'key',
      folder: 'text',
      rules: 'json-object',
      created_at: 'time',
    },
    primary: ['tenant', 'id'],
    unique: [['tenant', 'space_key', 'folder']],
  }),
  local_files: table({
    purpose: 'The local file of a document, to find moved files.',
    derived: true,
    columns: {
      key: reusedRowKey,
      space_key: 'key',
      filename: 'text',
      path: 'text',
      root: 'text?',
      fingerprint: 'text',
      device: 'text',
      size_bytes: 'integer',
      sha256: 'sha256',
    },
    unique: [['space_key', 'filename']],
    indexes: { local_files_root: index('space_key, root, filename') },
  }),
  skipped_files: table({
    purpose: 'A file that was found and not ingested, with the reason.',
    derived: true,
    withoutRowid: true,
    columns: {
      space_key: 'key',
      filename: 'text',
      reason: 'text',
      size_bytes: 'integer?',
      created_at: 'time',
    },
    primary: ['space_key', 'filename'],
  }),
}
