import type { Source } from '../../../contract/gateway/sources.js'
import { call } from '../../api/client.js'
import { isRecord } from '../../api/session.js'
import { plural } from '../../ui/format.js'
import { getContentType } from './kinds.js'

/** State of a source as the daemon stores it in the source's metadata. */
export interface SyncState {
  lastAt?: string
  nextAt?: string
  error?: string
  counts?: { imported: number; replaced: number; skipped: number; failed: number }
  /** pages and files that the last sync could not read */
  failures: readonly { url: string; reason: string }[]
  /** `every 6 hours` */
  schedule?: string
}

export function readSyncState({ metadata }: Source): SyncState {
  const state = isRecord(metadata.syncState) ? metadata.syncState : {}
  const sync = isRecord(metadata.sync) ? metadata.sync : undefined
  const failures = Array.isArray(sync?.failures) ? sync.failures.filter(isRecord) : []
  const toText = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const toCount = (value: unknown) => (typeof value === 'number' ? value : 0)
  const texts = {
    lastAt: toText(state.lastSyncAt),
    nextAt: toText(state.nextSyncAt),
    error: toText(state.lastSyncError),
    schedule: formatPolicy(metadata.syncPolicy),
  }
  const counts = sync && {
    imported: toCount(sync.imported),
    replaced: toCount(sync.replaced),
    skipped: toCount(sync.skipped),
    failed: toCount(sync.failed),
  }
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined)),
    ...(counts === undefined ? {} : { counts }),
    failures: failures.map(({ url, error }) => ({ url: toText(url) ?? '', reason: toText(error) ?? '' })),
  }
}

/** `daily at 02:00 UTC+02:00`; undefined without a schedule */
function formatPolicy(policy: unknown): string | undefined {
  if (!isRecord(policy)) return undefined
  if (typeof policy.everyHours === 'number')
    return policy.everyHours === 1 ? 'every hour' : `every ${policy.everyHours} hours`
  if (!Array.isArray(policy.dailyAt)) return undefined
  const offset = typeof policy.utcOffset === 'string' ? policy.utcOffset : ''
  return `daily at ${policy.dailyAt.join(', ')} UTC${offset}`
}

/** Finds advice on a sync error by patterns in the daemon's message. */
export function findAdvice(error: string, type: Source['type']): string | undefined {
  if (/credentials|answered 40[13]/.test(error)) return 'Edit the source and enter credentials that the server accepts.'
  if (/robots\.txt does not allow/.test(error))
    return 'The site forbids crawling. Ask its operator, or add another address.'
  if (/answered 404|answered 410/.test(error))
    return 'Nothing exists at this address. Add the source again with the right one.'
  if (/public internet|not allowed|egress|private|loopback/i.test(error))
    return 'The operator can allow addresses of the local network with the setting egressAllow.'
  if (/TLS/.test(error)) return 'This machine does not trust the certificate of the server.'
  if (/no answer|connection|resolve|reach/i.test(error))
    return 'The server may be down. The next sync retries; Test checks the connection.'
  if (/uri is no http/.test(error)) return 'Add the source again with an http or https address.'
  return type === 'web' ? 'Test checks whether the site can be reached.' : undefined
}

/** Maximum number of files or pages of an import request. */
const MAX_BATCH = 200

/**
 * Reads a source now: a site completely; of a drive or online service, what was imported before.
 *
 * @returns summary of the sync
 */
export async function syncNow(source: Source): Promise<string> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const contentType = getContentType(source)
  if (contentType === 'site') {
    const {
      imported = 0,
      replaced = 0,
      skipped = 0,
      failed = 0,
    } = await call('POST /knowledge-spaces/{id}/sources/{sourceId}/crawl', { path })
    return formatSyncCounts({ imported, replaced, skipped, failed })
  }
  if (contentType === 'files') return await importFiles(source, listImportedFiles(source))
  return await importPages(source, await listImportedPages(source))
}

type ImportFile = { id: string; name: string; bucket?: string; mimeType?: string }
type ImportPage = { pageId: string; workspaceId: string; type: string; name?: string; lastEditedTime?: string }

/** Imports files of a drive. @returns summary of the import */
export async function importFiles(source: Source, files: readonly ImportFile[]): Promise<string> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  return await importBatches(files, (batch) =>
    call('POST /knowledge-spaces/{id}/sources/{sourceId}/import-files', { path, body: { files: batch } }),
  )
}

/** Imports pages of an online service. @returns summary of the import */
export async function importPages(source: Source, pages: readonly ImportPage[]): Promise<string> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  return await importBatches(pages, (batch) =>
    call('POST /knowledge-spaces/{id}/sources/{sourceId}/import', { path, body: { pages: batch } }),
  )
}

function listImportedFiles({ metadata }: Source): ImportFile[] {
  if (!isRecord(metadata.importedFiles)) return []
  return Object.entries(metadata.importedFiles).flatMap(([id, file]) => {
    if (!isRecord(file) || typeof file.name !== 'string') return []
    const { name, bucket, mimeType } = file
    return {
      id,
      name,
      ...(typeof bucket === 'string' ? { bucket } : {}),
      ...(typeof mimeType === 'string' ? { mimeType } : {}),
    }
  })
}

async function listImportedPages(source: Source): Promise<ImportPage[]> {
  const imported = isRecord(source.metadata.imported) ? source.metadata.imported : {}
  if (Object.keys(imported).length === 0) return []
  return (await listPages(source)).filter(({ pageId }) => Object.hasOwn(imported, pageId))
}

export async function listPages(source: Source): Promise<(ImportPage & { name: string })[]> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const { workspaces } = await call('GET /knowledge-spaces/{id}/sources/{sourceId}/pages', { path })
  return workspaces.flatMap(({ workspaceId = '', pages }) =>
    pages.map(({ pageId, pageName, type, lastEditedTime }) => ({
      pageId,
      workspaceId,
      type,
      name: pageName,
      ...(lastEditedTime === undefined ? {} : { lastEditedTime }),
    })),
  )
}

type ImportResult = { documents: unknown[]; skipped: unknown[]; failed: { filename: string; error: string }[] }

/** @returns `2 documents read, 1 unchanged, 1 failed (a.pdf: the file is empty)`, with the first failure */
async function importBatches<T>(
  items: readonly T[],
  importBatch: (batch: T[]) => Promise<ImportResult>,
): Promise<string> {
  const results: ImportResult[] = []
  for (let start = 0; start < items.length; start += MAX_BATCH)
    results.push(await importBatch(items.slice(start, start + MAX_BATCH)))
  const failed = results.flatMap((result) => result.failed)
  const skippedCount = results.flatMap(({ skipped }) => skipped).length
  const documentCount = results.flatMap(({ documents }) => documents).length
  if (documentCount + skippedCount + failed.length === 0)
    return 'Nothing was imported from it yet: choose what to import.'
  const parts = [
    `${plural(documentCount, 'document')} read`,
    ...(skippedCount > 0 ? [`${skippedCount} unchanged`] : []),
    ...(failed[0] === undefined ? [] : [`${failed.length} failed (${failed[0].filename}: ${failed[0].error})`]),
  ]
  return parts.join(', ')
}

/** `2 new, 1 changed, 40 unchanged` */
export function formatSyncCounts({ imported, replaced, skipped, failed }: NonNullable<SyncState['counts']>): string {
  const parts = [
    ...(imported > 0 ? [`${imported} new`] : []),
    ...(replaced > 0 ? [`${replaced} changed`] : []),
    ...(skipped > 0 ? [`${skipped} unchanged`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ]
  return parts.length === 0 ? 'nothing changed' : parts.join(', ')
}
