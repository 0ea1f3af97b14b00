import type { MultimodalItem } from '../../../contract/gateway/document-parts.js'
import { MAX_DPI, MAX_DRAWN_PIXELS, POINTS_PER_INCH, type StoredItem, TABLE_FORMATS } from '../../readers/index.js'

type ItemVariants = NonNullable<NonNullable<MultimodalItem['assetRef']>['variants']>

/** Longer side of a preview, in pixels. */
export const PREVIEW_SIDES = { thumbnail: 256, preview: 1024 } as const
/** Longer side of a page image, in pixels: text of the size of footnotes is readable. */
export const PAGE_SIDE = 1600
/** Longer side of a picture or page at the highest resolution, in pixels. */
export const FINEST_SIDE = 4096

const JPEG = 'image/jpeg'
/** Types of pictures that can be drawn at another size. */
const DRAWABLE = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/bmp', 'image/tiff'])

/**
 * The variants of an item besides its own bytes, by name. @param isPaged whether the pages of its document can be
 * rendered
 */
export function listVariants(item: StoredItem, isPaged: boolean): ItemVariants {
  const variants: ItemVariants = {}
  const size = getDrawableSize(item)
  if (size !== undefined)
    for (const [name, side] of Object.entries(PREVIEW_SIDES)) {
      const scale = Math.min(size.most, side / Math.max(size.width, size.height, 1))
      const toPixels = (length: number) => Math.max(1, Math.round(length * scale))
      variants[name] = { contentType: JPEG, width: toPixels(size.width), height: toPixels(size.height) }
    }
  // the size of a page is only in the file
  else if (item.modality === 'page' && item.drawn === true)
    for (const name of Object.keys(PREVIEW_SIDES)) variants[name] = { contentType: JPEG }
  if (item.modality === 'table')
    for (const [name, contentType] of Object.entries(TABLE_FORMATS)) variants[name] = { contentType }
  if (isPaged && item.pageNumber !== undefined) variants.page = { contentType: JPEG }
  return variants
}

/** Size of a picture in pixels or points, and the maximum useful scale. */
function getDrawableSize({ sourceMetadata, asset, drawn, boundingBox }: StoredItem) {
  if (drawn === true && boundingBox !== undefined) return { ...boundingBox, most: MAX_DPI / POINTS_PER_INCH }
  const { width, height } = sourceMetadata
  // a bullet needs no smaller version
  if (asset === undefined || !DRAWABLE.has(asset.contentType) || sourceMetadata.ornament === true) return undefined
  if (typeof width !== 'number' || typeof height !== 'number' || width * height > MAX_DRAWN_PIXELS) return undefined
  return { width, height, most: 1 }
}
