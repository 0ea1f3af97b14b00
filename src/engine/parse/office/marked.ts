import type { Block } from '../parsed.js'

/** Stands in a text for what is put there later, between signs that no text has. */
export const MARK = '\ue0c7'
const MARKED = new RegExp(`${MARK}(\\d+)${MARK}`, 'g')

/** What stands in a text for the thing of a number. */
export function markOf(number: number): string {
  return `${MARK}${number}${MARK}`
}

/**
 * The blocks of a document without their marks, each followed by what its marks stand for.
 *
 * @param take the blocks of a number; asked once for each
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

/** Cells that a table keeps beside its text hold the same marks. */
function cleanCells({ metadata }: Block): Pick<Block, 'metadata'> {
  if (metadata?.cells === undefined) return {}
  const cells: unknown = JSON.parse(JSON.stringify(metadata.cells).replace(MARKED, ''))
  return { metadata: { ...metadata, cells } }
}
