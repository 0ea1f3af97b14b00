import { defined } from '../../lib/defined.js'
import { isRecord } from '../../lib/json/values.js'
import type { CompiledElement, CompiledItem } from './compiled.js'
import type { Assembled } from './elements.js'
import { MAX_PICTURE_BYTES } from './limits.js'
import { sniffBinary } from './magic.js'

const PREVIEW_LENGTH = 200
/** an SVG picture begins within so many bytes */
const SVG_HEAD = 1024

/**
 * The tables, code blocks and pictures of a document.
 *
 * Picture bytes are kept up to 32 MiB in total, in reading order; what no longer fits is listed without bytes.
 */
export function listItems(document: Assembled): CompiledItem[] {
  const items: CompiledItem[] = []
  let kept = 0
  for (const element of document.elements) {
    if (element.type !== 'table' && element.type !== 'code' && element.type !== 'image') continue
    const item = describe(element, element.type)
    const picture = document.pictures.get(element.id)
    if (picture !== undefined && 'uri' in picture) item.externalUri = picture.uri
    if (picture !== undefined && 'bytes' in picture) {
      const contentType = pictureType(picture.bytes)
      item.sourceMetadata = { contentType, sizeBytes: picture.bytes.byteLength }
      if (kept + picture.bytes.byteLength <= MAX_PICTURE_BYTES) {
        kept += picture.bytes.byteLength
        item.asset = { contentType, bytes: picture.bytes }
      }
    }
    items.push(item)
  }
  return items
}

/** What a picture is by its bytes; what its name or its document call it does not count. */
function pictureType(picture: Uint8Array): string {
  const bytes = Buffer.from(picture.buffer, picture.byteOffset, picture.byteLength)
  const found = sniffBinary(bytes)
  if (found?.startsWith('image/') === true) return found
  const isSvg =
    found === undefined &&
    /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<svg[\s>]/.test(bytes.toString('utf8', 0, SVG_HEAD))
  return isSvg ? 'image/svg+xml' : 'application/octet-stream'
}

function describe(element: CompiledElement, modality: 'code' | 'image' | 'table'): CompiledItem {
  const { startOffset, endOffset, caption, language } = element.metadata
  const item: CompiledItem = {
    parseElementId: element.id,
    modality,
    sectionPath: element.sectionPath,
    sourceMetadata: modality === 'table' ? sizeOf(element) : typeof language === 'string' ? { language } : {},
  }
  const section = element.sectionPath[element.sectionPath.length - 1]
  if (section !== undefined) item.title = section
  const box = boxOf(element.metadata.boundingBox)
  if (box !== undefined) item.boundingBox = box
  if (typeof caption === 'string') item.caption = caption
  else if (modality === 'image' && element.text !== undefined) item.caption = element.text
  if (element.text !== undefined) item.textPreview = element.text.slice(0, PREVIEW_LENGTH)
  if (element.pageNumber !== undefined) item.pageNumber = element.pageNumber
  if (typeof startOffset === 'number') item.startOffset = startOffset
  if (typeof endOffset === 'number') item.endOffset = endOffset
  return item
}

/** How large a table is, and which part of a long one. */
function sizeOf({ metadata }: CompiledElement): Record<string, unknown> {
  const { headerRows, rowCount, columnCount, part, parts } = metadata
  return { ...defined({ headerRows, rowCount, columnCount, part, parts }) }
}

function boxOf(value: unknown): CompiledItem['boundingBox'] {
  if (!isRecord(value)) return undefined
  const { x, y, width, height } = value
  if (typeof x !== 'number' || typeof y !== 'number' || typeof width !== 'number' || typeof height !== 'number')
    return undefined
  return { x, y, width, height }
}
