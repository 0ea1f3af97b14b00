import { omitUndefined } from '../../lib/omit-undefined.js'
import type { BoundingBox, CompiledElement, CompiledItem } from '../store/compiled.js'
import type { AssembledDocument } from './elements.js'
import { MAX_PICTURE_BYTES } from './limits.js'
import { sniffBinary } from './magic.js'
import { findCaption } from './picture/captions.js'
import { createRepetitionFilter, isTiny } from './picture/interest.js'
import type { PixelSize } from './picture/size.js'

type PictureItemFacts = Pick<CompiledItem, 'modality' | 'drawn' | 'sourceMetadata'> & { asset?: object }

const PREVIEW_LENGTH = 200
/** An SVG picture begins within this many bytes. */
const SVG_HEAD_BYTES = 1024

/**
 * Lists the tables, code blocks and pictures of a document, and its pages if they can be drawn.
 *
 * Picture bytes are kept up to 32 MiB in total, in reading order; further pictures are listed without bytes. Ornaments
 * are omitted: bullets and spacers without a caption, and a logo after its first occurrence.
 *
 * @param options `readSize` returns the size in pixels that a picture declares
 */
export function listItems(
  document: AssembledDocument,
  { readSize, canDrawPages }: { readSize: (bytes: Uint8Array) => PixelSize | undefined; canDrawPages: boolean },
): CompiledItem[] {
  const { elements, pictures } = document
  const items: CompiledItem[] = []
  const isRepeated = createRepetitionFilter(pictures.values())
  let keptBytes = 0
  for (const [index, element] of elements.entries()) {
    if (element.type !== 'table' && element.type !== 'code' && element.type !== 'image') continue
    const item = makeElementItem(element, element.type)
    if (element.type === 'image') addPictureTexts(item, element, findCaption(elements, index))
    const picture = pictures.get(element.id)
    if (picture !== undefined) {
      const size = 'bytes' in picture ? readSize(picture.bytes) : undefined
      const isOrnament = size !== undefined && isTiny(size)
      if (isRepeated(picture) || (isOrnament && item.caption === undefined)) continue
      if (size !== undefined) Object.assign(item.sourceMetadata, size, isOrnament ? { ornament: true } : {})
    }
    if (picture !== undefined && 'drawn' in picture) {
      item.boundingBox = picture.drawn
      item.drawn = true
    }
    if (picture !== undefined && 'uri' in picture) item.externalUri = picture.uri
    if (picture !== undefined && 'bytes' in picture) {
      const contentType = detectPictureType(picture.bytes)
      Object.assign(item.sourceMetadata, { contentType, sizeBytes: picture.bytes.byteLength })
      if (keptBytes + picture.bytes.byteLength <= MAX_PICTURE_BYTES) {
        keptBytes += picture.bytes.byteLength
        item.asset = { contentType, bytes: picture.bytes }
      }
    }
    items.push(item)
  }
  return canDrawPages ? [...items, ...listPages(elements)] : items
}

/** Whether an item is a picture with content that can be displayed. */
export function isDisplayablePicture({ modality, asset, drawn, sourceMetadata }: PictureItemFacts): boolean {
  if (modality !== 'image' || sourceMetadata.ornament === true) return false
  return drawn === true || (asset !== undefined && typeof sourceMetadata.width === 'number')
}

/** Type of a picture by its bytes, whatever its name or its document claims. */
function detectPictureType(picture: Uint8Array): string {
  const bytes = Buffer.from(picture.buffer, picture.byteOffset, picture.byteLength)
  const detected = sniffBinary(bytes)
  if (detected?.startsWith('image/') === true) return detected
  const isSvg =
    detected === undefined &&
    /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/.test(bytes.toString('utf8', 0, SVG_HEAD_BYTES))
  return isSvg ? 'image/svg+xml' : 'application/octet-stream'
}

function makeElementItem(element: CompiledElement, modality: 'code' | 'image' | 'table'): CompiledItem {
  const { caption, language } = element.metadata
  const item = makeItem(element, modality)
  if (typeof language === 'string') item.sourceMetadata.language = language
  if (typeof caption === 'string') item.caption = caption
  if (element.text !== undefined) item.textPreview = element.text.slice(0, PREVIEW_LENGTH)
  return item
}

function makeItem(element: CompiledElement, modality: CompiledItem['modality']): CompiledItem {
  const { startOffset, endOffset, boundingBox } = element.metadata
  const item: CompiledItem = {
    parseElementId: element.id,
    modality,
    sectionPath: element.sectionPath,
    sourceMetadata: modality === 'table' ? getTableFacts(element) : {},
  }
  const section = element.sectionPath[element.sectionPath.length - 1]
  if (section !== undefined) item.title = section
  if (element.pageNumber !== undefined) item.pageNumber = element.pageNumber
  if (isBox(boundingBox)) item.boundingBox = boundingBox
  if (typeof startOffset === 'number') item.startOffset = startOffset
  if (typeof endOffset === 'number') item.endOffset = endOffset
  return item
}

/** Adds the texts of a picture: caption, alternative text, recognized text, description by a model. */
function addPictureTexts(item: CompiledItem, element: CompiledElement, caption: CompiledElement | undefined): void {
  const { alt = element.text, ocrText, description, describedBy } = element.metadata
  if (caption?.text !== undefined) {
    item.caption ??= caption.text
    item.captionElementId = caption.id
  } else if (typeof alt === 'string' && alt !== '') item.caption ??= alt
  if (typeof ocrText === 'string') item.ocrText = ocrText
  if (typeof alt === 'string' && alt !== '') item.sourceMetadata.alt = alt
  Object.assign(item.sourceMetadata, omitUndefined({ description, describedBy }))
}

/** The pages with content; their pictures are drawn on request. */
function listPages(elements: readonly CompiledElement[]): CompiledItem[] {
  const pages = new Map<number, CompiledItem>()
  for (const element of elements) {
    const { pageNumber, metadata } = element
    if (pageNumber === undefined) continue
    const page = pages.get(pageNumber)
    if (page === undefined) pages.set(pageNumber, { ...makeItem(element, 'page'), drawn: true })
    else if (typeof metadata.endOffset === 'number') {
      page.endOffset = metadata.endOffset
      page.startOffset ??= typeof metadata.startOffset === 'number' ? metadata.startOffset : metadata.endOffset
    }
  }
  for (const page of pages.values()) delete page.boundingBox
  return [...pages.values()].sort((left, right) => (left.pageNumber ?? 0) - (right.pageNumber ?? 0))
}

function isBox(value: unknown): value is BoundingBox {
  if (typeof value !== 'object' || value === null) return false
  const sides = ['x', 'y', 'width', 'height'] as const
  return sides.every((side) => side in value && Number.isFinite(Reflect.get(value, side)))
}

/** Size of a table, and its part number if it is split. */
function getTableFacts({ metadata }: CompiledElement): Record<string, unknown> {
  const { headerRows, rowCount, columnCount, part, parts } = metadata
  return omitUndefined({ headerRows, rowCount, columnCount, part, parts })
}
