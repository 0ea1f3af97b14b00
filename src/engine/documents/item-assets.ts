import { LRUCache } from 'lru-cache'
import { KsError, notFound } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import type { Drawn } from '../parse/draw/messages.js'
import { storedItems } from '../parse/read-stored.js'
import { itemName, type StoredItem } from '../parse/stored.js'
import { isTableFormat } from '../parse/tables/formats.js'
import { itemAsset, type VersionRow } from '../rows/document-versions.js'
import type { DocumentRow } from '../rows/documents.js'
import { damagedObject, hasHash } from '../storage/durable-files.js'
import { itemMarks, markedRange } from './item-marks.js'
import { FINEST_SIDE, PAGE_SIDE, PREVIEW_SIDES, variantsOf } from './item-variants.js'
import { artifactOf, isPaged, publishedItems } from './published.js'
import { tableAsset } from './table-asset.js'

export interface ItemAsset {
  bytes: Uint8Array
  contentType: string
}

/** An item with its document and version. */
interface Located {
  document: DocumentRow
  row: VersionRow
  item: StoredItem
  itemId: string
}

/** Size of the cache of drawings: a recent drawing is often requested again. */
const KEPT_BYTES = 16 * 1024 * 1024
const drawings = new WeakMap<EngineContext, LRUCache<string, Drawn>>()

/** @throws KsError `asset-external` for a picture that is only linked, `asset-too-large` */
export async function getItemAsset(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  documentId: string,
  itemId: string,
  variant = 'original',
): Promise<ItemAsset> {
  const { document, row, packed } = await context.db.read(publishedItems(caller, spaceId, documentId))
  const item = await findItem(packed, itemId)
  const located = { document, row, item, itemId }
  const range = markedRange(variant)
  if (range !== undefined) return itemMarks(context, caller, spaceId, located, range)
  if (variant !== 'original') {
    if (!Object.hasOwn(variantsOf(item, isPaged(row)), variant)) throw notFound('variant', variant)
    if (item.modality === 'table' && isTableFormat(variant)) {
      const packedArtifact = await context.db.read(artifactOf(caller, spaceId, documentId, row))
      return tableAsset(packedArtifact, item.parseElementId, variant)
    }
    return drawVariant(context, located, variant)
  }
  if (item.externalUri !== undefined)
    throw new KsError('asset-external', `item ${itemId} is an external picture and is not stored here`)
  if (item.drawn === true) return drawOnPage(context, located, { maxSide: FINEST_SIDE, as: 'image/png' })
  return storedAsset(context, located)
}

/** @throws KsError `not-found` */
async function findItem(packed: Uint8Array, itemId: string): Promise<StoredItem> {
  let index = 0
  for await (const item of storedItems(packed)) if (itemName(item, index++) === itemId) return item
  throw notFound('item', itemId)
}

/** The stored bytes of an item. */
export async function storedAsset({ db }: Pick<EngineContext, 'db'>, { row, item, itemId }: Omit<Located, 'document'>) {
  if (item.asset === undefined) throw notFound('asset of item', itemId)
  if (item.asset.size > LIMITS.assetBytes)
    throw new KsError(
      'asset-too-large',
      `item ${itemId} is ${item.asset.size} bytes, the limit is ${LIMITS.assetBytes}`,
    )
  const stored = await db.read(itemAsset(row.key, itemId))
  if (stored === undefined) throw notFound('asset of item', itemId)
  if (!(await hasHash(Uint8Array.from(stored.bytes), item.asset.sha256))) throw damagedObject()
  return { bytes: stored.bytes, contentType: stored.content_type }
}

/** A variant from `listVariants`; drawn again, unless it is cached. */
export async function drawVariant(context: EngineContext, of: Located, variant: string): Promise<Drawn> {
  const kept = drawings.get(context) ?? new LRUCache<string, Drawn>({ maxSize: KEPT_BYTES, sizeCalculation: sizeOf })
  drawings.set(context, kept)
  const key = JSON.stringify([of.row.key, of.row.artifact_id, of.itemId, variant])
  const known = kept.get(key)
  if (known !== undefined) return known
  const drawn = await drawNow(context, of, variant)
  kept.set(key, drawn)
  return drawn
}

async function drawNow(context: EngineContext, of: Located, variant: string): Promise<Drawn> {
  if (variant === 'page') {
    const { boundingBox: _, ...page } = of.item
    return drawOnPage(context, { ...of, item: page }, { maxSide: PAGE_SIDE, as: 'image/jpeg' })
  }
  const maxSide = variant === 'thumbnail' ? PREVIEW_SIDES.thumbnail : PREVIEW_SIDES.preview
  if (of.item.drawn === true) return drawOnPage(context, of, { maxSide, as: 'image/jpeg' })
  const { bytes } = await storedAsset(context, of)
  return told(of, () => context.drawer.draw({ of: 'picture', bytes, maxSide, as: 'image/jpeg' }, of.document.tenant))
}

/** A page, or a box on it, of the uploaded file. */
async function drawOnPage(
  context: EngineContext,
  of: Located,
  how: { maxSide: number; as: Drawn['contentType'] },
): Promise<Drawn> {
  const { filename, object_key: key } = of.document
  const { pageNumber: page, boundingBox: box } = of.item
  if (page === undefined) throw notFound('page of item', of.itemId)
  return context.objects.local([key], async ([file]) => {
    if (file === undefined) throw notFound('file of document', of.document.id)
    return told(of, () =>
      context.drawer.draw(
        { of: 'page', filename, page, ...(box === undefined ? {} : { box }), ...how },
        of.document.tenant,
        file,
      ),
    )
  })
}

/** Adds the item's id to errors of drawing. */
async function told<T>({ itemId }: Located, draw: () => Promise<T>): Promise<T> {
  try {
    return await draw()
  } catch (error) {
    if (!(error instanceof KsError) || (error.code !== 'not-found' && error.code !== 'asset-too-large')) throw error
    throw new KsError(error.code, `item ${itemId}: ${error.message}`, { cause: error })
  }
}

function sizeOf({ bytes }: Drawn): number {
  return Math.max(1, bytes.length)
}
