import { getFormulas } from '../math/formula.js'
import type { Block } from '../parsed.js'

/** Encloses the number of a marker in a text; a private-use character that texts do not contain. */
export const MARKER_SIGN = '\ue0c7'
const MARKER = new RegExp(`${MARKER_SIGN}(\\d+)${MARKER_SIGN}`, 'g')

/** The marker for content that is inserted later. */
export function formatMarker(number: number): string {
  return `${MARKER_SIGN}${number}${MARKER_SIGN}`
}

/**
 * Removes the markers from the blocks of a document and inserts the content of each after its block; a formula takes the
 * place of its marker.
 *
 * @param take returns the blocks of a number; called once for each
 */
export function replaceMarkers(blocks: readonly Block[], take: (number: number) => Block[]): Block[] {
  const formulas = new Map<number, string>()
  const taken = new Set<number>()
  return blocks.flatMap((block) => {
    if (!block.text.includes(MARKER_SIGN)) return [block]
    const inserted: Block[] = []
    const latex: string[] = []
    const fill = (text: string): string =>
      text.replace(MARKER, (_all, digits: string) => {
        const number = Number(digits)
        if (!taken.has(number)) {
          taken.add(number)
          const content = take(number)
          const [first] = content
          const stated = first === undefined ? [] : getFormulas(first)
          if (first === undefined || stated.length === 0) inserted.push(...content)
          else {
            formulas.set(number, first.text)
            latex.push(...stated)
          }
        }
        return formulas.get(number) ?? ''
      })
    const text = block.type === 'code' ? fill(block.text) : fill(block.text).replace(/ {2,}/g, ' ')
    if (text.trim() === '' && block.picture === undefined) return inserted
    const metadata = {
      ...block.metadata,
      ...fillCells(block, fill),
      ...(latex.length === 0 ? {} : { formulas: latex }),
    }
    return [{ ...block, text, ...(Object.keys(metadata).length === 0 ? {} : { metadata }) }, ...inserted]
  })
}

/** The stored cells of a table contain the same markers. */
function fillCells({ metadata }: Block, fill: (text: string) => string): { cells?: string[][] } {
  const cells: unknown = metadata?.cells
  if (!Array.isArray(cells)) return {}
  return {
    cells: cells.map((row: unknown) => (Array.isArray(row) ? row.map((cell: unknown) => fill(String(cell))) : [])),
  }
}
