import { CELL_SEPARATOR } from '../../../lib/text/table-lines.js'
import { collapseSpaces } from '../elements.js'
import type { Block } from '../parsed.js'
import type { RstDocument } from './rst-document.js'

/** The text of blocks in one line, without marks of lists. */
export function toRstText(blocks: readonly Block[]): string {
  const texts = blocks.map(({ type, text }) => {
    if (type === 'list') return text.replace(/^\s*[-*+•‣⁃] /gm, '')
    return type === 'table' ? text.replaceAll(CELL_SEPARATOR, ' ') : text
  })
  return collapseSpaces(texts.join(' '))
}

/** A cell of plain words needs no reader. */
const PLAIN_CELL = /^(?:[A-Za-z0-9][^`*|_\\:\s]*(?: [^`*|_\\:\s]+)*)?$/

/** Creates the reader of one table's cells: it converts them to text, and collects tables in them as further blocks. */
export function createCellReader(
  document: RstDocument,
  depth: number,
): { toText(lines: readonly string[]): string; tables: Block[] } {
  const tables: Block[] = []
  return {
    tables,
    toText(lines) {
      const [first = ''] = lines
      if (lines.length <= 1 && PLAIN_CELL.test(first)) return first
      const blocks = document.readBlocks(lines, depth)
      for (const block of blocks) if (block.type === 'table') tables.push(block)
      return toRstText(blocks)
    },
  }
}
