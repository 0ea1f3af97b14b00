import type { Source } from '../../../contract/gateway/sources.js'
import { call } from '../../api/client.js'
import { isRecord } from '../../api/session.js'
import { plural } from '../../ui/format.js'
import { contentTypeOf } from './kinds.js'

/** State of a source as the daemon stores it in the source's metadata. */
export interface SyncState {
  lastAt?: string
  nextAt?: string
  startedAt?: string
  error?: string
  counts?: { imported: number; replaced: number; skipped: number; failed: number }
  failures: readonly { what: string; why: string }[]
  policy?: string
}

export function readSyncState({ metadata }: Source): SyncState {
  const state = isRecord(metadata.syncState) ? metadata.syncState : {}
  const sync = isRecord(metadata.sync) ? metadata.sync : undefined
  const failures = Array.isArray(sync?.failures) ? sync.failures.filter(isRecord) : []
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const count = (value: unknown) => (typeof value === 'number' ? value : 0)
  const { imported, replaced, skipped, failed } = sync ?? {}
  const values = {
    lastAt: text(state.lastSyncAt),
    nextAt: text(state.nextSyncAt),
    startedAt: text(state.syncStartedAt),
    error: text(state.lastSyncError),
    policy: formatPolicy(metadata.syncPolicy),
  }
  return {
    ...Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)),
    ...(sync === undefined
      ? {}
      : {
          counts: {
            imported: count(imported),
            replaced: count(replaced),
            skipped: count(skipped),
            failed: count(failed),
          },
        }),
    failures: failures.map(({ url, error }) => ({ what: text(url) ?? '', why: text(error) ?? '' })),
  }
}

export function formatPolicy(policy: unknown): string | undefined {
  if (!isRecord(policy)) return undefined
  if (typeof policy.everyHours === 'number')
    return policy.everyHours === 1 ? 'every hour' : `every ${policy.everyHours} hours`
  if (!Array.isArray(policy.dailyAt)) return undefined
  const offset = typeof policy.utcOffset === 'string' ? policy.utcOffset : ''
  return `daily at ${policy.dailyAt.join(', ')} UTC${offset}`
}

/** Advice on a sync error, found by patterns in the daemon's message; undefined if there is none. */
export function adviceFor(error: string, type: Source['type']): string | undefined {
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

const MAX_BATCH = 200

/**
 * Reads a source now: a site completely; of a drive or online service, what was imported before.
 *
 * @returns summary of the sync
 */
export async function syncNow(source: Source): Promise<string> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const reads = contentTypeOf(source)
  if (reads === 'site') {
    const {
      imported = 0,
      replaced = 0,
      skipped = 0,
      failed = 0,
    } = await call('POST /knowledge-spaces/{id}/sources/{sourceId}/crawl', { path })
    return formatSyncCounts({ imported, replaced, skipped, failed })
  }
  if (reads === 'files') return await importFiles(source, importedFiles(source))
  return await importPages(source, await importedPages(source))
}

type ImportFile = { id: string; name: string; bucket?: string; mimeType?: string }
type ImportPage = { pageId: string; workspaceId: string; type: string; name?: string; lastEditedTime?: string }

export async function importFiles(source: Source, files: readonly ImportFile[]): Promise<string> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const sum = { documents: 0, skipped: 0, failed: 0, reason: '' }
  for (let start = 0; start < files.length; start += MAX_BATCH) {
    const body = { files: files.slice(start, start + MAX_BATCH) }
    addResult(sum, await call('POST /knowledge-spaces/{id}/sources/{sourceId}/import-files', { path, body }))
  }
  return formatTotals(sum)
}

export async function importPages(source: Source, pages: readonly ImportPage[]): Promise<string> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const sum = { documents: 0, skipped: 0, failed: 0, reason: '' }
  for (let start = 0; start < pages.length; start += MAX_BATCH) {
    const body = { pages: pages.slice(start, start + MAX_BATCH) }
    addResult(sum, await call('POST /knowledge-spaces/{id}/sources/{sourceId}/import', { path, body }))
  }
  return formatTotals(sum)
}

function importedFiles({ metadata }: Source): ImportFile[] {
  if (!isRecord(metadata.importedFiles)) return []
  return Object.entries(metadata.importedFiles).flatMap(([id, known]) => {
    if (!isRecord(known) || typeof known.name !== 'string') return []
    const { name, bucket, mimeType } = known
    return {
      id,
      name,
      ...(typeof bucket === 'string' ? { bucket } : {}),
      ...(typeof mimeType === 'string' ? { mimeType } : {}),
    }
  })
}

async function importedPages(source: Source): Promise<ImportPage[]> {
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

type ImportTotals = { documents: number; skipped: number; failed: number; reason: string }
type ImportResult = { documents: unknown[]; skipped: unknown[]; failed: { filename: string; error: string }[] }

function addResult(sum: ImportTotals, { documents, skipped, failed }: ImportResult): void {
  sum.documents += documents.length
  sum.skipped += skipped.length
  sum.failed += failed.length
  const [first] = failed
  if (sum.reason === '' && first !== undefined) sum.reason = `${first.filename}: ${first.error}`
}

function formatTotals({ documents, skipped, failed, reason }: ImportTotals): string {
  if (documents + skipped + failed === 0) return 'Nothing was imported from it yet: choose what to import.'
  const parts = [
    `${plural(documents, 'document')} read`,
    ...(skipped > 0 ? [`${skipped} unchanged`] : []),
    ...(failed > 0 ? [`${failed} failed (${reason})`] : []),
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
