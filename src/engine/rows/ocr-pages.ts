import { type Read, sql, type Write } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'

/*
 * Pages of documents that were read in pictures.
 */

/** Whose pages they are: a document of a space that the caller found by its tenant. */
export interface OcrOwner {
  key: number
  space_key: number
}

/** The pages of a document that an engine has read, as they were stored, in their order. */
export function* ocrPages({ key, space_key }: OcrOwner, engine: string): Read<unknown[]> {
  const rows = yield* sql.all<{ text: string }>(
    'SELECT text FROM ocr_pages WHERE doc_key = ? AND space_key = ? AND engine = ? ORDER BY page',
    [key, space_key, engine],
  )
  return rows.map(({ text }) => fromCell(text))
}

/** One page of a document as it was stored, whatever read it; nothing where it was not read in a picture. */
export function* ocrPage({ key, space_key }: OcrOwner, page: number): Read<unknown> {
  const row = yield* sql.get<{ text: string }>(
    'SELECT text FROM ocr_pages WHERE doc_key = ? AND page = ? AND space_key = ?',
    [key, page, space_key],
  )
  return row === undefined ? undefined : fromCell(row.text)
}

/** Keeps pages of a document, in place of what was read of them before; of a document that is gone, none. */
export function* keepOcrPages(
  { key, space_key }: OcrOwner,
  engine: string,
  pages: readonly { page: number }[],
): Write<void> {
  yield* sql.runEach(
    `INSERT INTO ocr_pages (doc_key, page, space_key, engine, text)
     SELECT key, ?, space_key, ?, ? FROM documents WHERE key = ? AND space_key = ? AND deleted_at IS NULL
     ON CONFLICT (doc_key, page) DO UPDATE SET engine = excluded.engine, text = excluded.text`,
    pages.map((page) => [page.page, engine, JSON.stringify(page), key, space_key]),
  )
}
