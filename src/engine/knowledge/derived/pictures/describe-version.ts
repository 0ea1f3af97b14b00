import pLimit from 'p-limit'
import { KsError } from '../../../../contract/errors.js'
import type { ModelReference } from '../../../base/model-reference.js'
import {
  assertReindexQuota,
  drawVariant,
  type EngineContext,
  getSpaceAccount,
  isPaged,
  listVariants,
  queueCompilations,
} from '../../../library/index.js'
import { describePicture, type Generator, isContentRejection, toDescriptionKey } from '../../../models/index.js'
import {
  buildItemName,
  hashDrawnPicture,
  isDisplayablePicture,
  MAX_DESCRIPTION_LENGTH,
  readStoredItems,
  type StoredItem,
} from '../../../readers/index.js'
import type { Read, Write } from '../../../store/program.js'
import type { VersionRow } from '../../../store/rows/document-versions.js'
import type { DocumentRow } from '../../../store/rows/documents.js'
import {
  clearPictureWait,
  findPictureDescription,
  findPictureVersion,
  getPictureRounds,
  markPicturesRead,
  type PictureDescription,
  storePictureDescription,
} from '../../../store/rows/pictures.js'
import type { SpaceRow } from '../../../store/rows/spaces.js'
import { loadPackedColumn } from '../../../store/rows/version-parts.js'

/** Maximal number of described pictures per document, counted from its start. */
export const MAX_DESCRIBED_PICTURES = 50
/** Concurrent descriptions per document. */
const MAX_CONCURRENT_DESCRIPTIONS = 2
/** Maximal bytes of a sent picture; pictures of 1024 pixels are smaller, except for noise. */
const MAX_SENT_BYTES = 2 * 1024 * 1024
/** A document is reindexed for its pictures at most this often, whatever the results. */
const MAX_ROUNDS = 3

/** A version with its space and document. */
interface DescribedVersion {
  space: SpaceRow
  row: VersionRow
  document: DocumentRow
}

/** A picture to describe. */
interface PictureCandidate {
  item: StoredItem
  itemId: string
  /** its identifier, see `parse/picture/key.ts` */
  picture: string
}

/**
 * Describes the pictures of a version that were not described yet, stores each description, and queues the document
 * again if there are new ones.
 *
 * @throws KsError of the provider
 */
export async function describeVersion(
  context: EngineContext,
  { space, key }: { space: SpaceRow; key: number },
  reference: ModelReference,
  signal: AbortSignal,
): Promise<void> {
  const { db } = context
  const found = await db.read(loadVersionWithItems(space, key))
  if (found === undefined) return
  const { packed, ...version } = found
  const candidates = await findPictures(packed, version)
  const generator = context.models.generator(reference, getSpaceAccount(context, space))
  const model = toDescriptionKey(reference)
  const limit = pLimit(MAX_CONCURRENT_DESCRIPTIONS)
  const results = await Promise.allSettled(
    candidates.map((candidate) =>
      limit(async () => {
        signal.throwIfAborted()
        return await getDescription(context, version, candidate, { generator, model, signal })
      }),
    ),
  )
  const failed = results.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  const isNew = candidates.some(({ item }, index) => {
    const one = results[index]
    const text = one?.status === 'fulfilled' ? (one.value.said ?? '') : ''
    return text !== '' && item.sourceMetadata.description !== text
  })
  await db.write(() => finishVersion(context, version, model, isNew), { lock: space.key })
  if (isNew) context.wake()
}

function* loadVersionWithItems(
  space: SpaceRow,
  versionKey: number,
): Read<(DescribedVersion & { packed: Uint8Array }) | undefined> {
  const found = yield* findPictureVersion(space.key, versionKey)
  if (found === undefined) return undefined
  return { space, ...found, packed: yield* loadPackedColumn(found.row.key, 'items', found.row.items) }
}

/** Each picture once, however often it occurs. */
async function findPictures(items: Uint8Array, { row, document }: DescribedVersion): Promise<PictureCandidate[]> {
  const paged = isPaged(row)
  const candidates = new Map<string, PictureCandidate>()
  let index = -1
  for await (const item of readStoredItems(items)) {
    index++
    if (candidates.size === MAX_DESCRIBED_PICTURES) break
    if (!isDisplayablePicture(item) || listVariants(item, paged).preview === undefined) continue
    const picture = toPictureKey(item, document)
    if (picture !== undefined && !candidates.has(picture))
      candidates.set(picture, { item, itemId: buildItemName(item, index), picture })
  }
  return [...candidates.values()]
}

function toPictureKey({ asset, pageNumber, boundingBox }: StoredItem, { sha256 }: DocumentRow): string | undefined {
  if (asset !== undefined) return asset.sha256
  return pageNumber === undefined || boundingBox === undefined
    ? undefined
    : hashDrawnPicture(sha256, pageNumber, boundingBox)
}

/** The stored description of a picture, or a new one. */
async function getDescription(
  context: EngineContext,
  version: DescribedVersion,
  candidate: PictureCandidate,
  options: { generator: Generator; model: string; signal: AbortSignal },
): Promise<PictureDescription> {
  const { db, log } = context
  const { space, document } = version
  const { model } = options
  const { item, picture } = candidate
  const scope = { spaceKey: space.key, docKey: document.key }
  const stored = await db.read(findPictureDescription(scope, model, picture))
  if (stored?.isOwn === true) return stored
  const { description, describedBy } = item.sourceMetadata
  // descriptions of an imported bundle exist only in its items
  const imported =
    typeof description === 'string' && describedBy === model ? { said: description, error: null } : stored
  const result = imported ?? (await requestDescription(context, version, candidate, options))
  if (result.error !== null)
    log.warn({ document: document.id, item: candidate.itemId, error: result.error }, 'a picture was not described')
  await db.write(function* () {
    yield* storePictureDescription(scope, model, picture, result)
    if (imported === undefined) yield* clearPictureWait(space.key)
  })
  return result
}

async function requestDescription(
  context: EngineContext,
  version: DescribedVersion,
  { item, itemId }: PictureCandidate,
  { generator, signal }: { generator: Generator; signal: AbortSignal },
): Promise<PictureDescription> {
  const toFailure = (error: string): PictureDescription => ({ said: null, error })
  try {
    const { bytes, contentType: mimeType } = await drawVariant(context, { ...version, item, itemId }, 'preview')
    if (bytes.length > MAX_SENT_BYTES) return toFailure('it is too large')
    const { caption, title: section } = item
    const picture = { bytes, mimeType, ...(caption ? { caption } : {}), ...(section ? { section } : {}) }
    const text = await describePicture(generator, picture, signal)
    return text === ''
      ? toFailure('the model returned no description')
      : { said: text.slice(0, MAX_DESCRIPTION_LENGTH), error: null }
  } catch (error) {
    if (signal.aborted || !(error instanceof KsError)) throw error
    if (isContentRejection(error) || error.code === 'not-found' || error.code === 'asset-too-large')
      return toFailure(error.message)
    throw error
  }
}

/** Marks a version as described, and queues its document again where that is useful. */
function* finishVersion(
  context: EngineContext,
  { space, row, document }: DescribedVersion,
  model: string,
  isNew: boolean,
): Write<void> {
  const rounds = yield* getPictureRounds(document.key, model)
  const needsReindex = isNew && rounds < MAX_ROUNDS
  const scope = { spaceKey: space.key, docKey: document.key, versionKey: row.key }
  yield* markPicturesRead(scope, model, needsReindex ? rounds + 1 : rounds)
  if (!needsReindex) return
  yield* assertReindexQuota(context, space, 1)
  yield* queueCompilations(space, [document])
}
