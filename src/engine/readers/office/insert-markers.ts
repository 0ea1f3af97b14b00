import type { Block } from '../parsed.js'

/** Encloses the number of a marker in a text; a private-use character that texts do not contain. */
export const MARKER_SIGN = '\ue0c7'
const MARKER = new RegExp(`${MARKER_SIGN}(\\d+)${MARKER_SIGN}`, 'g')

/** The marker for content that is inserted later. */
export function formatMarker(number: number): string {
  return `${MARKER_SIGN}${number}${MARKER_SIGN}`
}

/**
 * Removes the markers from the blocks of a document and inserts the content of each after its block.
 *
 * @param take returns the blocks of a number; called once for each
 */
export function replaceMarkers(blocks: readonly Block[], take: (number: number) => Block[]): Block[] {
  const taken = new Set<number>()
  return blocks.flatMap((block) => {
    if (!block.text.includes(MARKER_SIGN)) return [block]
    const inserted: Block[] = []
    const text = block.text.replace(MARKER, (_all, digits: string) => {
      const number = Number(digits)
      if (!taken.has(number)) inserted.push(...take(number))
      taken.add(number)
      return ''
    })
    if (text.trim() === '' && block.picture === undefined) return inserted
    return [{ ...block, text, ...removeFromCells(block) }, ...inserted]
  })
}

/** The stored cells of a table contain the same markers. */
function removeFromCells({ metadata }: Block): Pick<Block, 'metadata'> {
  if (metadata?.cells === undefined) return {}
  const cells: unknown = JSON.parse(JSON.stringify(metadata.cells).replace(MARKER, ''))
  return { metadata: { ...metadata, cells } }
}
