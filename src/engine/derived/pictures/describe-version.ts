import pLimit from 'p-limit'
import { KsError } from '../../../contract/errors.js'
import type { ModelReference } from '../../base/model-reference.js'
import { account } from '../../compile/embeddings.js'
import type { EngineContext } from '../../context.js'
import { drawVariant } from '../../documents/item-assets.js'
import { variantsOf } from '../../documents/item-variants.js'
import { isPaged } from '../../documents/published.js'
import { queueAgain } from '../../documents/reindex.js'
import { isRefusal } from '../../models/trouble.js'
import type { Generator } from '../../models/types.js'
import { describePicture, visionKey } from '../../models/vision.js'
import { isSeen } from '../../parse/items.js'
import { MAX_DESCRIPTION } from '../../parse/picture/describe.js'
import { drawnKey } from '../../parse/picture/key.js'
import { storedItems } from '../../parse/read-stored.js'
import { itemName, type StoredItem } from '../../parse/stored.js'
import type { VersionRow } from '../../rows/document-versions.js'
import type { DocumentRow } from '../../rows/documents.js'
import { forgetPictureWait, keepSaid, noteRead, pictured, roundsOf, type Said, saidOf } from '../../rows/pictures.js'
import type { SpaceRow } from '../../rows/spaces.js'
import { packedOf } from '../../rows/version-parts.js'
import { assertRoomForReindex } from '../../spaces/quota.js'
import type { Read, Write } from '../../storage/program.js'

/** Maximal number of described pictures per document, counted from its start. */
export const MAX_DESCRIBED = 50
/** Concurrent descriptions per document. */
const AT_ONCE = 2
/** Maximal bytes of a sent picture; pictures of 1024 pixels are smaller, except for noise. */
const MAX_SENT_BYTES = 2 * 1024 * 1024
/** A document is reindexed for its pictures at most this often, whatever the results. */
const MAX_ROUNDS = 3

/** A version with its space and document. */
interface Version {
  space: SpaceRow
  row: VersionRow
  document: DocumentRow
}

/** A picture to describe. */
interface Candidate {
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
  space: SpaceRow,
  versionKey: number,
  reference: ModelReference,
  signal: AbortSignal,
): Promise<void> {
  const { db } = context
  const found = await db.read(versionWithItems(space, versionKey))
  if (found === undefined) return
  const { packed, ...version } = found
  const candidates = await candidatesIn(packed, version)
  const generator = context.models.generator(reference, account(context, space))
  const model = visionKey(reference)
  const atOnce = pLimit(AT_ONCE)
  const said = await Promise.allSettled(
    candidates.map((candidate) =>
      atOnce(async () => {
        signal.throwIfAborted()
        return await saidOfPicture(context, version, candidate, { generator, model, signal })
      }),
    ),
  )
  const failed = said.find((one) => one.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  const isNew = candidates.some(({ item }, place) => {
    const one = said[place]
    const text = one?.status === 'fulfilled' ? (one.value.said ?? '') : ''
    return text !== '' && item.sourceMetadata.description !== text
  })
  await db.write(() => settle(context, version, model, isNew), { lock: space.key })
  if (isNew) context.wake()
}

function* versionWithItems(space: SpaceRow, versionKey: number): Read<(Version & { packed: Uint8Array }) | undefined> {
  const found = yield* pictured(space.key, versionKey)
  if (found === undefined) return undefined
  return { space, ...found, packed: yield* packedOf(found.row.key, 'items', found.row.items) }
}

/** Each picture once, however often it occurs. */
async function candidatesIn(items: Uint8Array, { row, document }: Version): Promise<Candidate[]> {
  const paged = isPaged(row)
  const candidates = new Map<string, Candidate>()
  let index = -1
  for await (const item of storedItems(items)) {
    index++
    if (candidates.size === MAX_DESCRIBED) break
    if (!isSeen(item) || variantsOf(item, paged).preview === undefined) continue
    const picture = pictureOf(item, document)
    if (picture !== undefined && !candidates.has(picture))
      candidates.set(picture, { item, itemId: itemName(item, index), picture })
  }
  return [...candidates.values()]
}

function pictureOf({ asset, pageNumber, boundingBox }: StoredItem, { sha256 }: DocumentRow): string | undefined {
  if (asset !== undefined) return asset.sha256
  return pageNumber === undefined || boundingBox === undefined ? undefined : drawnKey(sha256, pageNumber, boundingBox)
}

/** The stored description of a picture, or a new one. */
async function saidOfPicture(
  context: EngineContext,
  version: Version,
  candidate: Candidate,
  asked: { generator: Generator; model: string; signal: AbortSignal },
): Promise<Said> {
  const { db, log } = context
  const { space, document } = version
  const { model } = asked
  const { item, picture } = candidate
  const of = { spaceKey: space.key, docKey: document.key }
  const known = await db.read(saidOf(of, model, picture))
  if (known?.isOwn === true) return known
  const { description, describedBy } = item.sourceMetadata
  // descriptions of an imported bundle exist only in its items
  const carried = typeof description === 'string' && describedBy === model ? { said: description, error: null } : known
  const said = carried ?? (await ask(context, version, candidate, asked))
  if (said.error !== null)
    log.warn({ document: document.id, item: candidate.itemId, error: said.error }, 'a picture was not described')
  await db.write(function* () {
    yield* keepSaid(of, model, picture, said)
    if (carried === undefined) yield* forgetPictureWait(space.key)
  })
  return said
}

async function ask(
  context: EngineContext,
  version: Version,
  { item, itemId }: Candidate,
  { generator, signal }: { generator: Generator; signal: AbortSignal },
): Promise<Said> {
  const refused = (error: string): Said => ({ said: null, error })
  try {
    const { bytes, contentType: mimeType } = await drawVariant(context, { ...version, item, itemId }, 'preview')
    if (bytes.length > MAX_SENT_BYTES) return refused('it is too large')
    const { caption, title: section } = item
    const picture = { bytes, mimeType, ...(caption ? { caption } : {}), ...(section ? { section } : {}) }
    const text = await describePicture(generator, picture, signal)
    return text === '' ? refused('the model returned no description') : { said: text.slice(0, MAX_DESCRIPTION), error: null }
  } catch (error) {
    if (signal.aborted || !(error instanceof KsError)) throw error
    if (isRefusal(error) || error.code === 'not-found' || error.code === 'asset-too-large')
      return refused(error.message)
    throw error
  }
}

/** Marks a version as described, and queues its document again where that is useful. */
function* settle(
  context: EngineContext,
  { space, row, document }: Version,
  model: string,
  isNew: boolean,
): Write<void> {
  const rounds = yield* roundsOf(document.key, model)
  const again = isNew && rounds < MAX_ROUNDS
  const of = { spaceKey: space.key, docKey: document.key, versionKey: row.key }
  yield* noteRead(of, model, again ? rounds + 1 : rounds)
  if (!again) return
  yield* assertRoomForReindex(context, space, 1)
  yield* queueAgain(space, [document])
}
