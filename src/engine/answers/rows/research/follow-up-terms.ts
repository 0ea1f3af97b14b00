import { type Read, sql } from '../../../store/program.js'
import {
  listDeniedSources,
  type ReaderIdentity,
  sqlCanRead,
  toReaderParameter,
} from '../../../store/rows/permissions.js'

/** The heading paths (JSON) in the published versions of documents. */
export function* listSections(
  spaceKey: number,
  documents: readonly string[],
  limit: number,
): Read<{ section: string }[]> {
  return yield* sql.all<{ section: string }>(
    `SELECT DISTINCT n.section FROM json_each(?) wanted
     CROSS JOIN documents d ON d.id = wanted.value AND d.space_key = ? AND d.deleted_at IS NULL
     CROSS JOIN versions v ON v.doc_key = d.key AND v.from_revision IS NOT NULL AND v.until_revision IS NULL
     CROSS JOIN nodes n ON n.version_key = v.key LIMIT ?`,
    [JSON.stringify(documents), spaceKey, limit],
  )
}

/**
 * Names that the graph relates to those of some passages, highest confidence first.
 *
 * @param common entities with at least this many mentions are left out as too general
 */
export function* listRelatedNames(
  spaceKey: number,
  reader: ReaderIdentity,
  nodes: readonly string[],
  { limit, common }: { limit: number; common: number },
): Read<{ name: string; confidence: number }[]> {
  const denied = yield* listDeniedSources(spaceKey, reader)
  // related by a passage that the reader may read
  const stated = `AND EXISTS (SELECT 1 FROM graph_relation_nodes s CROSS JOIN nodes sn ON sn.key = s.node_key
         CROSS JOIN documents sd ON sd.key = sn.doc_key WHERE s.relation_key = r.key
           AND (sd.source_id IS NULL OR sd.source_id NOT IN (SELECT value FROM json_each(?))))`
  // an entity's name is the longest of its names: a reader gets one from a document that the reader may read
  const readableName = `(SELECT n.name FROM graph_names n CROSS JOIN versions v ON v.key = n.version_key
         CROSS JOIN documents d ON d.key = v.doc_key WHERE n.entity_key = e.key
           AND (d.source_id IS NULL OR d.source_id NOT IN (SELECT value FROM json_each(?))) ORDER BY n.name LIMIT 1)`
  const values = denied.length === 0 ? [] : [JSON.stringify(denied)]
  const rows = yield* sql.all<{ name: string | null; confidence: number }>(
    `WITH found AS (
       SELECT DISTINCT m.entity_key key FROM json_each(?) wanted
       CROSS JOIN nodes n ON n.id = wanted.value AND n.space_key = ?
       CROSS JOIN graph_mentions m ON m.node_key = n.key LIMIT ?)
     SELECT ${denied.length === 0 ? 'e.name' : readableName} name, max(r.confidence) confidence FROM found f
     CROSS JOIN graph_relations r ON f.key IN (r.subject_key, r.object_key)
     CROSS JOIN graph_entities e ON e.key = CASE WHEN r.subject_key = f.key THEN r.object_key ELSE r.subject_key END
     WHERE e.key NOT IN (SELECT key FROM found) AND e.type <> 'date'
       AND (SELECT count(*) FROM graph_mentions c WHERE c.entity_key = e.key) < ?
       ${denied.length === 0 ? '' : stated}
     GROUP BY e.key, e.name ORDER BY confidence DESC, name LIMIT ?`,
    [JSON.stringify(nodes), spaceKey, limit, ...values, common, ...values, limit],
  )
  return rows.flatMap(({ name, confidence }) => (name === null ? [] : [{ name, confidence }]))
}

/** The live documents of a space that a reader may read, with their names, newest first. @param before row key */
export function* listDocumentNamesBefore(
  spaceKey: number,
  reader: ReaderIdentity,
  before: number,
  limit: number,
): Read<{ key: number; filename: string; title: string | null }[]> {
  return yield* sql.all<{ key: number; filename: string; title: string | null }>(
    `SELECT d.key, d.filename, v.title FROM
         (SELECT key, filename FROM documents
          WHERE space_key = ? AND deleted_at IS NULL AND key < ? AND ${sqlCanRead('documents.source_id')}
          ORDER BY key DESC LIMIT +?) d
       LEFT JOIN versions v ON v.doc_key = d.key AND v.until_revision IS NULL AND v.from_revision IS NOT NULL
       ORDER BY d.key DESC`,
    [spaceKey, before, toReaderParameter(reader), limit],
  )
}
