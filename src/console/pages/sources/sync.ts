import type { Source } from '../../../contract/gateway/sources.js'
import { call } from '../../api/client.js'
import { isRecord } from '../../api/session.js'
import { plural } from '../../ui/format.js'
import { readsOf } from './kinds.js'

/** State of a source as the daemon stores it in the source's metadata. */
export interface SyncFacts {
  lastAt?: string
  nextAt?: string
  startedAt?: string
  error?: string
  counts?: { imported: number; replaced: number; skipped: number; failed: number }
  failures: readonly { what: string; why: string }[]
  policy?: string
}

export function factsOf({ metadata }: Source): SyncFacts {
  const state = isRecord(metadata.syncState) ? metadata.syncState : {}
  const sync = isRecord(metadata.sync) ? metadata.sync : undefined
  const failures = Array.isArray(sync?.failures) ? sync.failures.filter(isRecord) : []
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const count = (value: unknown) => (typeof value === 'number' ? value : 0)
  const { imported, replaced, skipped, failed } = sync ?? {}
  const found = {
    lastAt: text(state.lastSyncAt),
    nextAt: text(state.nextSyncAt),
    startedAt: text(state.syncStartedAt),
    error: text(state.lastSyncError),
    policy: policyOf(metadata.syncPolicy),
  }
  return {
    ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)),
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

export function policyOf(policy: unknown): string | undefined {
  if (!isRecord(policy)) return undefined
  if (typeof policy.everyHours === 'number')
    return policy.everyHours === 1 ? 'every hour' : `every ${policy.everyHours} hours`
  if (!Array.isArray(policy.dailyAt)) return undefined
  const offset = typeof policy.utcOffset === 'string' ? policy.utcOffset : ''
  return `daily at ${policy.dailyAt.join(', ')} UTC${offset}`
}

/** Advice on a sync error, found by patterns in the daemon's message; undefined if there is none. */
export function adviceOn(error: string, type: Source['type']): string | undefined {
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

const BATCH = 200

/**
 * Reads a source now: a site completely; of a drive or online service, what was imported before.
 *
 * @returns summary of the sync
 */
export async function syncNow(source: Source): Promise<string> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const reads = readsOf(source)
  if (reads === 'site') {
    const {
      imported = 0,
      replaced = 0,
      skipped = 0,
      failed = 0,
    } = await call('POST /knowledge-spaces/{id}/sources/{sourceId}/crawl', { path })
    return outcome({ imported, replaced, skipped, failed })
  }
  if (reads === 'files') return await importFiles(source, importedFiles(source))
  return await importPages(source, await importedPages(source))
}

type FileAsked = { id: string; name: string; bucket?: string; mimeType?: string }
type PageAsked = { pageId: string; workspaceId: string; type: string; name?: string; lastEditedTime?: string }

export async function importFiles(source: Source, files: readonly FileAsked[]): Promise<string> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const sum = { documents: 0, skipped: 0, failed: 0, why: '' }
  for (let at = 0; at < files.length; at += BATCH) {
    const body = { files: files.slice(at, at + BATCH) }
    add(sum, await call('POST /knowledge-spaces/{id}/sources/{sourceId}/import-files', { path, body }))
  }
  return said(sum)
}

export async function importPages(source: Source, pages: readonly PageAsked[]): Promise<string> {
  const path = { id: source.knowledgeSpaceId, sourceId: source.id }
  const sum = { documents: 0, skipped: 0, failed: 0, why: '' }
  for (let at = 0; at < pages.length; at += BATCH) {
    const body = { pages: pages.slice(at, at + BATCH) }
    add(sum, await call('POST /knowledge-spaces/{id}/sources/{sourceId}/import', { path, body }))
  }
  return said(sum)
}

function importedFiles({ metadata }: Source): FileAsked[] {
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

async function importedPages(source: Source): Promise<PageAsked[]> {
  const imported = isRecord(source.metadata.imported) ? source.metadata.imported : {}
  if (Object.keys(imported).length === 0) return []
  return (await listPages(source)).filter(({ pageId }) => Object.hasOwn(imported, pageId))
}

export async function listPages(source: Source): Promise<(PageAsked & { name: string })[]> {
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

type Sum = { documents: number; skipped: number; failed: number; why: string }
type Result = { documents: unknown[]; skipped: unknown[]; failed: { filename: string; error: string }[] }

function add(sum: Sum, { documents, skipped, failed }: Result): void {
  sum.documents += documents.length
  sum.skipped += skipped.length
  sum.failed += failed.length
  const [first] = failed
  if (sum.why === '' && first !== undefined) sum.why = `${first.filename}: ${first.error}`
}

function said({ documents, skipped, failed, why }: Sum): string {
  if (documents + skipped + failed === 0) return 'Nothing was imported from it yet: choose what to import.'
  const parts = [
    `${plural(documents, 'document')} read`,
    ...(skipped > 0 ? [`${skipped} unchanged`] : []),
    ...(failed > 0 ? [`${failed} failed (${why})`] : []),
  ]
  return parts.join(', ')
}

/** `2 new, 1 changed, 40 unchanged` */
export function outcome({ imported, replaced, skipped, failed }: NonNullable<SyncFacts['counts']>): string {
  const parts = [
    ...(imported > 0 ? [`${imported} new`] : []),
    ...(replaced > 0 ? [`${replaced} changed`] : []),
    ...(skipped > 0 ? [`${skipped} unchanged`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ]
  return parts.length === 0 ? 'nothing changed' : parts.join(', ')
}
