import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import pLimit from 'p-limit'
import { type ErrorCode, KsError } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { deleteDocuments } from '../documents/delete.js'
import { beginUpload } from '../documents/upload.js'
import { EgressFailure } from '../egress/failure.js'
import type { Validators } from '../egress/validators.js'
import { lookupDocument } from '../rows/documents.js'
import { describeImported, type Imported, importedItems, staleItems } from '../rows/source-documents.js'
import type { SourceRow } from '../rows/sources.js'
import { ItemFailure } from './connectors/connector.js'
import { documentName } from './document-name.js'
import { areKept, type Kept, noteKept, readingOf, readKept } from './kept.js'

const ITEMS_AT_ONCE = 3
/** After this many consecutive failures of the location, the remaining items are not requested. */
const FAILURES_IN_A_ROW = 3

/** A page or file to import as a document. */
export interface Item {
  /** identifies it within its source */
  key: string
  /** name until its document has one */
  label: string
  /** whether it is unchanged since it was imported, so that nothing has to be read */
  isUnchanged?: (before: Imported) => boolean
  /**
   * @param kept validators of the bytes that are stored already
   * @throws ItemFailure, EgressFailure, KsError
   */
  read(kept?: Kept): Promise<ItemContent>
}

export interface ItemContent {
  path: string
  isUnique: boolean
  mimeType?: string
  /** undefined: the stored bytes are still valid */
  content: Buffer | Readable | undefined
  validators?: Validators | undefined
  /** of the document; contains what `itemKey` reads */
  metadata: Record<string, unknown>
}

export type ItemOutcome =
  | { kind: 'imported' | 'replaced' | 'same'; documentAssetId: string; filename: string }
  | { kind: 'skipped' }
  | { kind: 'failed'; filename: string; error: string; placeFailed: boolean }

/** The context of an import. */
export interface ImportPlace {
  context: EngineContext
  caller: Caller
  spaceId: string
  source: SourceRow
  /** resolves when a compilation job has ended */
  settled: (jobId: string) => Promise<void>
  signal: AbortSignal
}

interface Uploaded {
  kind: 'uploaded'
  documentAssetId: string
  filename: string
  jobId: string
}

/**
 * Imports items as documents through the normal upload, and waits until they are published. The metadata of documents
 * maps them to items, so that an interrupted import continues when it is requested again.
 *
 * @returns the outcome of each item, in their order
 * @throws EgressFailure when nothing could be read because of the location
 */
export async function importItems(place: ImportPlace, items: readonly Item[]): Promise<ItemOutcome[]> {
  const { context, source, signal } = place
  await forget(place, await context.db.read(staleItems(source)))
  const before = await context.db.read(importedItems(source))
  const limit = pLimit(ITEMS_AT_ONCE)
  let inARow = 0
  const take = async (item: Item): Promise<ItemOutcome | Uploaded> => {
    signal.throwIfAborted()
    const known = before.get(item.key)
    if (known?.isParsed === true && item.isUnchanged?.(known) === true) return { kind: 'skipped' }
    try {
      if (inARow >= FAILURES_IN_A_ROW) throw new EgressFailure('was not tried: the previous items could not be read')
      const taken = await upload(place, item, known)
      inARow = 0
      return taken
    } catch (error) {
      signal.throwIfAborted()
      const placeFailed = error instanceof EgressFailure
      inARow = placeFailed ? inARow + 1 : 0
      return { kind: 'failed', filename: item.label, error: messageOf(error), placeFailed }
    }
  }
  const ended = await Promise.allSettled(items.map((item) => limit(() => take(item))))
  const taken = ended.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
  const outcomes = await finish(place, items, taken, before)
  const failures = outcomes.filter((outcome) => outcome.kind === 'failed')
  const [first] = failures
  if (first !== undefined && failures.length === items.length && failures.every(({ placeFailed }) => placeFailed))
    throw new EgressFailure(first.error)
  return outcomes
}

const ENDING: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['not-found', 'not-configured', 'storage-full'])

/** Rethrows errors that end an import completely. */
function messageOf(error: unknown): string {
  if (error instanceof EgressFailure || error instanceof ItemFailure) return error.message
  if (!(error instanceof KsError) || ENDING.has(error.code)) throw error
  return error.message
}

async function upload(place: ImportPlace, item: Item, known: Imported | undefined): Promise<ItemOutcome | Uploaded> {
  const { context, caller, spaceId, source } = place
  const before = known?.isParsed === true ? readKept(known.validators, readingOf(source), context.now()) : undefined
  const read = await item.read(before)
  const { path, isUnique, mimeType, content, metadata } = read
  const filename = documentName(path, item.key, isUnique)
  if (content === undefined) {
    // under another name it is another document, and damaged bytes are read again
    if (
      known === undefined ||
      known.filename !== filename ||
      !(await areKept(context.objects, source.tenant, known.sha256))
    )
      return upload(place, item, undefined)
    await describe(place, known.documentAssetId, metadata)
    return { kind: 'same', documentAssetId: known.documentAssetId, filename }
  }
  if (known?.isParsed === true && known.filename === filename && Buffer.isBuffer(content)) {
    if (createHash('sha256').update(content).digest('hex') === known.sha256) {
      await describe(place, known.documentAssetId, metadata)
      return { kind: 'same', documentAssetId: known.documentAssetId, filename }
    }
  }
  const receiving = await beginUpload(context, caller, spaceId, { many: false })
  const stream = Buffer.isBuffer(content) ? Readable.from([content]) : content
  try {
    await receiving.add({ filename, ...defined({ mimeType }), content: stream, metadata })
    const [accepted] = await receiving.commit({ sourceId: source.id })
    if (accepted === undefined) throw new KsError('internal', 'an upload returned no document')
    const { asset, compilationJob } = accepted
    // known bytes belong to the existing document
    await describe(place, asset.id, metadata)
    await keep(place, asset.id, read)
    return { kind: 'uploaded', documentAssetId: asset.id, filename: asset.filename, jobId: compilationJob.id }
  } catch (error) {
    await receiving.abort()
    throw error
  } finally {
    stream.destroy()
  }
}

async function describe(
  { context: { db, now }, source }: ImportPlace,
  id: string,
  metadata: Record<string, unknown>,
): Promise<void> {
  await db.write(() => describeImported(source, id, metadata, now()))
}

async function keep(
  { context, source }: ImportPlace,
  id: string,
  { validators, mimeType }: ItemContent,
): Promise<void> {
  const mediaType = mimeType ?? ''
  const kept =
    validators === undefined ? undefined : { ...validators, mediaType, at: context.now(), reading: readingOf(source) }
  await noteKept(context.db, source, new Map([[id, kept]]))
}

/**
 * Waits for publication. Documents that failed are deleted and their previous documents kept; those replaced under
 * another name are deleted.
 */
async function finish(
  place: ImportPlace,
  items: readonly Item[],
  taken: readonly (ItemOutcome | Uploaded)[],
  before: ReadonlyMap<string, Imported>,
): Promise<ItemOutcome[]> {
  const { context, caller, source, settled } = place
  const outcomes: ItemOutcome[] = []
  for (const [index, one] of taken.entries()) {
    if (one.kind !== 'uploaded') {
      outcomes.push(one)
      continue
    }
    const { documentAssetId, filename, jobId } = one
    const known = before.get(items[index]?.key ?? '')
    await settled(jobId)
    const row = await context.db.read(lookupDocument(caller, source.space_key, documentAssetId))
    // a pending document, as of a full disk, is published later
    if (row === undefined || row.parser_status === 'failed') {
      const error = row?.error ?? 'its document was deleted meanwhile'
      outcomes.push({ kind: 'failed', filename, error, placeFailed: false })
      continue
    }
    const isSame = known?.documentAssetId === documentAssetId
    outcomes.push({ kind: known === undefined ? 'imported' : isSame ? 'same' : 'replaced', documentAssetId, filename })
  }
  await forget(place, await context.db.read(staleItems(source)))
  return outcomes
}

async function forget({ context, caller, spaceId }: ImportPlace, ids: string[]): Promise<void> {
  if (ids.length > 0) await deleteDocuments(context, caller, spaceId, ids)
}
