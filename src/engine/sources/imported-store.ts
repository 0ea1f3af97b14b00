import { defined } from '../../lib/defined.js'
import type { SourceRow } from '../rows/sources.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { fromCell, jsonAt } from '../storage/readable.js'

/** A page or file of a source and the document that it became, as the document's own metadata says it. */
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

type Owner = Pick<SourceRow, 'id' | 'space_key'>

/** What tells the pages and files of a source apart; undefined for a document that came another way. */
export function itemKey(metadata: Readonly<Record<string, unknown>>): string | undefined {
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

/** The pages and files of a source that have a document. Of one that is being replaced the newer document counts. */
export function* importedItems(owner: Owner): Read<Map<string, Imported>> {
  const items = new Map<string, Imported>()
  for (const { key, ...imported } of yield* liveItems(owner)) items.set(key, imported)
  return items
}

/** Documents that an import that was cut off left behind: they could not be read, or have been replaced under another name. */
export function* staleItems(owner: Owner): Read<string[]> {
  const failed = yield* sql.all<{ id: string }>(
    `SELECT id FROM documents WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL AND parser_status = 'failed'
       AND (${jsonAt('metadata', '$.pageId')} IS NOT NULL OR ${jsonAt('metadata', '$.fileId')} IS NOT NULL)`,
    [owner.space_key, owner.id],
  )
  const newest = yield* importedItems(owner)
  const replaced = (yield* liveItems(owner)).filter(({ key, documentAssetId, filename }) => {
    const now = newest.get(key)
    // of two under one name the publication of the newer one retires the older
    return now?.isParsed === true && now.documentAssetId !== documentAssetId && now.filename !== filename
  })
  return [...failed.map(({ id }) => id), ...replaced.map(({ documentAssetId }) => documentAssetId)]
}

/** Oldest first. */
function* liveItems(owner: Owner): Read<(Imported & { key: string })[]> {
  const rows = yield* sql.all<ImportedRow>(
    `SELECT id, filename, sha256, parser_status, validators, metadata FROM documents
     WHERE space_key = ? AND source_id = ? AND deleted_at IS NULL AND parser_status <> 'failed'
       AND (${jsonAt('metadata', '$.pageId')} IS NOT NULL OR ${jsonAt('metadata', '$.fileId')} IS NOT NULL)
     ORDER BY key`,
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

/** Says anew what a document was made of: its bytes are the same, what is known about them is not. */
export function* describeImported(id: string, metadata: Readonly<Record<string, unknown>>, now: number): Write<void> {
  const text = JSON.stringify(metadata)
  yield* sql.run(
    'UPDATE documents SET metadata = ?, updated_at = ? WHERE id = ? AND metadata <> ? AND deleted_at IS NULL',
    [text, now, id, text],
  )
}

/** `metadata.imported` and `metadata.importedFiles` of a source, where it has any. */
export function* importedMaps(owner: Owner): Read<Record<string, unknown>> {
  const pages: Record<string, unknown> = {}
  const files: Record<string, unknown> = {}
  for (const { documentAssetId, metadata } of (yield* importedItems(owner)).values()) {
    const { pageId, lastEditedTime, fileId, name, bucket, mimeType } = metadata
    if (typeof pageId === 'string') pages[pageId] = { documentAssetId, ...defined({ lastEditedTime }) }
    else if (typeof fileId === 'string')
      files[fileId] = {
        name,
        ...defined({ bucket, mimeType }),
      }
  }
  return {
    ...(Object.keys(pages).length === 0 ? {} : { imported: pages }),
    ...(Object.keys(files).length === 0 ? {} : { importedFiles: files }),
  }
}
