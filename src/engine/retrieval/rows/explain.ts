import { type Read, sql } from '../../store/program.js'
import type { DocumentRow } from '../../store/rows/documents.js'
import { type Reader, sqlCanRead, toReaderParameter } from '../../store/rows/permissions.js'

/** Documents with a base name, in any folder, newest first. */
export function* listDocumentsByBaseName(reader: Reader, spaceKey: number, base: string): Read<DocumentRow[]> {
  return yield* sql.all<DocumentRow>(
    `SELECT * FROM documents WHERE space_key = ? AND base = ? AND deleted_at IS NULL
       AND ${sqlCanRead('documents.source_id')} ORDER BY key DESC`,
    [spaceKey, base, toReaderParameter(reader)],
  )
}

/** Names that contain a text, for "did you mean". */
export function* listSimilarNames(reader: Reader, spaceKey: number, part: string, limit: number): Read<string[]> {
  return (yield* sql.all<{ filename: string }>(
    `SELECT filename FROM documents WHERE space_key = ? AND deleted_at IS NULL AND instr(lower(filename), lower(?)) > 0
         AND ${sqlCanRead('documents.source_id')} ORDER BY length(filename) LIMIT ?`,
    [spaceKey, part, toReaderParameter(reader), limit],
  )).map((row) => row.filename)
}

/** A deleted document whose row still exists, by id or by name. */
export function* findDeletedDocument(
  reader: Reader,
  spaceKey: number,
  id: string,
  name: string,
): Read<DocumentRow | undefined> {
  return yield* sql.get<DocumentRow>(
    `SELECT * FROM documents WHERE space_key = ? AND (id = ? OR filename = ?) AND deleted_at IS NOT NULL
       AND ${sqlCanRead('documents.source_id')} ORDER BY deleted_at DESC LIMIT 1`,
    [spaceKey, id, name, toReaderParameter(reader)],
  )
}

/** Whether the space ever had a document with this id; its name is lost with its row. */
export function* wasEverStored(reader: Reader, spaceKey: number, id: string): Read<boolean> {
  return (
    (yield* sql.get<{ one: number }>(
      `SELECT 1 one FROM staged_commits WHERE space_key = ? AND document_id = ?
         AND ${sqlCanRead('staged_commits.source_id')} LIMIT 1`,
      [spaceKey, id, toReaderParameter(reader)],
    )) !== undefined
  )
}

export interface VisibleVersion {
  key: number
  version: number
  node_count: number
  from_revision: number
  created_at: number
}

/** The version of a document that is visible in a revision. */
export function* findVersionAt(docKey: number, revision: number): Read<VisibleVersion | undefined> {
  return yield* sql.get<VisibleVersion>(
    `SELECT key, version, node_count, from_revision, created_at FROM versions
     WHERE doc_key = ? AND from_revision <= ? AND (until_revision IS NULL OR until_revision > ?)`,
    [docKey, revision, revision],
  )
}

/** The first revision that showed a document, by the versions that are still stored. */
export function* findFirstRevision(docKey: number): Read<{ revision: number; version: number } | undefined> {
  return yield* sql.get<{ revision: number; version: number }>(
    `SELECT from_revision revision, version FROM versions WHERE doc_key = ? AND from_revision IS NOT NULL
     ORDER BY version LIMIT 1`,
    [docKey],
  )
}

export interface ExplainedNodeRow {
  key: number
  id: string
  ordinal: number
  title: string
  body: string
  section: string
}

/** Passages of a version in order, one page at a time. */
export function* listExplainedNodesAfter(versionKey: number, ordinal: number, limit: number): Read<ExplainedNodeRow[]> {
  return yield* sql.all<ExplainedNodeRow>(
    `SELECT key, id, ordinal, title, text body, section FROM nodes WHERE version_key = ? AND ordinal > ?
     ORDER BY ordinal LIMIT ?`,
    [versionKey, ordinal, limit],
  )
}

/** Number of nodes that have a vector in a vector space. */
export function* countVectorsOfNodes(vectorSpaceId: string, nodeKeys: readonly number[]): Read<number> {
  return (
    (yield* sql.get<{ n: number }>(
      `SELECT count(*) n FROM json_each(?) wanted
       JOIN vectors ON vectors.node_key = wanted.value
         AND vectors.vector_space = (SELECT key FROM vector_spaces WHERE id = ?)`,
      [JSON.stringify(nodeKeys), vectorSpaceId],
    ))?.n ?? 0
  )
}
