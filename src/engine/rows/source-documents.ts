import { type Read, sql, type Write } from '../storage/program.js'
import { fromCell, jsonAt } from '../storage/readable.js'
import type { SourceRow } from './sources.js'

/** Identifies a source. */
type Owner = Pick<SourceRow, 'tenant' | 'id' | 'space_key'>

const ADDRESS = jsonAt('metadata', '$.sourceUrl')
/** SQL: live documents of a source, except those that failed to parse; takes the space's key and the source's id */
const LIVE = "space_key = ? AND source_id = ? AND deleted_at IS NULL AND parser_status <> 'failed'"
const FAILED = "space_key = ? AND source_id = ? AND deleted_at IS NULL AND parser_status = 'failed'"
/** SQL: the document is a page or file of an external source. */
const IS_ITEM = `(${jsonAt('metadata', '$.pageId')} IS NOT NULL OR ${jsonAt('metadata', '$.fileId')} IS NOT NULL)`

/** Live documents of a source, failed ones included. */
export function* documentsOfSource(owner: Owner, most: number): Read<{ key: number; id: string }[]> {
  return yield* sql.all<{ key: number; id: string }>(
    'SELECT key, id FROM documents WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL LIMIT ?',
    [owner.space_key, owner.id, most],
  )
}

/** Moves documents to another source, or to a scope of `createRetainedScope`. */
export function* moveToSource(documents: readonly { key: number }[], sourceId: string | null): Write<void> {
  for (const { key } of documents) yield* sql.run('UPDATE documents SET source_id = ? WHERE key = ?', [sourceId, key])
}

/** A web page and its document. */
export interface CrawledPage {
  documentAssetId: string
  sha256: string
}

/**
 * The crawled pages of a source that have a document, by address. Of a page that is being replaced, the newer document
 * counts.
 */
export function* crawledPages(owner: Owner): Read<Map<string, CrawledPage>> {
  const rows = yield* sql.all<{ url: string; id: string; sha256: string }>(
    `SELECT ${ADDRESS} url, id, sha256 FROM documents WHERE ${LIVE} AND ${ADDRESS} IS NOT NULL ORDER BY key`,
    [owner.space_key, owner.id],
  )
  return new Map(rows.map(({ url, id, sha256 }) => [url, { documentAssetId: id, sha256 }]))
}

/** The addresses of those pages, the longest unseen first. */
export function* pagesLongestUnseen(owner: Owner): Read<string[]> {
  const rows = yield* sql.all<{ url: string }>(
    `SELECT ${ADDRESS} url FROM documents WHERE ${LIVE} AND ${ADDRESS} IS NOT NULL
       GROUP BY url ORDER BY max(coalesce(${jsonAt('metadata', '$.lastSeenAt')}, '')), min(key)`,
    [owner.space_key, owner.id],
  )
  return rows.map(({ url }) => url)
}

/** Documents of crawled pages that failed to parse, left by an interrupted crawl. */
export function* failedPages(owner: Owner): Read<string[]> {
  const rows = yield* sql.all<{ id: string }>(`SELECT id FROM documents WHERE ${FAILED} AND ${ADDRESS} IS NOT NULL`, [
    owner.space_key,
    owner.id,
  ])
  return rows.map(({ id }) => id)
}

export interface PageBytes {
  url: string
  object_key: string
  sha256: string
  validators: string | null
  parser_status: string
}

/** The stored bytes of those pages, and the validators that their server sent; oldest first. */
export function* pageBytes(owner: Owner): Read<PageBytes[]> {
  return yield* sql.all<PageBytes>(
    `SELECT ${ADDRESS} url, object_key, sha256, validators, parser_status FROM documents
     WHERE ${LIVE} AND ${ADDRESS} IS NOT NULL ORDER BY key`,
    [owner.space_key, owner.id],
  )
}

/** @param validators JSON; null removes stored ones */
export function* noteValidators(owner: Owner, id: string, validators: string | null): Write<void> {
  yield* sql.run(
    `UPDATE documents SET validators = ?
           WHERE space_key = ? AND source_id = ? AND id = ? AND deleted_at IS NULL AND validators IS NOT ?`,
    [validators, owner.space_key, owner.id, id, validators],
  )
}

/** Records when the pages of documents were last seen. @param at ISO 8601 in UTC */
export function* notePagesSeen(spaceKey: number, ids: readonly string[], at: string): Write<void> {
  for (const id of ids)
    yield* sql.run(
      `UPDATE documents SET metadata = json_remove(json_set(metadata, '$.lastSeenAt', ?), '$.missingCrawls')
       WHERE space_key = ? AND id = ? AND deleted_at IS NULL AND json_valid(metadata)`,
      [at, spaceKey, id],
    )
}

/** Counts a further crawl that did not find the pages of documents. */
export function* notePagesMissing(spaceKey: number, ids: readonly string[]): Write<void> {
  for (const id of ids)
    yield* sql.run(
      `UPDATE documents
       SET metadata = json_set(metadata, '$.missingCrawls', coalesce(CAST(json_extract(metadata, '$.missingCrawls') AS INTEGER), 0) + 1)
       WHERE space_key = ? AND id = ? AND deleted_at IS NULL AND json_valid(metadata)`,
      [spaceKey, id],
    )
}

/** Number of consecutive crawls that did not find the pages of documents. */
export function* missingCrawls(owner: Owner, ids: readonly string[]): Read<{ id: string; missing: number }[]> {
  return yield* sql.all<{ id: string; missing: number }>(
    `SELECT documents.id, CAST(${jsonAt('metadata', '$.missingCrawls')} AS INTEGER) missing FROM json_each(?) wanted
       JOIN documents ON documents.tenant = ? AND documents.id = wanted.value WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL`,
    [JSON.stringify(ids), owner.tenant, owner.space_key, owner.id],
  )
}

/** A page or file of a source and its document, from the document's own metadata. */
export interface Imported {
  documentAssetId: string
  filename: string
  sha256: string
  isParsed: boolean
  /** JSON, see `readKept` */
  validators: string | null
  metadata: Readonly<Record<string, unknown>>
}

interface ImportedRow {
  id: string
  filename: string
  sha256: string
  parser_status: string
  validators: string | null
  metadata: string
}

/** Key that distinguishes the pages and files of a source; undefined for any other document. */
function itemKey(metadata: Readonly<Record<string, unknown>>): string | undefined {
  const { pageId, fileId, bucket } = metadata
  if (typeof pageId === 'string') return pageKey(pageId)
  return typeof fileId === 'string' ? fileKey(fileId, typeof bucket === 'string' ? bucket : undefined) : undefined
}

export function pageKey(pageId: string): string {
  return JSON.stringify(['page', pageId])
}

export function fileKey(fileId: string, bucket: string | undefined): string {
  return JSON.stringify(['file', bucket ?? '', fileId])
}

/** The pages and files of a source that have a document. Of one that is being replaced, the newer document counts. */
export function* importedItems(owner: Owner): Read<Map<string, Imported>> {
  return byKey(yield* liveItems(owner))
}

/** Documents that an interrupted import left: they failed to parse, or were replaced under another name. */
export function* staleItems(owner: Owner): Read<string[]> {
  const failed = yield* sql.all<{ id: string }>(`SELECT id FROM documents WHERE ${FAILED} AND ${IS_ITEM}`, [
    owner.space_key,
    owner.id,
  ])
  const live = yield* liveItems(owner)
  const newest = byKey(live)
  const replaced = live.filter(({ key, documentAssetId, filename }) => {
    const now = newest.get(key)
    // of two documents with one name, the publication of the newer one retires the older
    return now?.isParsed === true && now.documentAssetId !== documentAssetId && now.filename !== filename
  })
  return [...failed.map(({ id }) => id), ...replaced.map(({ documentAssetId }) => documentAssetId)]
}

type Item = Imported & { key: string }

function byKey(items: readonly Item[]): Map<string, Imported> {
  return new Map(items.map(({ key, ...imported }) => [key, imported]))
}

/** Oldest first. */
function* liveItems(owner: Owner): Read<Item[]> {
  const rows = yield* sql.all<ImportedRow>(
    `SELECT id, filename, sha256, parser_status, validators, metadata FROM documents
     WHERE ${LIVE} AND ${IS_ITEM} ORDER BY key`,
    [owner.space_key, owner.id],
  )
  return rows.flatMap((row) => {
    const metadata: Record<string, unknown> = fromCell(row.metadata)
    const key = itemKey(metadata)
    if (key === undefined) return []
    const isParsed = row.parser_status === 'parsed'
    const { id: documentAssetId, filename, sha256, validators } = row
    return [{ key, documentAssetId, filename, sha256, isParsed, validators, metadata }]
  })
}

/** Replaces the metadata of a document whose bytes are unchanged. */
export function* describeImported(
  { tenant }: Owner,
  id: string,
  metadata: Readonly<Record<string, unknown>>,
  now: number,
): Write<void> {
  const text = JSON.stringify(metadata)
  yield* sql.run(
    `UPDATE documents SET metadata = ?, updated_at = ?
     WHERE tenant = ? AND id = ? AND metadata <> ? AND deleted_at IS NULL`,
    [text, now, tenant, id, text],
  )
}
