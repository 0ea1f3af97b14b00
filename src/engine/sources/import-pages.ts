import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { KsError } from '../../contract/errors.js'
import type { Caller } from '../api.js'
import type { EngineContext } from '../context.js'
import { deleteDocuments } from '../documents/delete.js'
import { lookupDocument } from '../documents/store.js'
import { beginUpload } from '../documents/upload.js'
import { crawledPages, failedPages, type SourceRow } from './store.js'
import type { PageFailure, SitePage } from './web/crawl.js'
import { filenameOf } from './web/scope.js'

export type PageOutcome = 'imported' | 'replaced' | 'skipped'

export interface PageImport {
  /** Uploads a page unless it is what the last crawl saw. */
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
  const { db } = context
  const { spaceId, source } = place
  await forget(context, caller, spaceId, failedPages(db, source))
  const before = crawledPages(db, source)
  const outcomes = new Map<string, PageOutcome>()
  const uploads: Uploaded[] = []
  const failures: PageFailure[] = []

  const send = async ({ address, mediaType, body, facts }: SitePage): Promise<void> => {
    const upload = beginUpload(context, caller, spaceId, { many: false })
    try {
      const metadata = { sourceUrl: address, ...(facts.title === undefined ? {} : { title: facts.title }) }
      const filename = filenameOf(address, mediaType)
      await upload.add({ filename, mimeType: mediaType, content: Readable.from([body]), metadata })
      const [accepted] = await upload.commit({ sourceId: source.id })
      if (accepted === undefined) throw new KsError('internal', 'an upload answered without its document')
      const ids = { documentId: accepted.asset.id, jobId: accepted.compilationJob.id }
      uploads.push({ url: address, ...ids, outcome: before.has(address) ? 'replaced' : 'imported' })
    } catch (error) {
      await upload.abort()
      // a source or a space that is gone ends the crawl
      if (!(error instanceof KsError) || error.code === 'not-found') throw error
      failures.push({ url: address, error: error.message })
    }
  }
  return {
    async take(page) {
      if (before.get(page.address)?.sha256 === createHash('sha256').update(page.body).digest('hex'))
        outcomes.set(page.address, 'skipped')
      else await send(page)
    },
    async finish() {
      const unread: string[] = []
      for (const { url, documentId, jobId, outcome } of uploads) {
        await settled(jobId)
        const row = lookupDocument(db, source.space_key, documentId)
        if (row?.parser_status === 'parsed') outcomes.set(url, outcome)
        else failures.push({ url, error: row?.error ?? 'its document was deleted meanwhile' })
        if (row?.parser_status === 'failed') unread.push(documentId)
      }
      await forget(context, caller, spaceId, unread)
      return { outcomes, failures }
    },
  }
}

async function forget(context: EngineContext, caller: Caller, spaceId: string, ids: string[]): Promise<void> {
  if (ids.length > 0) await deleteDocuments(context, caller, spaceId, ids)
}
