import { type Read, sql } from '../../../store/program.js'
import { PAGE_INDEX_FORMAT } from '../../../store/rows/page-indexes.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'
import { LIVE, OPEN } from './open.js'

export interface OpenProfileRow {
  version_key: number
  doc_key: number
  terms: Uint8Array
  range_count: number
  node_count: number
}

/** Terms of open documents that a publication shows, newest first, before a version. */
export function* listOpenProfiles(
  { key: spaceKey, head_revision: revision }: Pick<SpaceRow, 'key' | 'head_revision'>,
  before: number,
  limit: number,
): Read<OpenProfileRow[]> {
  return yield* sql.all<OpenProfileRow>(
    `SELECT p.version_key, p.doc_key, p.terms, p.range_count, v.node_count FROM page_index p INDEXED BY page_index_space
     CROSS JOIN versions v ON v.key = p.version_key CROSS JOIN documents d ON d.key = p.doc_key
     WHERE p.space_key = ? AND p.version_key < ? AND p.format = ${PAGE_INDEX_FORMAT}
       AND v.from_revision <= ? AND ${LIVE} AND ${OPEN} ORDER BY p.version_key DESC LIMIT +?`,
    [spaceKey, before, revision, limit],
  )
}

/** The open document of each published node; other nodes are left out. */
export function* findOpenDocuments(spaceKey: number, nodes: readonly number[]): Read<Map<number, number>> {
  const rows = yield* sql.all<{ key: number; doc_key: number }>(
    `SELECT n.key, n.doc_key FROM json_each(?) wanted CROSS JOIN nodes n ON n.key = wanted.value
     CROSS JOIN versions v ON v.key = n.version_key CROSS JOIN documents d ON d.key = n.doc_key
     WHERE n.space_key = ? AND ${LIVE} AND ${OPEN}`,
    [JSON.stringify(nodes), spaceKey],
  )
  return new Map(rows.map(({ key, doc_key }) => [key, doc_key]))
}

/** Open documents of a space, by id. */
export function* listOpenDocumentsAfter(
  spaceKey: number,
  after: string,
  limit: number,
): Read<{ key: number; id: string }[]> {
  return yield* sql.all<{ key: number; id: string }>(
    `SELECT d.key, d.id FROM documents d INDEXED BY documents_space
     WHERE d.space_key = ? AND d.id > ? AND ${OPEN} ORDER BY d.id LIMIT +?`,
    [spaceKey, after, limit],
  )
}

/** Titles, first headings and beginnings of documents' texts, for topic terms. */
export function* listBeginnings(
  docs: readonly number[],
  nodes: number,
): Read<{ title: string; headings: string[]; texts: string[] }[]> {
  const rows = yield* sql.all<{ doc: number; title: string; heading: string; text: string }>(
    `SELECT v.doc_key doc, v.title, n.title heading, n.text FROM json_each(?) wanted
     CROSS JOIN versions v ON v.doc_key = wanted.value
     CROSS JOIN nodes n ON n.version_key = v.key WHERE ${LIVE} AND n.ordinal < ? ORDER BY wanted.key, n.ordinal`,
    [JSON.stringify(docs), nodes],
  )
  const byDocument = new Map<number, { title: string; headings: string[]; texts: string[] }>()
  for (const { doc, title, heading, text } of rows) {
    const entry = byDocument.get(doc) ?? { title, headings: [], texts: [] }
    entry.headings.push(heading)
    entry.texts.push(text)
    byDocument.set(doc, entry)
  }
  return [...byDocument.values()]
}
