import type { Block } from '../parsed.js'
import { buildTableBlocks } from '../tables.js'
import type { FoundTable } from './found-table.js'

/** The elements of a table on a page; `boundingBox` in points from the upper left of the page as it is shown. */
export function toTableElements(found: FoundTable): Block[] {
  const { rows, headerRows, headColumns, spans, caption, shown, part, confidence } = found
  const extra = {
    ...(caption === undefined ? {} : { caption }),
    ...(shown === undefined ? {} : { boundingBox: shown }),
    ...part,
    ...(confidence === undefined ? {} : { ocr: { confidence } }),
  }
  return buildTableBlocks(rows, { headerRows, headColumns }, extra, spans)
}
