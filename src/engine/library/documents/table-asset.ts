import { setImmediate as turn } from 'node:timers/promises'
import { KsError, notFoundError } from '../../../contract/errors.js'
import { LIMITS } from '../../../contract/limits.js'
import {
  formatTable,
  joinTableParts,
  readStoredElements,
  TABLE_FORMATS,
  type TableCells,
  type TableFormat,
  toTableCells,
} from '../../readers/index.js'
import type { CompiledElement } from '../../store/compiled.js'

/**
 * The complete table of an element, in one format; the element may be one part of it.
 *
 * @throws KsError `not-found` when there is no such table, `asset-too-large` above the limit of an asset
 */
export async function buildTableAsset(
  artifact: Uint8Array,
  elementId: string,
  format: TableFormat,
): Promise<{ bytes: Uint8Array; contentType: string }> {
  const parts: TableCells[] = []
  let length = 0
  for await (const { text = '', metadata } of streamTableParts(artifact, elementId)) {
    length += text.length
    if (length > LIMITS.assetBytes)
      throw new KsError('asset-too-large', `the table is more than the limit of ${LIMITS.assetBytes} bytes`)
    parts.push(toTableCells(text, metadata))
    await turn()
  }
  const table = joinTableParts(parts)
  if (table === undefined) throw notFoundError('table', elementId)
  const bytes = Buffer.from(formatTable(table, format))
  if (bytes.length > LIMITS.assetBytes)
    throw new KsError('asset-too-large', `the table is ${bytes.length} bytes, the limit is ${LIMITS.assetBytes}`)
  return { bytes, contentType: TABLE_FORMATS[format] }
}

/** The elements of a long table in parts, by one of them; other elements may be between them. */
async function* streamTableParts(artifact: Uint8Array, elementId: string): AsyncGenerator<CompiledElement> {
  const indexes = await findPartIndexes(artifact, elementId)
  let index = 0
  for await (const element of readStoredElements(artifact)) if (indexes.has(index++)) yield element
}

/** A table of an artifact: its index among all elements, and its number among the parts of a long table. */
interface TablePartPosition {
  index: number
  part: unknown
  parts: unknown
}

async function findPartIndexes(artifact: Uint8Array, elementId: string): Promise<Set<number>> {
  const tables: TablePartPosition[] = []
  let position = -1
  let index = 0
  for await (const { id, type, metadata } of readStoredElements(artifact)) {
    if (type === 'table') {
      if (id === elementId && position === -1) position = tables.length
      tables.push({ index, part: metadata.part, parts: metadata.parts })
    }
    index++
  }
  const requested = tables[position]
  const indexes = new Set(requested === undefined ? [] : [requested.index])
  if (requested === undefined || typeof requested.part !== 'number' || typeof requested.parts !== 'number')
    return indexes
  const collectParts = (candidates: Iterable<TablePartPosition>, first: number, step: number) => {
    let nextPart = first
    for (const { index, part, parts } of candidates)
      if (part === nextPart && parts === requested.parts && nextPart > 0) {
        indexes.add(index)
        nextPart += step
      }
  }
  collectParts(tables.slice(0, position).reverse(), requested.part - 1, -1)
  collectParts(tables.slice(position + 1), requested.part + 1, 1)
  return indexes
}
