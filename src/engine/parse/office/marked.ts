import type { Block } from '../parsed.js'

/** Encloses the number of a marker in a text; a private-use character that texts do not contain. */
export const MARK = '\ue0c7'
const MARKED = new RegExp(`${MARK}(\\d+)${MARK}`, 'g')

/** The marker for content that is inserted later. */
export function markOf(number: number): string {
  return `${MARK}${number}${MARK}`
}

/**
 * Removes the markers from the blocks of a document and inserts the content of each after its block.
 *
 * @param take returns the blocks of a number; called once for each
 */
export function withMarked(blocks: readonly Block[], take: (number: number) => Block[]): Block[] {
  const taken = new Set<number>()
  return blocks.flatMap((block) => {
    if (!block.text.includes(MARK)) return [block]
    const found: Block[] = []
    const text = block.text.replace(MARKED, (_all, digits: string) => {
      const number = Number(digits)
      if (!taken.has(number)) found.push(...take(number))
      taken.add(number)
      return ''
    })
    if (text.trim() === '' && block.picture === undefined) return found
    return [{ ...block, text, ...cleanCells(block) }, ...found]
  })
}

/** The stored cells of a table contain the same markers. */
function cleanCells({ metadata }: Block): Pick<Block, 'metadata'> {
  if (metadata?.cells === undefined) return {}
  const cells: unknown = JSON.parse(JSON.stringify(metadata.cells).replace(MARKED, ''))
  return { metadata: { ...metadata, cells } }
}
