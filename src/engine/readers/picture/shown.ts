import { isRecord } from '../../../lib/json/values.js'
import type { CompiledElement, CompiledItem, CompiledNode, ShownItem } from '../../store/compiled.js'
import { buildItemName } from '../stored-parts.js'

/** Maximal number of items of a passage: a page of thumbnails is not a figure. */
const MAX_SHOWN = 12

/**
 * Sets on each passage the tables, pictures and code blocks that it consists of. A picture without recognised words
 * belongs to the passage in which it is, or which has its caption.
 */
export function attachShownItems(
  nodes: readonly CompiledNode[],
  elements: readonly CompiledElement[],
  items: readonly CompiledItem[],
): void {
  const byElement = new Map<string, ShownItem[]>()
  const confidences = collectConfidences(elements)
  for (const [index, item] of items.entries()) {
    const shown = toShownItem(item, index)
    if (shown === undefined) continue
    const { parseElementId: own, captionElementId: caption } = item
    addShown(byElement, own, confidences.has(own) ? { ...shown, ocr: confidences.get(own) ?? 0 } : shown)
    if (caption !== undefined) addShown(byElement, caption, shown)
  }
  if (byElement.size === 0) return
  const kinds = new Map(elements.map(({ id, type, text }) => [id, { type, hasText: text !== undefined }]))
  for (const node of nodes) {
    const shown = node.sourceElementIds.flatMap((id) => byElement.get(id) ?? [])
    // a picture and its caption in one passage are one item
    const byId = new Map<string, ShownItem>()
    for (const item of shown) byId.set(item.id, { ...item, ...byId.get(item.id) })
    if (byId.size > 0) node.shows = [...byId.values()].slice(0, MAX_SHOWN)
    const own = node.sourceElementIds.flatMap((id) => kinds.get(id) ?? []).filter(({ hasText }) => hasText)
    if (own.length > 0 && own.every(({ type }) => type === 'image')) node.kind = 'image'
  }
}

function addShown(byElement: Map<string, ShownItem[]>, id: string, shown: ShownItem): void {
  const existing = byElement.get(id)
  if (existing === undefined) byElement.set(id, [shown])
  else existing.push(shown)
}

/** Confidence of recognised words, by element: pictures that contain words, and tables recognised in pictures. */
function collectConfidences(elements: readonly CompiledElement[]): Map<string, number> {
  return new Map(
    elements.flatMap(({ id, type, metadata: { ocrText, ocr } }) => {
      const isRead = type === 'table' || (type === 'image' && typeof ocrText === 'string')
      return isRead && isRecord(ocr) && typeof ocr.confidence === 'number' ? [[id, ocr.confidence]] : []
    }),
  )
}

function toShownItem(item: CompiledItem, index: number): ShownItem | undefined {
  const { modality, pageNumber, boundingBox, asset, drawn } = item
  if (modality === 'page') return undefined
  return {
    id: buildItemName(item, index),
    modality,
    ...(pageNumber === undefined ? {} : { pageNumber }),
    ...(boundingBox === undefined ? {} : { boundingBox }),
    ...(asset === undefined && drawn === undefined ? {} : { isStored: true as const }),
  }
}
