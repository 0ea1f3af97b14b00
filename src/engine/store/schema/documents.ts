import {
  after,
  checked,
  coveringIndex,
  generated,
  index,
  notBundled,
  note,
  oneOf,
  rowKey,
  table,
  withDefault,
} from './table.js'

const DELETED = 'OLD.deleted_at IS NULL AND NEW.deleted_at IS NOT NULL'
const SUPERSEDED = 'OLD.until_revision IS NULL AND NEW.until_revision IS NOT NULL'

/** Documents and their compiled versions. */
export const DOCUMENTS = {
  documents: table({
    purpose: 'One stored file and its state.',
    source: 'source_id',
    columns: {
      key: rowKey,
      tenant: 'text',
      id: 'uuid',
      space_key: 'key',
      source_id: 'text?',
      filename: 'text',
      mime_type: 'text',
      object_key: 'object-key',
      sha256: 'sha256',
      size_bytes: 'integer',
      parser_status: checked(['pending', 'parsed', 'failed']),
      version: withDefault('integer', 1),
      metadata: withDefault('json-object', '{}'),
      error_code: 'text?',
      error: 'text?',
      created_at: 'time',
      updated_at: 'time',
      deleted_at: notBundled('time?'),
      path_name: 'text?',
      folder: generated(
        "replace(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', '')), '/', char(1))",
      ),
      base: generated(
        "substr(coalesce(path_name, filename), length(rtrim(coalesce(path_name, filename), replace(coalesce(path_name, filename), '/', ''))) + 1)",
      ),
      validators: note('json-object?', 'JSON of `StoredValidators` in `sources/stored-validators.ts`'),
      parent_id: note('uuid?', 'the document whose file contains this one'),
      next_parent_id: note(
        notBundled('uuid?'),
        'a newer file with the name of the parent, which becomes the parent when it is published',
      ),
      next_object_key: note(
        notBundled('object-key?'),
        'the bytes of a newer file of the document, which its open or failed job compiles',
      ),
      next_file: note(notBundled('json-object?'), 'hash, size, media type and metadata of that file'),
      received_at: note('time?', 'when the file was received, if it is not the first one'),
    },
    unique: [['tenant', 'id']],
    indexes: {
      documents_space: index('space_key, id', 'deleted_at IS NULL'),
      documents_name: index('space_key, filename', 'deleted_at IS NULL'),
      documents_size: index('space_key, size_bytes', 'deleted_at IS NULL'),
      documents_object: index('object_key'),
      documents_deleted: index('deleted_at', 'deleted_at IS NOT NULL'),
      documents_age: index('space_key, created_at', 'deleted_at IS NULL'),
      documents_place: index('space_key, source_id, folder, base, id', 'deleted_at IS NULL'),
      documents_base: index('space_key, base, id', 'deleted_at IS NULL'),
      documents_failed: index('space_key', "parser_status = 'failed' AND deleted_at IS NULL"),
      documents_parent: index('tenant, parent_id', 'parent_id IS NOT NULL'),
      documents_next_object: index('next_object_key', 'next_object_key IS NOT NULL'),
    },
    triggers: {
      usage_document_added: after(
        'INSERT',
        `INSERT INTO space_usage (space_key, document_count, raw_bytes) VALUES (NEW.space_key, 1, NEW.size_bytes)
           ON CONFLICT (space_key) DO UPDATE SET document_count = document_count + 1, raw_bytes = raw_bytes + excluded.raw_bytes`,
        'NEW.deleted_at IS NULL',
      ),
      usage_document_deleted: after(
        'UPDATE OF deleted_at',
        `UPDATE space_usage SET document_count = document_count - 1, raw_bytes = raw_bytes - OLD.size_bytes
           WHERE space_key = OLD.space_key`,
        DELETED,
      ),
      semantic_document_gone: after(
        'DELETE',
        "DELETE FROM semantic_view_members WHERE member_key = OLD.key AND kind = 'document'",
      ),
      semantic_document_deleted: after(
        'UPDATE OF deleted_at',
        `INSERT INTO space_deletions (space_key, deletions) VALUES (NEW.space_key, 1)
           ON CONFLICT (space_key) DO UPDATE SET deletions = deletions + 1;
         UPDATE semantic_views SET dropped = 1 WHERE named = 0 AND key IN (
           SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document'
           UNION SELECT member.view_key FROM versions version
           CROSS JOIN graph_mentions mention ON mention.version_key = version.key
           CROSS JOIN semantic_view_members member ON member.member_key = mention.entity_key AND member.kind = 'entity'
           WHERE version.doc_key = NEW.key)`,
        DELETED,
      ),
      jobs_document_deleted: after(
        'UPDATE OF deleted_at',
        `UPDATE jobs SET error = 'its document was deleted' WHERE doc_key = NEW.key AND error IS NOT NULL;
         UPDATE staged_commits SET error_message = 'its document was deleted'
           WHERE job_id IN (SELECT id FROM jobs WHERE doc_key = NEW.key) AND error_message IS NOT NULL`,
        DELETED,
      ),
      semantic_named_document_deleted: after(
        'UPDATE OF deleted_at',
        `UPDATE semantic_views SET document_count = document_count - 1 WHERE named = 1 AND document_count > 0 AND key IN
           (SELECT view_key FROM semantic_view_members WHERE member_key = NEW.key AND kind = 'document')`,
        DELETED,
      ),
      usage_document_resized: after(
        'UPDATE OF size_bytes',
        `UPDATE space_usage SET raw_bytes = raw_bytes + NEW.size_bytes - OLD.size_bytes
           WHERE space_key = OLD.space_key`,
        'OLD.deleted_at IS NULL AND NEW.deleted_at IS NULL AND NEW.size_bytes <> OLD.size_bytes',
      ),
      readings_document_edited: after(
        'UPDATE OF next_object_key',
        `DELETE FROM ocr_pages WHERE doc_key = NEW.key;
         DELETE FROM picture_readings WHERE doc_key = NEW.key`,
        'NEW.next_object_key IS NOT NULL',
      ),
    },
  }),
  versions: table({
    purpose: 'One compiled state of a document, with the revisions in which it is visible.',
    columns: {
      key: rowKey,
      doc_key: 'key',
      space_key: 'key',
      version: 'integer',
      from_revision: 'integer?',
      until_revision: 'integer?',
      node_count: 'integer',
      first_node: 'key?',
      last_node: 'key?',
      artifact_id: 'uuid',
      artifact_hash: 'sha256',
      content_type: oneOf(['text', 'structured', 'mixed']),
      parser: oneOf(['native-markdown', 'native-html', 'native-structured', 'unstructured']),
      outline_id: 'uuid',
      items_id: 'uuid',
      created_at: 'time',
      title: 'text',
      metadata: 'json-object',
      outline: note('packed', 'large values last: reading a column after them walks their pages'),
      items: 'packed',
      artifact: 'packed',
      obsolete_at: notBundled('time?'),
      segment_count: withDefault('integer', 0),
    },
    unique: [['doc_key', 'version']],
    indexes: {
      versions_at: coveringIndex('key, from_revision, until_revision'),
      versions_live: coveringIndex('space_key, until_revision, from_revision, node_count'),
      versions_visible: coveringIndex('doc_key, from_revision, until_revision, version'),
      versions_obsolete: index('obsolete_at', 'obsolete_at IS NOT NULL'),
      versions_superseded: index('space_key, doc_key, version', 'until_revision IS NOT NULL AND obsolete_at IS NULL'),
      versions_inactive: index('space_key, until_revision', 'until_revision IS NOT NULL AND first_node IS NOT NULL'),
    },
    triggers: {
      usage_version_added: after(
        'INSERT',
        `INSERT INTO space_usage (space_key, artifact_bytes, segment_count, node_count)
           VALUES (NEW.space_key, length(NEW.artifact) + length(NEW.outline) + length(NEW.items), NEW.segment_count,
           CASE WHEN NEW.until_revision IS NULL THEN NEW.node_count ELSE 0 END)
           ON CONFLICT (space_key) DO UPDATE SET artifact_bytes = artifact_bytes + excluded.artifact_bytes,
           segment_count = segment_count + excluded.segment_count, node_count = node_count + excluded.node_count`,
      ),
      usage_version_superseded: after(
        'UPDATE OF until_revision',
        'UPDATE space_usage SET node_count = node_count - OLD.node_count WHERE space_key = OLD.space_key',
        SUPERSEDED,
      ),
      usage_version_removed: after(
        'DELETE',
        `UPDATE space_usage SET
           artifact_bytes = artifact_bytes - length(OLD.artifact) - length(OLD.outline) - length(OLD.items),
           segment_count = segment_count - OLD.segment_count,
           node_count = node_count - CASE WHEN OLD.until_revision IS NULL THEN OLD.node_count ELSE 0 END
           WHERE space_key = OLD.space_key`,
      ),
      usage_version_rewritten: after(
        'UPDATE OF artifact, outline, items',
        `UPDATE space_usage SET artifact_bytes = artifact_bytes
           + length(NEW.artifact) + length(NEW.outline) + length(NEW.items)
           - length(OLD.artifact) - length(OLD.outline) - length(OLD.items) WHERE space_key = OLD.space_key`,
      ),
      versions_derived: after(
        'DELETE',
        `DELETE FROM page_index WHERE version_key = OLD.key;
         DELETE FROM graph_relation_nodes WHERE version_key = OLD.key;
         DELETE FROM graph_mentions WHERE version_key = OLD.key;
         DELETE FROM graph_versions WHERE version_key = OLD.key`,
      ),
      versions_names: after('DELETE', 'DELETE FROM graph_names WHERE version_key = OLD.key'),
      vector_counts_superseded: after(
        'UPDATE OF until_revision',
        `UPDATE vector_counts SET live = live -
           (SELECT count(*) FROM vectors WHERE vectors.vector_space = vector_counts.vector_space
           AND node_key BETWEEN OLD.first_node AND OLD.last_node)
           WHERE vector_space IN (SELECT key FROM vector_spaces WHERE space_key = OLD.space_key)`,
        'OLD.until_revision IS NULL AND NEW.until_revision IS NOT NULL AND OLD.first_node IS NOT NULL',
      ),
      vectors_due_superseded: after(
        'UPDATE OF until_revision',
        'DELETE FROM vectors_due WHERE version_key = NEW.key',
        'NEW.until_revision IS NOT NULL',
      ),
      vectors_due_removed: after('DELETE', 'DELETE FROM vectors_due WHERE version_key = OLD.key'),
      version_parts_removed: after('DELETE', 'DELETE FROM version_parts WHERE version_key = OLD.key'),
      usage_version_grown: after(
        'UPDATE OF node_count',
        'UPDATE space_usage SET node_count = node_count + NEW.node_count - OLD.node_count WHERE space_key = NEW.space_key',
        'OLD.until_revision IS NULL AND NEW.until_revision IS NULL AND NEW.node_count <> OLD.node_count',
      ),
      versions_ended_conflicts: after(
        'UPDATE OF until_revision',
        `DELETE FROM conflicts WHERE one_version = NEW.key;
         DELETE FROM conflicts WHERE other_version = NEW.key;
         DELETE FROM conflict_claims WHERE version_key = NEW.key`,
        'NEW.until_revision IS NOT NULL',
      ),
      versions_deleted_conflicts: after(
        'DELETE',
        `DELETE FROM conflicts WHERE one_version = OLD.key;
         DELETE FROM conflicts WHERE other_version = OLD.key;
         DELETE FROM conflict_claims WHERE version_key = OLD.key`,
      ),
    },
  }),
  version_parts: table({
    purpose: 'Slices of a large artifact, outline or item list.',
    withoutRowid: true,
    columns: {
      version_key: 'key',
      part: checked(['artifact', 'outline', 'items']),
      place: 'integer',
      space_key: 'key',
      bytes: 'packed',
    },
    primary: ['version_key', 'part', 'place'],
    triggers: {
      usage_part_added: after(
        'INSERT',
        'UPDATE space_usage SET artifact_bytes = artifact_bytes + length(NEW.bytes) WHERE space_key = NEW.space_key',
      ),
      usage_part_removed: after(
        'DELETE',
        'UPDATE space_usage SET artifact_bytes = artifact_bytes - length(OLD.bytes) WHERE space_key = OLD.space_key',
      ),
    },
  }),
}
