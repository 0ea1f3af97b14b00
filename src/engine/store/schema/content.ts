import { DEGRADED_CLASSES } from '../../../contract/values.js'
import { after, coveringIndex, index, note, oneOf, rowKey, table, through, unique } from './table.js'

/** What a version consists of: nodes, pages and pictures. */
export const CONTENT = {
  nodes: table({
    purpose: 'A unit of about 200 words that retrieval returns.',
    columns: {
      key: rowKey,
      id: unique('uuid'),
      space_key: 'key',
      doc_key: 'key',
      version_key: 'key',
      ordinal: 'integer',
      title: 'text',
      text: 'text',
      section: 'json-array',
      outline_node: 'text',
      elements: 'json-array',
      start_offset: 'integer',
      end_offset: 'integer',
      page: 'integer?',
      kind: oneOf(['text', 'table', 'code', 'list', 'image']),
      row_hash: 'row-hash',
      shows: note('json-array?', 'JSON: the tables, pictures and code blocks of the node'),
    },
    indexes: {
      nodes_version: index('version_key, ordinal'),
      nodes_place: coveringIndex('space_key, key, version_key'),
    },
    triggers: {
      vector_counts_node_removed: after(
        'DELETE',
        `UPDATE vector_counts SET live = live - 1
           WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key)
           AND EXISTS (SELECT 1 FROM vectors WHERE vectors.vector_space = vector_counts.vector_space AND node_key = OLD.key)`,
        'EXISTS (SELECT 1 FROM versions WHERE key = OLD.version_key AND until_revision IS NULL)',
      ),
      vector_refusals_removed: after(
        'DELETE',
        'DELETE FROM vector_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key',
      ),
      embedding_migration_refusals_removed: after(
        'DELETE',
        'DELETE FROM embedding_migration_refusals WHERE space_key = OLD.space_key AND node_key = OLD.key',
      ),
      graph_model_reads_removed: after('DELETE', 'DELETE FROM graph_model_reads WHERE node_key = OLD.key'),
    },
  }),
  item_assets: table({
    purpose: 'Pictures and other bytes that a version contains.',
    owner: through('versions', 'key', 'version_key'),
    withoutRowid: true,
    columns: { version_key: 'key', item_id: 'text', content_type: 'text', sha256: 'sha256', bytes: 'object-bytes' },
    primary: ['version_key', 'item_id'],
    triggers: {
      usage_item_added: after(
        'INSERT',
        `UPDATE space_usage SET artifact_bytes = artifact_bytes + length(NEW.bytes)
           WHERE space_key = (SELECT space_key FROM versions WHERE key = NEW.version_key)`,
      ),
      usage_item_removed: after(
        'DELETE',
        `UPDATE space_usage SET artifact_bytes = artifact_bytes - length(OLD.bytes)
           WHERE space_key = (SELECT space_key FROM versions WHERE key = OLD.version_key)`,
      ),
    },
  }),
  ocr_pages: table({
    purpose: 'Recognized text of one page. A run that was interrupted resumes after the last page.',
    derived: true,
    withoutRowid: true,
    columns: {
      doc_key: 'key',
      page: 'integer',
      space_key: 'key',
      engine: note('text', 'the engine and its languages: text of another engine is not used'),
      text: note('json-object', 'JSON of a RecognisedPage'),
    },
    primary: ['doc_key', 'page'],
    parent: { table: 'documents', columns: ['doc_key'], key: ['key'] },
    indexes: { ocr_pages_space: index('space_key') },
  }),
  picture_descriptions: table({
    purpose: 'The description of a picture by a vision model.',
    withoutRowid: true,
    columns: {
      doc_key: 'key',
      model: note('text', 'reference of the model, and the number of the prompt'),
      picture: note('sha256', 'hash of the bytes, or of the position in the file'),
      space_key: 'key',
      said: note('text?', 'NULL where the model refused'),
      error: 'text?',
      created_at: 'time',
    },
    primary: ['doc_key', 'model', 'picture'],
    indexes: { picture_descriptions_space: index('space_key, model, picture') },
  }),
  picture_readings: table({
    purpose: 'Versions whose pictures were all sent to the vision model; the newest of each document.',
    derived: true,
    withoutRowid: true,
    columns: {
      doc_key: 'key',
      space_key: 'key',
      version_key: 'key',
      model: 'text',
      rounds: note('integer', 'how often the document was compiled again with descriptions'),
    },
    primary: ['doc_key'],
    indexes: { picture_readings_version: index('version_key, model') },
  }),
  picture_waits: table({
    purpose: 'Spaces whose vision model does not respond, with the next retry.',
    derived: true,
    withoutRowid: true,
    columns: {
      space_key: 'key',
      attempts: 'integer',
      since: 'time',
      next_at: 'time',
      error_class: oneOf(DEGRADED_CLASSES),
      error: 'text',
      permanent: 'flag',
    },
    primary: ['space_key'],
  }),
}
