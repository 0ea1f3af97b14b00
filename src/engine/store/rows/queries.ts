import { isDamaged } from '../guarded-rows.js'
import { decodeHalfInto } from '../half.js'
import { matchesRowHash } from '../node-hash.js'
import { type Read, sql } from '../program.js'
import { jsonPathSql, parseJsonCell } from '../readable.js'

/** A passage with all fields of evidence. */
export interface PassageRow {
  key: number
  doc_key: number
  id: string
  title: string
  body: string
  section: string
  start_offset: number
  end_offset: number
  page: number | null
  kind: string
  /** JSON of the items that it contains; null if there are none */
  shows: string | null
  ordinal: number
  document_id: string
  filename: string
  document_title: string
  version: number
  artifact_hash: string
  published_at: number
  /** the document's own date, ISO 8601 in UTC */
  document_date: string | null
  /** authors that the document states, separated by commas */
  author: string | null
  source_id: string | null
  /** address of the web page that it was made from */
  source_url: string | null
  /** 1: it was fetched from an external source, not uploaded */
  external: number
  /** pages that were read by OCR, as `page:confidence` separated by spaces; null if there are none */
  ocr_pages: string | null
  /** of a recording: the model that transcribed it, as `provider/model` */
  transcript_by: string | null
}

/**
 * Filters node keys to those visible in the snapshot: every index hit passes through here before it is used for
 * anything. A document that was deleted after the snapshot is left out when its text is loaded.
 */
export function* filterVisibleKeys(
  spaceKey: number,
  snapshot: { headRevision: number },
  keys: number[],
): Read<Set<number>> {
  // as one value: one row for each of hundreds of keys costs half as much again
  const row = yield* sql.get<{ keys: string }>(
    `SELECT json_group_array(nodes.key) keys FROM json_each(?) wanted
     CROSS JOIN nodes INDEXED BY nodes_place ON nodes.key = wanted.value
     CROSS JOIN versions INDEXED BY versions_at ON versions.key = nodes.version_key
     WHERE nodes.space_key = ? AND versions.from_revision <= ?
       AND (versions.until_revision IS NULL OR versions.until_revision > ?)`,
    [JSON.stringify(keys), spaceKey, snapshot.headRevision, snapshot.headRevision],
  )
  const visible: number[] = row === undefined ? [] : parseJsonCell(row.keys)
  return new Set(visible)
}

/**
 * Passages by key, of those that still exist. Damaged ones, and those whose content does not match its hash, are left
 * out.
 */
export function* loadPassages(spaceKey: number, keys: number[]): Read<Map<number, PassageRow>> {
  const rows = yield* sql.all<PassageRow & { row_hash: Uint8Array }>(
    `SELECT nodes.key, nodes.doc_key, nodes.id, nodes.title, nodes.text body, nodes.section, nodes.start_offset, nodes.end_offset, nodes.page, nodes.row_hash,
       nodes.kind, nodes.shows, nodes.ordinal, documents.id document_id, documents.filename, versions.title document_title,
       versions.version, versions.artifact_hash, versions.created_at published_at, documents.source_id,
       ${jsonPathSql('versions.metadata', '$.documentDate')} document_date, ${jsonPathSql('versions.metadata', '$.author')} author,
       ${jsonPathSql('documents.metadata', '$.sourceUrl')} source_url, ${jsonPathSql('versions.metadata', '$.ocrPages')} ocr_pages,
       ${jsonPathSql('versions.metadata', '$.transcript.by')} transcript_by,
       coalesce(${jsonPathSql('documents.metadata', '$.sourceUrl')}, ${jsonPathSql('documents.metadata', '$.pageId')},
         ${jsonPathSql('documents.metadata', '$.fileId')}) IS NOT NULL external
     FROM json_each(?) wanted CROSS JOIN nodes ON nodes.key = wanted.value
     CROSS JOIN versions ON versions.key = nodes.version_key CROSS JOIN documents ON documents.key = nodes.doc_key
     WHERE nodes.space_key = ? AND documents.deleted_at IS NULL`,
    [JSON.stringify(keys), spaceKey],
  )
  const intact = rows.filter((row) => !isDamaged(row) && matchesRowHash({ ...row, text: row.body }))
  return new Map(intact.map((row) => [row.key, row]))
}

/** Vectors of nodes by key, of those that have one in a vector space. */
export function* loadVectors(vectorSpace: string, keys: number[]): Read<Map<number, Float32Array>> {
  const rows = yield* sql.all<{ key: number; vector: Uint8Array; dimension: number }>(
    `SELECT vectors.node_key key, vectors.vector, vector_spaces.dimension FROM vector_spaces
     CROSS JOIN json_each(?) wanted
     CROSS JOIN vectors ON vectors.vector_space = vector_spaces.key AND vectors.node_key = wanted.value
     WHERE vector_spaces.id = ?`,
    [JSON.stringify(keys), vectorSpace],
  )
  const complete = rows.filter(({ vector, dimension }) => vector.byteLength === 2 * dimension)
  return new Map(
    complete.map(({ key, vector, dimension }) => {
      const floats = new Float32Array(dimension)
      decodeHalfInto(vector, floats, 0)
      return [key, floats]
    }),
  )
}

/** Returns the number of nodes of the given documents at a revision. */
export function* countNodesOfDocuments(spaceKey: number, docs: readonly number[], revision: number): Read<number> {
  const row = yield* sql.get<{ nodes: number | null }>(
    `SELECT sum(v.node_count) nodes FROM documents d CROSS JOIN versions v ON v.doc_key = d.key
     WHERE d.key IN (SELECT value FROM json_each(?)) AND d.space_key = ? AND d.deleted_at IS NULL
       AND v.from_revision <= ? AND (v.until_revision IS NULL OR v.until_revision > ?)`,
    [JSON.stringify(docs), spaceKey, revision, revision],
  )
  return row?.nodes ?? 0
}

/** Of some nodes, the keys of those in some documents. */
export function* filterNodesOfDocuments(keys: ReadonlySet<number>, docs: readonly number[]): Read<Set<number>> {
  const rows = yield* sql.all<{ key: number }>(
    `SELECT n.key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
     WHERE n.doc_key IN (SELECT value FROM json_each(?))`,
    [JSON.stringify([...keys]), JSON.stringify(docs)],
  )
  return new Set(rows.map(({ key }) => key))
}

/**
 * Of some documents, the keys of those with a newer version that is accepted and not published yet, and of web pages
 * that the last crawl did not find, before they are deleted.
 */
export function* filterStaleDocuments(docs: readonly number[]): Read<Set<number>> {
  const keys = JSON.stringify(docs)
  const rows = yield* sql.all<{ key: number }>(
    `SELECT j.doc_key key FROM json_each(?) wanted CROSS JOIN jobs j INDEXED BY jobs_document
       ON j.doc_key = wanted.value WHERE j.completed_at IS NULL
     UNION SELECT documents.key FROM json_each(?) missed JOIN documents ON documents.key = missed.value
     WHERE CAST(${jsonPathSql('metadata', '$.missingCrawls')} AS INTEGER) > 0`,
    [keys, keys],
  )
  return new Set(rows.map(({ key }) => key))
}
