import { Readable } from 'node:stream'
import { KsError } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { deleteDocuments } from '../documents/delete.js'
import { beginUpload } from '../documents/upload.js'
import { lookupDocument } from '../rows/documents.js'
import { type CrawledPage, crawledPages, failedPages } from '../rows/source-documents.js'
import type { SourceRow } from '../rows/sources.js'
import { areKept, type Kept, noteKept, readingOf, sha256Of } from './kept.js'
import type { PageFailure, SitePage } from './web/crawl.js'
import { filenameOf } from './web/scope.js'

export type PageOutcome = 'imported' | 'replaced' | 'skipped'

export interface PageImport {
  /**
   * Uploads a page unless it is unchanged since the last crawl. An unchanged page without links to it is not counted.
   */
  take(page: SitePage): Promise<void>
  /** Waits until all is published. Documents that failed are deleted and their previous documents kept. */
  finish(): Promise<{ outcomes: Map<string, PageOutcome>; failures: PageFailure[] }>
}

interface Uploaded {
  url: string
  documentId: string
  jobId: string
  outcome: PageOutcome
}

/**
 * Imports pages as documents. A page's document is named after its address, so that publishing the new one retires the
 * old one in the same transaction. The metadata of documents maps them to pages.
 */
export async function beginImport(
  context: EngineContext,
  caller: Caller,
  place: { spaceId: string; source: SourceRow },
  settled: (jobId: string) => Promise<void>,
): Promise<PageImport> {
  const { db, now } = context
  const isStored = async (sha256: string | undefined, body: Buffer) =>
    // damaged stored bytes are uploaded again, which repairs them
    sha256 === sha256Of(body) && (await areKept(context.objects, caller.tenant, sha256))
  const { spaceId, source } = place
  const reading = readingOf(source)
  await forget(context, caller, spaceId, await db.read(failedPages(source)))
  const before = await db.read(crawledPages(source))
  const outcomes = new Map<string, PageOutcome>()
  const uploads: Uploaded[] = []
  const failures: PageFailure[] = []
  const kept = new Map<string, Kept | undefined>()
  const keep = (documentId: string, { validators, mediaType }: SitePage) => {
    kept.set(documentId, validators === undefined ? undefined : { ...validators, mediaType, at: now(), reading })
  }

  const send = async (page: SitePage): Promise<void> => {
    const { address, mediaType, body, title } = page
    const upload = await beginUpload(context, caller, spaceId, { many: false })
    try {
      const metadata = { sourceUrl: address, ...defined({ title }) }
      const filename = filenameOf(address, mediaType)
      await upload.add({ filename, mimeType: mediaType, content: Readable.from([body]), metadata })
      const [accepted] = await upload.commit({ sourceId: source.id })
      if (accepted === undefined) throw new KsError('internal', 'an upload returned no document')
      const ids = { documentId: accepted.asset.id, jobId: accepted.compilationJob.id }
      uploads.push({ url: address, ...ids, outcome: outcomeOf(before.get(address), ids.documentId) })
      keep(ids.documentId, page)
    } catch (error) {
      await upload.abort()
      // a deleted source or space ends the crawl, and so does a full disk, which no page causes
      if (!(error instanceof KsError) || error.code === 'not-found' || error.code === 'storage-full') throw error
      failures.push({ url: address, error: error.message })
    }
  }
  return {
    async take(page) {
      const known = before.get(page.address)
      const isSame = page.isKept || (await isStored(known?.sha256, page.body))
      if (known === undefined || !isSame) return await send(page)
      if (page.isLinked) outcomes.set(page.address, 'skipped')
      // stored bytes keep their time of receipt
      if (!page.isKept) keep(known.documentAssetId, page)
    },
    async finish() {
      const unread: string[] = []
      for (const { url, documentId, jobId, outcome } of uploads) {
        await settled(jobId)
        const row = await db.read(lookupDocument(caller, source.space_key, documentId))
        // a pending document, as of a full disk, is published later
        if (row !== undefined && row.parser_status !== 'failed') outcomes.set(url, outcome)
        else failures.push({ url, error: row?.error ?? 'its document was deleted meanwhile' })
        if (row?.parser_status === 'failed') unread.push(documentId)
      }
      await forget(context, caller, spaceId, unread)
      await noteKept(db, source, kept)
      return { outcomes, failures }
    },
  }
}

/** Unchanged bytes belong to their existing document. */
function outcomeOf(known: CrawledPage | undefined, documentId: string): PageOutcome {
  if (known === undefined) return 'imported'
  return known.documentAssetId === documentId ? 'skipped' : 'replaced'
}

async function forget(context: EngineContext, caller: Caller, spaceId: string, ids: string[]): Promise<void> {
  if (ids.length > 0) await deleteDocuments(context, caller, spaceId, ids)
}
