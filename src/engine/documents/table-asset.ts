import { setImmediate as turn } from 'node:timers/promises'
import { KsError, notFound } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'
import type { CompiledElement } from '../parse/compiled.js'
import { joinedTable, type TableCells, tableOf } from '../parse/tables/cells.js'
import { formatTable, TABLE_FORMATS, type TableFormat } from '../parse/tables/formats.js'

/**
 * The whole table that an element is, or is a part of, in one of its forms.
 *
 * @throws KsError `not-found` when there is no such table, `asset-too-large` past the limit of an asset
 */
export async function tableAsset(
  elements: readonly CompiledElement[],
  elementId: string,
  format: TableFormat,
): Promise<{ bytes: Uint8Array; contentType: string }> {
  const parts: TableCells[] = []
  let length = 0
  for (const { text = '', metadata } of partsOf(elements, elementId)) {
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

/** The elements of a long table in parts, of which one is named; other elements may stand between them. */
function partsOf(elements: readonly CompiledElement[], elementId: string): CompiledElement[] {
  const at = elements.findIndex(({ id, type }) => id === elementId && type === 'table')
  const named = elements[at]
  if (named === undefined) return []
  const { part, parts } = named.metadata
  if (typeof part !== 'number' || typeof parts !== 'number') return [named]
  const found = [named]
  for (let index = at - 1, wanted = part - 1; index >= 0 && wanted > 0; index--) {
    const one = elements[index]
    if (one?.type !== 'table' || one.metadata.part !== wanted || one.metadata.parts !== parts) continue
    found.unshift(one)
    wanted--
  }
  for (let index = at + 1, wanted = part + 1; index < elements.length && wanted <= parts; index++) {
    const one = elements[index]
    if (one?.type !== 'table' || one.metadata.part !== wanted || one.metadata.parts !== parts) continue
    found.push(one)
    wanted++
  }
  return found
}
