import { Readable } from 'node:stream'
import { KsError } from '../../../contract/errors.js'
import type { DocumentAsset } from '../../../contract/gateway/documents.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { beginUpload, type EngineContext } from '../../library/index.js'
import { lookupDocument } from '../../store/rows/documents.js'
import type { SourceRow } from '../../store/rows/sources.js'
import { type CrawledPage, listCrawledPages, listFailedPages } from '../rows/source-documents.js'
import { deleteIfAny } from './delete.js'
import {
  hashReadSettings,
  hashSha256,
  hasIntactBytes,
  type StoredValidators,
  storeValidators,
} from './stored-validators.js'
import type { CrawledSitePage, PageFailure } from './web/crawl.js'
import { toFilename } from './web/scope.js'

export type PageOutcome = 'imported' | 'replaced' | 'skipped'

export interface PageImport {
  /**
   * Uploads a page unless it is unchanged since the last crawl. An unchanged page without links to it is not counted.
   */
  take(page: CrawledSitePage): Promise<void>
  /** Waits until all is published. New documents that failed are deleted; others keep their published file. */
  finish(): Promise<{ outcomes: Map<string, PageOutcome>; failures: PageFailure[] }>
}

interface UploadedPage {
  url: string
  documentId: string
  jobId: string
  outcome: PageOutcome
}

/**
 * Imports pages as documents. A page's document is named after its address, so that a changed page is the next file of
 * its document. The metadata of documents maps them to pages.
 */
export async function startPageImport(
  context: EngineContext,
  caller: Caller,
  target: { spaceId: string; source: SourceRow },
  settled: (jobId: string) => Promise<void>,
): Promise<PageImport> {
  const { db, now } = context
  const isStored = async (sha256: string, body: Buffer) =>
    // damaged stored bytes are uploaded again, which repairs them
    sha256 === hashSha256(body) && (await hasIntactBytes(context.objects, caller.tenant, sha256))
  const { spaceId, source } = target
  const reading = hashReadSettings(source)
  await deleteIfAny(context, caller, spaceId, await db.read(listFailedPages(source)))
  const previousPages = await db.read(listCrawledPages(source))
  const outcomes = new Map<string, PageOutcome>()
  const uploads: UploadedPage[] = []
  const failures: PageFailure[] = []
  const validatorsById = new Map<string, StoredValidators | undefined>()
  const rememberValidators = (documentId: string, { validators, mediaType, charset }: CrawledSitePage) => {
    validatorsById.set(
      documentId,
      validators === undefined
        ? undefined
        : { ...validators, mediaType, ...omitUndefined({ charset }), at: now(), reading },
    )
  }

  const uploadPage = async (page: CrawledSitePage): Promise<void> => {
    const { address, mediaType, charset, body, title } = page
    const upload = await beginUpload(context, caller, spaceId, { many: false })
    try {
      const metadata = { sourceUrl: address, ...omitUndefined({ title, charset }) }
      const filename = toFilename(address, mediaType)
      await upload.add({ filename, mimeType: mediaType, content: Readable.from([body]), metadata })
      const [accepted] = await upload.commit({ sourceId: source.id })
      if (accepted === undefined) throw new KsError('internal', 'an upload returned no document')
      const ids = { documentId: accepted.asset.id, jobId: accepted.compilationJob.id }
      const outcome = toPageOutcome(previousPages.get(address), accepted.asset)
      uploads.push({ url: address, ...ids, outcome })
      rememberValidators(ids.documentId, page)
    } catch (error) {
      await upload.abort()
      // a deleted source or space ends the crawl, and so does a full disk, which no page causes
      if (!(error instanceof KsError) || error.code === 'not-found' || error.code === 'storage-full') throw error
      failures.push({ url: address, error: error.message })
    }
  }
  return {
    async take(page) {
      const previous = previousPages.get(page.address)
      // published bytes replace a newer file that could not be read, together with its error
      if (previous === undefined || previous.hasNextFile) return await uploadPage(page)
      const isSame = page.isUnchanged || (await isStored(previous.sha256, page.body))
      if (!isSame) return await uploadPage(page)
      if (page.isLinked) outcomes.set(page.address, 'skipped')
      // stored bytes keep their time of receipt
      if (!page.isUnchanged) rememberValidators(previous.documentAssetId, page)
    },
    async finish() {
      const failedIds: string[] = []
      for (const { url, documentId, jobId, outcome } of uploads) {
        await settled(jobId)
        const row = await db.read(lookupDocument(caller, source.space_key, documentId))
        // a pending document, as of a full disk, is published later
        const error = row === undefined ? 'its document was deleted meanwhile' : row.error
        if (error === null) outcomes.set(url, outcome)
        else failures.push({ url, error })
        if (row?.parser_status === 'failed') failedIds.push(documentId)
      }
      await deleteIfAny(context, caller, spaceId, failedIds)
      await storeValidators(db, source, validatorsById)
      return { outcomes, failures }
    },
  }
}

/** Unchanged bytes belong to their existing document. */
function toPageOutcome(previous: CrawledPage | undefined, asset: DocumentAsset): PageOutcome {
  if (previous === undefined) return 'imported'
  return previous.documentAssetId === asset.id && previous.sha256 === asset.sha256 ? 'skipped' : 'replaced'
}
