import { type Read, sql } from '../../../store/program.js'
import { parseJsonCell } from '../../../store/readable.js'
import {
  listDeniedSources,
  type ReaderIdentity,
  sqlCanRead,
  toReaderParameter,
} from '../../../store/rows/permissions.js'
import { getSpaceUsage } from '../../../store/rows/space-usage.js'

/** A document with some of its headings. */
export interface HeadedDocument {
  key: number
  id: string
  filename: string
  title: string
  /** heading paths of its first passages, each once, in reading order */
  sections: string[][]
}

/** Passages of a document whose headings are read. */
const MAX_PASSAGES = 40

/** Counts the documents of a space that a reader may read. */
export function* countReadableDocuments(spaceKey: number, reader: ReaderIdentity): Read<number> {
  if ((yield* listDeniedSources(spaceKey, reader)).length === 0) return (yield* getSpaceUsage(spaceKey)).documents
  const row = yield* sql.get<{ documents: number }>(
    `SELECT count(*) documents FROM documents WHERE space_key = ? AND deleted_at IS NULL
       AND ${sqlCanRead('documents.source_id')}`,
    [spaceKey, toReaderParameter(reader)],
  )
  return row?.documents ?? 0
}

/** The newest documents of a revision and then its largest ones, each once, with their headings. */
export function* listHeadedDocuments(
  spaceKey: number,
  reader: ReaderIdentity,
  { revision, newest, largest }: { revision: number; newest: number; largest: number },
): Read<HeadedDocument[]> {
  const list = (order: string, limit: number) =>
    sql.all<Omit<HeadedDocument, 'sections'> & { versionKey: number }>(
      `SELECT d.key, d.id, d.filename, v.title, v.key versionKey FROM documents d CROSS JOIN versions v ON v.doc_key = d.key
       WHERE d.space_key = ? AND d.deleted_at IS NULL AND v.from_revision <= ?
         AND (v.until_revision IS NULL OR v.until_revision > ?) AND ${sqlCanRead('d.source_id')}
       ORDER BY ${order} DESC LIMIT +?`,
      [spaceKey, revision, revision, toReaderParameter(reader), limit],
    )
  const documents = [...(yield* list('d.id', newest)), ...(yield* list('d.size_bytes', largest))]
  const unique = [...new Map(documents.map((document) => [document.key, document])).values()]
  const passages = yield* sql.allEach<{ section: string }>(
    'SELECT section FROM nodes WHERE version_key = ? AND ordinal < ? ORDER BY ordinal',
    unique.map(({ versionKey }) => [versionKey, MAX_PASSAGES]),
  )
  return unique.map(({ versionKey: _, ...document }, index) => {
    const paths = new Set((passages[index] ?? []).map(({ section }) => section))
    return { ...document, sections: [...paths].map((path) => parseJsonCell<string[]>(path)) }
  })
}
