import { type Read, sql, type Write } from '../../store/program.js'
import { jsonPathSql, parseJsonCell } from '../../store/readable.js'
import type { SourceRow } from '../../store/rows/sources.js'

/** Identifies a source. */
type SourceIdentity = Pick<SourceRow, 'tenant' | 'id' | 'space_key'>

const ADDRESS = jsonPathSql('metadata', '$.sourceUrl')
/** SQL: live documents of a source, except those that failed to parse; takes the space's key and the source's id */
const IS_LIVE = "space_key = ? AND source_id = ? AND deleted_at IS NULL AND parser_status <> 'failed'"
const IS_FAILED = "space_key = ? AND source_id = ? AND deleted_at IS NULL AND parser_status = 'failed'"
/** SQL: the document is a page or file of an external source. */
const IS_ITEM = `(${jsonPathSql('metadata', '$.pageId')} IS NOT NULL OR ${jsonPathSql('metadata', '$.fileId')} IS NOT NULL)`

/** Live documents of a source, failed ones included. */
export function* listSourceDocuments(owner: SourceIdentity, limit: number): Read<{ key: number; id: string }[]> {
  return yield* sql.all<{ key: number; id: string }>(
    'SELECT key, id FROM documents WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL LIMIT ?',
    [owner.space_key, owner.id, limit],
  )
}

/** Moves documents to another source, or to a scope of `createRetainedScope`. */
export function* setDocumentSource(documents: readonly { key: number }[], sourceId: string | null): Write<void> {
  for (const { key } of documents) yield* sql.run('UPDATE documents SET source_id = ? WHERE key = ?', [sourceId, key])
}

/** A web page and its document. */
export interface CrawledPage {
  documentAssetId: string
  sha256: string
  /** whether a newer file of the document is not published, such as one that could not be read */
  hasNextFile: boolean
}

/**
 * The crawled pages of a source that have a document, by address. Of a page that is being replaced, the newer document
 * counts.
 */
export function* listCrawledPages(owner: SourceIdentity): Read<Map<string, CrawledPage>> {
  const rows = yield* sql.all<{ url: string; id: string; sha256: string; next_object_key: string | null }>(
    `SELECT ${ADDRESS} url, id, sha256, next_object_key FROM documents WHERE ${IS_LIVE} AND ${ADDRESS} IS NOT NULL ORDER BY key`,
    [owner.space_key, owner.id],
  )
  return new Map(
    rows.map(({ url, id, sha256, next_object_key: next }) => [
      url,
      { documentAssetId: id, sha256, hasNextFile: next !== null },
    ]),
  )
}

/** The addresses of those pages, the longest unseen first. */
export function* listPagesByLastSeen(owner: SourceIdentity): Read<string[]> {
  const rows = yield* sql.all<{ url: string }>(
    `SELECT ${ADDRESS} url FROM documents WHERE ${IS_LIVE} AND ${ADDRESS} IS NOT NULL
       GROUP BY url ORDER BY max(coalesce(${jsonPathSql('metadata', '$.lastSeenAt')}, '')), min(key)`,
    [owner.space_key, owner.id],
  )
  return rows.map(({ url }) => url)
}

/** Documents of crawled pages that failed to parse, left by an interrupted crawl. */
export function* listFailedPages(owner: SourceIdentity): Read<string[]> {
  const rows = yield* sql.all<{ id: string }>(
    `SELECT id FROM documents WHERE ${IS_FAILED} AND ${ADDRESS} IS NOT NULL`,
    [owner.space_key, owner.id],
  )
  return rows.map(({ id }) => id)
}

export interface CrawledPageBytes {
  url: string
  object_key: string
  sha256: string
  validators: string | null
  parser_status: string
}

/** The stored bytes of those pages, and the validators that their server sent; oldest first. */
export function* listPageBytes(owner: SourceIdentity): Read<CrawledPageBytes[]> {
  return yield* sql.all<CrawledPageBytes>(
    `SELECT ${ADDRESS} url, object_key, sha256, validators, parser_status FROM documents
     WHERE ${IS_LIVE} AND ${ADDRESS} IS NOT NULL ORDER BY key`,
    [owner.space_key, owner.id],
  )
}

/** Stores validators of the published file of a document. @param validators JSON; null removes stored ones */
export function* setValidators(owner: SourceIdentity, id: string, validators: string | null): Write<void> {
  yield* sql.run(
    `UPDATE documents SET validators = ?
           WHERE space_key = ? AND source_id = ? AND id = ? AND deleted_at IS NULL AND next_object_key IS NULL
             AND validators IS NOT ?`,
    [validators, owner.space_key, owner.id, id, validators],
  )
}

/** Records when the pages of documents were last seen. @param at ISO 8601 in UTC */
export function* markPagesSeen(spaceKey: number, ids: readonly string[], at: string): Write<void> {
  for (const id of ids)
    yield* sql.run(
      `UPDATE documents SET metadata = json_remove(json_set(metadata, '$.lastSeenAt', ?), '$.missingCrawls')
       WHERE space_key = ? AND id = ? AND deleted_at IS NULL AND json_valid(metadata)`,
      [at, spaceKey, id],
    )
}

/** Counts a further crawl that did not find the pages of documents. */
export function* markPagesMissing(spaceKey: number, ids: readonly string[]): Write<void> {
  for (const id of ids)
    yield* sql.run(
      `UPDATE documents
       SET metadata = json_set(metadata, '$.missingCrawls', coalesce(CAST(json_extract(metadata, '$.missingCrawls') AS INTEGER), 0) + 1)
       WHERE space_key = ? AND id = ? AND deleted_at IS NULL AND json_valid(metadata)`,
      [spaceKey, id],
    )
}

/** Number of consecutive crawls that did not find the pages of documents. */
export function* countMissingCrawls(
  owner: SourceIdentity,
  ids: readonly string[],
): Read<{ id: string; missing: number }[]> {
  return yield* sql.all<{ id: string; missing: number }>(
    `SELECT documents.id, CAST(${jsonPathSql('metadata', '$.missingCrawls')} AS INTEGER) missing FROM json_each(?) wanted
       JOIN documents ON documents.tenant = ? AND documents.id = wanted.value WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL`,
    [JSON.stringify(ids), owner.tenant, owner.space_key, owner.id],
  )
}

/** A page or file of a source and its document, from the document's own metadata. */
export interface ImportedItem {
  documentAssetId: string
  filename: string
  sha256: string
  isParsed: boolean
  /** whether a newer file of the document is not published, such as one that could not be read */
  hasNextFile: boolean
  /** JSON, see `parseStoredValidators` */
  validators: string | null
  metadata: Readonly<Record<string, unknown>>
}

interface ImportedRow {
  id: string
  filename: string
  sha256: string
  parser_status: string
  next_object_key: string | null
  validators: string | null
  metadata: string
}

/** Key that distinguishes the pages and files of a source; undefined for any other document. */
function toItemKey(metadata: Readonly<Record<string, unknown>>): string | undefined {
  const { pageId, fileId, bucket } = metadata
  if (typeof pageId === 'string') return toPageKey(pageId)
  return typeof fileId === 'string' ? toFileKey(fileId, typeof bucket === 'string' ? bucket : undefined) : undefined
}

export function toPageKey(pageId: string): string {
  return JSON.stringify(['page', pageId])
}

export function toFileKey(fileId: string, bucket: string | undefined): string {
  return JSON.stringify(['file', bucket ?? '', fileId])
}

/** The pages and files of a source that have a document. Of one that is being replaced, the newer document counts. */
export function* listImportedItems(owner: SourceIdentity): Read<Map<string, ImportedItem>> {
  return indexByKey(yield* listLiveItems(owner))
}

/** Documents that an interrupted import left: they failed to parse, or were replaced under another name. */
export function* listStaleItems(owner: SourceIdentity): Read<string[]> {
  const failed = yield* sql.all<{ id: string }>(`SELECT id FROM documents WHERE ${IS_FAILED} AND ${IS_ITEM}`, [
    owner.space_key,
    owner.id,
  ])
  const live = yield* listLiveItems(owner)
  const newest = indexByKey(live)
  const replaced = live.filter(({ key, documentAssetId, filename }) => {
    const current = newest.get(key)
    // of two documents with one name, the publication of the newer one retires the older
    return current?.isParsed === true && current.documentAssetId !== documentAssetId && current.filename !== filename
  })
  return [...failed.map(({ id }) => id), ...replaced.map(({ documentAssetId }) => documentAssetId)]
}

type KeyedImportedItem = ImportedItem & { key: string }

function indexByKey(items: readonly KeyedImportedItem[]): Map<string, ImportedItem> {
  return new Map(items.map(({ key, ...imported }) => [key, imported]))
}

/** Oldest first. */
function* listLiveItems(owner: SourceIdentity): Read<KeyedImportedItem[]> {
  const rows = yield* sql.all<ImportedRow>(
    `SELECT id, filename, sha256, parser_status, next_object_key, validators, metadata FROM documents
     WHERE ${IS_LIVE} AND ${IS_ITEM} ORDER BY key`,
    [owner.space_key, owner.id],
  )
  return rows.flatMap((row) => {
    const metadata: Record<string, unknown> = parseJsonCell(row.metadata)
    const key = toItemKey(metadata)
    if (key === undefined) return []
    const isParsed = row.parser_status === 'parsed'
    const { id: documentAssetId, filename, sha256, validators } = row
    const hasNextFile = row.next_object_key !== null
    return [{ key, documentAssetId, filename, sha256, isParsed, hasNextFile, validators, metadata }]
  })
}

/** Replaces the metadata of a document whose bytes are unchanged; a newer file brings its own. */
export function* updateImportedMetadata(
  { tenant }: SourceIdentity,
  id: string,
  metadata: Readonly<Record<string, unknown>>,
  current: number,
): Write<void> {
  const text = JSON.stringify(metadata)
  yield* sql.run(
    `UPDATE documents SET metadata = ?, updated_at = ?
     WHERE tenant = ? AND id = ? AND metadata <> ? AND deleted_at IS NULL AND next_object_key IS NULL`,
    [text, current, tenant, id, text],
  )
}
