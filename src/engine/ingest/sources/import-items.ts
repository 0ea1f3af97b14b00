import { Readable } from 'node:stream'
import pLimit from 'p-limit'
import { type ErrorCode, KsError } from '../../../contract/errors.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import { beginUpload, type EngineContext } from '../../library/index.js'
import { EgressFailure, type Validators } from '../../models/index.js'
import { lookupDocument } from '../../store/rows/documents.js'
import type { SourceRow } from '../../store/rows/sources.js'
import {
  type ImportedItem,
  listImportedItems,
  listStaleItems,
  updateImportedMetadata,
} from '../rows/source-documents.js'
import { ItemFailure } from './connectors/connector.js'
import { deleteIfAny } from './delete.js'
import { createDocumentName } from './document-name.js'
import {
  hashReadSettings,
  hashSha256,
  hasIntactBytes,
  parseStoredValidators,
  type StoredValidators,
  storeValidators,
} from './stored-validators.js'

const MAX_CONCURRENT_ITEMS = 3
/** After this many consecutive failures of the location, the remaining items are not requested. */
const MAX_CONSECUTIVE_FAILURES = 3

/** A page or file to import as a document. */
export interface ImportItem {
  /** identifies it within its source */
  key: string
  /** name until its document has one */
  label: string
  /** whether it is unchanged since it was imported, so that nothing has to be read */
  isUnchanged?: (before: ImportedItem) => boolean
  /**
   * @param kept validators of the bytes that are stored already
   * @throws ItemFailure, EgressFailure, KsError
   */
  read(kept?: StoredValidators): Promise<ImportItemContent>
}

export interface ImportItemContent {
  path: string
  isUnique: boolean
  mimeType?: string
  /** undefined: the stored bytes are still valid */
  content: Buffer | Readable | undefined
  validators?: Validators | undefined
  /** of the document; contains what `toItemKey` reads */
  metadata: Record<string, unknown>
}

export type ImportItemOutcome =
  | { kind: 'imported' | 'replaced' | 'same'; documentAssetId: string; filename: string }
  | { kind: 'skipped' }
  | { kind: 'failed'; filename: string; error: string; locationFailed: boolean }

/** The context of an import. */
export interface ImportContext {
  context: EngineContext
  caller: Caller
  spaceId: string
  source: SourceRow
  /** resolves when a compilation job has ended */
  settled: (jobId: string) => Promise<void>
  signal: AbortSignal
}

interface UploadedItem {
  kind: 'uploaded'
  documentAssetId: string
  filename: string
  sha256: string
  jobId: string
  received: Pick<ImportItemContent, 'validators' | 'mimeType'>
}

/**
 * Imports items as documents through the normal upload, and waits until they are published. The metadata of documents
 * maps them to items, so that an interrupted import continues when it is requested again.
 *
 * @returns the outcome of each item, in their order
 * @throws EgressFailure when nothing could be read because of the location
 */
export async function importItems(
  importContext: ImportContext,
  items: readonly ImportItem[],
): Promise<ImportItemOutcome[]> {
  const { context, caller, spaceId, source, signal } = importContext
  await deleteIfAny(context, caller, spaceId, await context.db.read(listStaleItems(source)))
  const before = await context.db.read(listImportedItems(source))
  const limit = pLimit(MAX_CONCURRENT_ITEMS)
  let consecutiveFailures = 0
  const importItem = async (item: ImportItem): Promise<ImportItemOutcome | UploadedItem> => {
    signal.throwIfAborted()
    const previous = before.get(item.key)
    if (previous !== undefined && isCurrent(previous) && item.isUnchanged?.(previous) === true)
      return { kind: 'skipped' }
    try {
      if (consecutiveFailures >= MAX_CONSECUTIVE_FAILURES)
        throw new EgressFailure('was not tried: the previous items could not be read')
      const results = await uploadItem(importContext, item, previous)
      consecutiveFailures = 0
      return results
    } catch (error) {
      signal.throwIfAborted()
      const locationFailed = error instanceof EgressFailure
      consecutiveFailures = locationFailed ? consecutiveFailures + 1 : 0
      return { kind: 'failed', filename: item.label, error: toFailureMessage(error), locationFailed }
    }
  }
  const settledItems = await Promise.allSettled(items.map((item) => limit(() => importItem(item))))
  const results = settledItems.map((settledItem) => {
    if (settledItem.status === 'rejected') throw settledItem.reason
    return settledItem.value
  })
  const outcomes = await awaitPublications(importContext, items, results, before)
  const failures = outcomes.filter((outcome) => outcome.kind === 'failed')
  const [first] = failures
  if (first !== undefined && failures.length === items.length && failures.every(({ locationFailed }) => locationFailed))
    throw new EgressFailure(first.error)
  return outcomes
}

const FATAL_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['not-found', 'not-configured', 'storage-full'])

/** Rethrows errors that end an import completely. */
function toFailureMessage(error: unknown): string {
  if (error instanceof EgressFailure || error instanceof ItemFailure) return error.message
  if (!(error instanceof KsError) || FATAL_CODES.has(error.code)) throw error
  return error.message
}

/**
 * Whether the published file is the newest one of a document. If not, even published bytes are uploaded again: they
 * replace a newer file that could not be read, together with its error.
 */
function isCurrent({ isParsed, hasNextFile }: ImportedItem): boolean {
  return isParsed && !hasNextFile
}

async function uploadItem(
  importContext: ImportContext,
  item: ImportItem,
  previous: ImportedItem | undefined,
): Promise<ImportItemOutcome | UploadedItem> {
  const { context, caller, spaceId, source } = importContext
  const before =
    previous !== undefined && isCurrent(previous)
      ? parseStoredValidators(previous.validators, hashReadSettings(source), context.now())
      : undefined
  const read = await item.read(before)
  const { path, isUnique, mimeType, content, metadata } = read
  const filename = createDocumentName(path, item.key, isUnique)
  if (content === undefined) {
    // under another name it is another document, and damaged bytes are read again
    if (
      previous === undefined ||
      previous.filename !== filename ||
      !(await hasIntactBytes(context.objects, source.tenant, previous.sha256))
    )
      return uploadItem(importContext, item, undefined)
    await updateMetadata(importContext, previous.documentAssetId, metadata)
    return { kind: 'same', documentAssetId: previous.documentAssetId, filename }
  }
  if (previous !== undefined && isCurrent(previous) && previous.filename === filename && Buffer.isBuffer(content)) {
    if (hashSha256(content) === previous.sha256) {
      await updateMetadata(importContext, previous.documentAssetId, metadata)
      return { kind: 'same', documentAssetId: previous.documentAssetId, filename }
    }
  }
  const receiving = await beginUpload(context, caller, spaceId, { many: false })
  const stream = Buffer.isBuffer(content) ? Readable.from([content]) : content
  try {
    await receiving.add({ filename, ...omitUndefined({ mimeType }), content: stream, metadata })
    const [accepted] = await receiving.commit({ sourceId: source.id })
    if (accepted === undefined) throw new KsError('internal', 'an upload returned no document')
    const { asset, compilationJob } = accepted
    // known bytes belong to the existing document
    await updateMetadata(importContext, asset.id, metadata)
    const { id: documentAssetId, sha256 } = asset
    const received = { validators: read.validators, ...omitUndefined({ mimeType }) }
    return { kind: 'uploaded', documentAssetId, filename: asset.filename, sha256, jobId: compilationJob.id, received }
  } catch (error) {
    await receiving.abort()
    throw error
  } finally {
    stream.destroy()
  }
}

async function updateMetadata(
  { context: { db, now }, source }: ImportContext,
  id: string,
  metadata: Record<string, unknown>,
): Promise<void> {
  await db.write(() => updateImportedMetadata(source, id, metadata, now()))
}

async function storeItemValidators(
  { context, source }: ImportContext,
  id: string,
  { validators, mimeType }: Pick<ImportItemContent, 'validators' | 'mimeType'>,
): Promise<void> {
  const mediaType = mimeType ?? ''
  const kept =
    validators === undefined
      ? undefined
      : { ...validators, mediaType, at: context.now(), reading: hashReadSettings(source) }
  await storeValidators(context.db, source, new Map([[id, kept]]))
}

/**
 * Waits for publication. New documents that failed are deleted, others keep their published file; those replaced under
 * another name are deleted.
 */
async function awaitPublications(
  importContext: ImportContext,
  items: readonly ImportItem[],
  results: readonly (ImportItemOutcome | UploadedItem)[],
  before: ReadonlyMap<string, ImportedItem>,
): Promise<ImportItemOutcome[]> {
  const { context, caller, spaceId, source, settled } = importContext
  const outcomes: ImportItemOutcome[] = []
  for (const [index, result] of results.entries()) {
    if (result.kind !== 'uploaded') {
      outcomes.push(result)
      continue
    }
    const { documentAssetId, filename, sha256, jobId, received } = result
    const previous = before.get(items[index]?.key ?? '')
    await settled(jobId)
    const row = await context.db.read(lookupDocument(caller, source.space_key, documentAssetId))
    // a pending document, as of a full disk, is published later
    const error = row === undefined ? 'its document was deleted meanwhile' : row.error
    if (error !== null) {
      outcomes.push({ kind: 'failed', filename, error, locationFailed: false })
      continue
    }
    await storeItemValidators(importContext, documentAssetId, received)
    const isSame = previous?.documentAssetId === documentAssetId && previous.sha256 === sha256
    outcomes.push({
      kind: previous === undefined ? 'imported' : isSame ? 'same' : 'replaced',
      documentAssetId,
      filename,
    })
  }
  await deleteIfAny(context, caller, spaceId, await context.db.read(listStaleItems(source)))
  return outcomes
}
