import { type Read, sql } from '../../../store/program.js'
import { type Reader, sqlCanRead, toReaderParameter } from '../../../store/rows/permissions.js'

/** Names that may identify a document, a passage, a version or a commit; null if absent. */
export interface FindingNames {
  id: string | null
  documentId: string | null
  artifactId: string | null
  objectKey: string | null
  /** name of an upload's temporary file */
  staged: string | null
}

/** Whether any of these names identifies something that the reader may not read. */
export function* isHidden(reader: Reader, spaceKey: number, names: FindingNames): Read<boolean> {
  const { id, documentId, artifactId, objectKey, staged } = names
  const readerParameter = toReaderParameter(reader)
  return yield* sql.exists(
    `SELECT 1 one WHERE
       EXISTS (SELECT 1 FROM documents d WHERE d.tenant = ? AND d.id IN (?, ?) AND NOT ${sqlCanRead('d.source_id')})
       OR EXISTS (SELECT 1 FROM nodes n CROSS JOIN documents d ON d.key = n.doc_key
                  WHERE n.id = ? AND NOT ${sqlCanRead('d.source_id')})
       OR EXISTS (SELECT 1 FROM versions v INDEXED BY versions_live CROSS JOIN documents d ON d.key = v.doc_key
                  WHERE v.space_key = ? AND v.until_revision IS NULL AND v.from_revision IS NULL
                    AND v.artifact_id IN (?, ?) AND NOT ${sqlCanRead('d.source_id')})
       OR EXISTS (SELECT 1 FROM staged_commits c WHERE c.tenant = ? AND c.id = ? AND NOT ${sqlCanRead('c.source_id')})
       OR EXISTS (SELECT 1 FROM staged_commits c
                  WHERE c.published_object_key = ? AND NOT ${sqlCanRead('c.source_id')})`,
    [
      reader.tenant,
      documentId,
      id,
      readerParameter,
      id,
      readerParameter,
      spaceKey,
      id,
      artifactId,
      readerParameter,
      reader.tenant,
      staged,
      readerParameter,
      objectKey,
      readerParameter,
    ],
  )
}

/** Of some ids, those of documents that the reader may not read. */
export function* filterHiddenDocuments(reader: Reader, ids: readonly string[]): Read<Set<string>> {
  const rows = yield* sql.all<{ id: string }>(
    `SELECT d.id FROM json_each(?) wanted CROSS JOIN documents d ON d.tenant = ? AND d.id = wanted.value
     WHERE NOT ${sqlCanRead('d.source_id')}`,
    [JSON.stringify(ids), reader.tenant, toReaderParameter(reader)],
  )
  return new Set(rows.map(({ id }) => id))
}
