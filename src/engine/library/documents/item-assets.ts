import { LRUCache } from 'lru-cache'
import { KsError, notFoundError } from '../../../contract/errors.js'
import { LIMITS } from '../../../contract/limits.js'
import type { Caller } from '../../base/caller.js'
import {
  buildItemName,
  isTableFormat,
  type PreviewImage,
  readStoredItems,
  type StoredItem,
} from '../../readers/index.js'
import { damagedObjectError, matchesHash } from '../../store/durable-files.js'
import { findItemAsset, type VersionRow } from '../../store/rows/document-versions.js'
import type { DocumentRow } from '../../store/rows/documents.js'
import type { EngineContext } from '../context.js'
import { getItemMarks, parseMarksRange } from './item-marks.js'
import { FINEST_SIDE, listVariants, PAGE_SIDE, PREVIEW_SIDES } from './item-variants.js'
import { isPaged, loadArtifact, loadPublishedItems } from './published.js'
import { buildTableAsset } from './table-asset.js'

export interface ItemAsset {
  bytes: Uint8Array
  contentType: string
}

export interface ItemAssetRequest {
  documentId: string
  itemId: string
  variant?: string | undefined
}

/** An item with its document and version. */
interface LocatedItem {
  document: DocumentRow
  row: VersionRow
  item: StoredItem
  itemId: string
}

/** Size of the cache of drawings: a recent drawing is often requested again. */
const MAX_CACHED_BYTES = 16 * 1024 * 1024
const drawingCaches = new WeakMap<EngineContext, LRUCache<string, PreviewImage>>()

/** @throws KsError `asset-external` for a picture that is only linked, `asset-too-large` */
export async function getItemAsset(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  { documentId, itemId, variant = 'original' }: ItemAssetRequest,
): Promise<ItemAsset> {
  const { document, row, packed } = await context.db.read(loadPublishedItems(caller, spaceId, documentId))
  const item = await findItem(packed, itemId)
  const located = { document, row, item, itemId }
  const range = parseMarksRange(variant)
  if (range !== undefined) return getItemMarks(context, caller, spaceId, { ...located, range })
  if (variant !== 'original') {
    if (!Object.hasOwn(listVariants(item, isPaged(row)), variant)) throw notFoundError('variant', variant)
    if (item.modality === 'table' && isTableFormat(variant)) {
      const packedArtifact = await context.db.read(loadArtifact(caller, spaceId, documentId, row))
      return buildTableAsset(packedArtifact, item.parseElementId, variant)
    }
    return drawVariant(context, located, variant)
  }
  if (item.externalUri !== undefined)
    throw new KsError('asset-external', `item ${itemId} is an external picture and is not stored here`)
  if (item.drawn === true) return drawOnPage(context, located, { maxSide: FINEST_SIDE, as: 'image/png' })
  return loadStoredAsset(context, located)
}

/** @throws KsError `not-found` */
async function findItem(packed: Uint8Array, itemId: string): Promise<StoredItem> {
  let index = 0
  for await (const item of readStoredItems(packed)) if (buildItemName(item, index++) === itemId) return item
  throw notFoundError('item', itemId)
}

/** The stored bytes of an item. */
export async function loadStoredAsset(
  { db }: Pick<EngineContext, 'db'>,
  { row, item, itemId }: Omit<LocatedItem, 'document'>,
) {
  if (item.asset === undefined) throw notFoundError('asset of item', itemId)
  if (item.asset.size > LIMITS.assetBytes)
    throw new KsError(
      'asset-too-large',
      `item ${itemId} is ${item.asset.size} bytes, the limit is ${LIMITS.assetBytes}`,
    )
  const stored = await db.read(findItemAsset(row.key, itemId))
  if (stored === undefined) throw notFoundError('asset of item', itemId)
  if (!(await matchesHash(Uint8Array.from(stored.bytes), item.asset.sha256))) throw damagedObjectError()
  return { bytes: stored.bytes, contentType: stored.content_type }
}

/** A variant from `listVariants`; drawn again, unless it is cached. */
export async function drawVariant(
  context: EngineContext,
  located: LocatedItem,
  variant: string,
): Promise<PreviewImage> {
  const cache =
    drawingCaches.get(context) ??
    new LRUCache<string, PreviewImage>({ maxSize: MAX_CACHED_BYTES, sizeCalculation: getCachedSize })
  drawingCaches.set(context, cache)
  const key = JSON.stringify([located.row.key, located.row.artifact_id, located.itemId, variant])
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  const drawn = await draw(context, located, variant)
  cache.set(key, drawn)
  return drawn
}

async function draw(context: EngineContext, located: LocatedItem, variant: string): Promise<PreviewImage> {
  if (variant === 'page') {
    const { boundingBox: _, ...page } = located.item
    return drawOnPage(context, { ...located, item: page }, { maxSide: PAGE_SIDE, as: 'image/jpeg' })
  }
  const maxSide = variant === 'thumbnail' ? PREVIEW_SIDES.thumbnail : PREVIEW_SIDES.preview
  if (located.item.drawn === true) return drawOnPage(context, located, { maxSide, as: 'image/jpeg' })
  const { bytes } = await loadStoredAsset(context, located)
  return withItemId(located, () =>
    context.drawer.draw({ of: 'picture', bytes, maxSide, as: 'image/jpeg' }, located.document.tenant),
  )
}

/** A page, or a box on it, of the uploaded file. */
async function drawOnPage(
  context: EngineContext,
  located: LocatedItem,
  options: { maxSide: number; as: PreviewImage['contentType'] },
): Promise<PreviewImage> {
  const { filename, object_key: key } = located.document
  const { pageNumber: page, boundingBox: box } = located.item
  if (page === undefined) throw notFoundError('page of item', located.itemId)
  return context.objects.local([key], async ([file]) => {
    if (file === undefined) throw notFoundError('file of document', located.document.id)
    return withItemId(located, () =>
      context.drawer.draw(
        { of: 'page', filename, page, ...(box === undefined ? {} : { box }), ...options },
        located.document.tenant,
        file,
      ),
    )
  })
}

/** Adds the item's id to errors of drawing. */
async function withItemId<T>({ itemId }: LocatedItem, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    if (!(error instanceof KsError) || (error.code !== 'not-found' && error.code !== 'asset-too-large')) throw error
    throw new KsError(error.code, `item ${itemId}: ${error.message}`, { cause: error })
  }
}

function getCachedSize({ bytes }: PreviewImage): number {
  return Math.max(1, bytes.length)
}
