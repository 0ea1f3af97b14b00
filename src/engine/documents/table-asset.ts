import { setImmediate as turn } from 'node:timers/promises'
import { KsError, notFound } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'
import type { CompiledElement } from '../parse/compiled.js'
import { storedElements } from '../parse/read-stored.js'
import { joinedTable, type TableCells, tableOf } from '../parse/tables/cells.js'
import { formatTable, TABLE_FORMATS, type TableFormat } from '../parse/tables/formats.js'

/**
 * The complete table of an element, in one format; the element may be one part of it.
 *
 * @throws KsError `not-found` when there is no such table, `asset-too-large` above the limit of an asset
 */
export async function tableAsset(
  artifact: Uint8Array,
  elementId: string,
  format: TableFormat,
): Promise<{ bytes: Uint8Array; contentType: string }> {
  const parts: TableCells[] = []
  let length = 0
  for await (const { text = '', metadata } of partsOf(artifact, elementId)) {
    length += text.length
    if (length > LIMITS.assetBytes)
      throw new KsError('asset-too-large', `the table is more than the limit of ${LIMITS.assetBytes} bytes`)
    parts.push(tableOf(text, metadata))
    await turn()
  }
  const table = joinedTable(parts)
  if (table === undefined) throw notFound('table', elementId)
  const bytes = Buffer.from(formatTable(table, format))
  if (bytes.length > LIMITS.assetBytes)
    throw new KsError('asset-too-large', `the table is ${bytes.length} bytes, the limit is ${LIMITS.assetBytes}`)
  return { bytes, contentType: TABLE_FORMATS[format] }
}

/** The elements of a long table in parts, by one of them; other elements may be between them. */
async function* partsOf(artifact: Uint8Array, elementId: string): AsyncGenerator<CompiledElement> {
  const wanted = await indexesOfParts(artifact, elementId)
  let index = 0
  for await (const element of storedElements(artifact)) if (wanted.has(index++)) yield element
}

/** A table of an artifact: its index among all elements, and its number among the parts of a long table. */
interface TablePart {
  index: number
  part: unknown
  parts: unknown
}

async function indexesOfParts(artifact: Uint8Array, elementId: string): Promise<Set<number>> {
  const tables: TablePart[] = []
  let at = -1
  let index = 0
  for await (const { id, type, metadata } of storedElements(artifact)) {
    if (type === 'table') {
      if (id === elementId && at === -1) at = tables.length
      tables.push({ index, part: metadata.part, parts: metadata.parts })
    }
    index++
  }
  const named = tables[at]
  const found = new Set(named === undefined ? [] : [named.index])
  if (named === undefined || typeof named.part !== 'number' || typeof named.parts !== 'number') return found
  const take = (from: Iterable<TablePart>, first: number, step: number) => {
    let wanted = first
    for (const { index, part, parts } of from)
      if (part === wanted && parts === named.parts && wanted > 0) {
        found.add(index)
        wanted += step
      }
  }
  take(tables.slice(0, at).reverse(), named.part - 1, -1)
  take(tables.slice(at + 1), named.part + 1, 1)
  return found
}
