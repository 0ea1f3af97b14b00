import { type Read, sql, type Write } from '../program.js'
import { parseJsonCell } from '../readable.js'

/* Pages of documents that were read by OCR. */

/** A document of a space; the caller found it by its tenant. */
export interface OcrDocument {
  key: number
  space_key: number
}

/** The file of a document that was read. */
export interface OcrFile extends OcrDocument {
  object_key: string
}

/** The stored pages of a document that an OCR engine has read, in order. */
export function* listOcrPages({ key, space_key }: OcrDocument, engine: string): Read<unknown[]> {
  const rows = yield* sql.all<{ text: string }>(
    'SELECT text FROM ocr_pages WHERE doc_key = ? AND space_key = ? AND engine = ? ORDER BY page',
    [key, space_key, engine],
  )
  return rows.map(({ text }) => parseJsonCell(text))
}

/** One stored page of a document, by any engine; undefined if it was not read by OCR. */
export function* findOcrPage({ key, space_key }: OcrDocument, page: number): Read<unknown> {
  const row = yield* sql.get<{ text: string }>(
    'SELECT text FROM ocr_pages WHERE doc_key = ? AND page = ? AND space_key = ?',
    [key, page, space_key],
  )
  return row === undefined ? undefined : parseJsonCell(row.text)
}

/** Stores pages of a document's newest file, in place of earlier results; nothing for another file or a deleted document. */
export function* storeOcrPages(
  { key, space_key, object_key }: OcrFile,
  engine: string,
  pages: readonly { page: number }[],
): Write<void> {
  yield* sql.runEach(
    `INSERT INTO ocr_pages (doc_key, page, space_key, engine, text)
     SELECT key, ?, space_key, ?, ? FROM documents WHERE key = ? AND space_key = ? AND deleted_at IS NULL
       AND coalesce(next_object_key, object_key) = ?
     ON CONFLICT (doc_key, page) DO UPDATE SET engine = excluded.engine, text = excluded.text`,
    pages.map((page) => [page.page, engine, JSON.stringify(page), key, space_key, object_key]),
  )
}
