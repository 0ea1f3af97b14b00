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
  /** Uploads a page unless it is what the last crawl saw. One that is so, and that nothing leads to any more, counts as nothing. */
  take(page: SitePage): Promise<void>
  /** Waits until all is published. Of what could not be read nothing stays; the document before it does. */
  finish(): Promise<{ outcomes: Map<string, PageOutcome>; failures: PageFailure[] }>
}

interface Uploaded {
  url: string
  documentId: string
  jobId: string
  outcome: PageOutcome
}

/**
 * Makes documents of pages. A page's document is named after its address, so the normal publication of the new one
 * retires the old one in the same transaction; which page is which document stands in the documents' metadata.
 */
export async function beginImport(
  context: EngineContext,
  caller: Caller,
  place: { spaceId: string; source: SourceRow },
  settled: (jobId: string) => Promise<void>,
): Promise<PageImport> {
  const { db, now } = context
  const isStored = async (sha256: string | undefined, body: Buffer) =>
    // stored bytes that are damaged are sent again, which mends them
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
      if (accepted === undefined) throw new KsError('internal', 'an upload answered without its document')
      const ids = { documentId: accepted.asset.id, jobId: accepted.compilationJob.id }
      uploads.push({ url: address, ...ids, outcome: outcomeOf(before.get(address), ids.documentId) })
      keep(ids.documentId, page)
    } catch (error) {
      await upload.abort()
      // a source or a space that is gone ends the crawl, and so does a full disk, which no page is to blame for
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
      // when kept bytes came is what it was
      if (!page.isKept) keep(known.documentAssetId, page)
    },
    async finish() {
      const unread: string[] = []
      for (const { url, documentId, jobId, outcome } of uploads) {
        await settled(jobId)
        const row = await db.read(lookupDocument(caller, source.space_key, documentId))
        // what waits for a full disk, say, is published when that has passed
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

/** Bytes that came again belong to the document that they belonged to. */
function outcomeOf(known: CrawledPage | undefined, documentId: string): PageOutcome {
  if (known === undefined) return 'imported'
  return known.documentAssetId === documentId ? 'skipped' : 'replaced'
}

async function forget(context: EngineContext, caller: Caller, spaceId: string, ids: string[]): Promise<void> {
  if (ids.length > 0) await deleteDocuments(context, caller, spaceId, ids)
}
