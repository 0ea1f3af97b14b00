import type { Block } from './parsed.js'

/** Words that begin a caption, in several languages: `Figure`, `Table`, `Abbildung`. */
const CAPTION_WORD =
  /^(?:(fig(?:ure|ura|\.)?|chart|diagram|illustration|abb(?:ildung|\.)?|photo|plate|graph)|(table|tab\.|tabelle|tableau|tabla|tabella|exhibit))(?=[\s\d])/iu
/**
 * The number after the word: `3.`, `2:`, `A.1`, `IV –`, or a number before a capital letter. A sentence that only
 * mentions a figure continues in lower case.
 */
const CAPTION_NUMBER = /^\s*(?:\d{1,3}|[A-Z]|[IVX]{1,5})(?:[.-]\d{1,3})*(?![\p{L}\p{N}])\s*(?:[.:–—|-]|$|["“(]|\p{Lu})/u
const MAX_CAPTION_LENGTH = 600

/**
 * Links pictures and tables with the caption next to them: sets `caption` in their metadata and `role` in that of the
 * caption. Captions of pictures are usually below, those of tables above.
 */
export function markCaptions(blocks: readonly Block[]): void {
  for (const [index, block] of blocks.entries()) {
    if (block.type !== 'paragraph' || block.text.length > MAX_CAPTION_LENGTH) continue
    const match = CAPTION_WORD.exec(block.text)
    if (match === null || !CAPTION_NUMBER.test(block.text.slice(match[0].length))) continue
    const type = match[1] === undefined ? 'table' : 'image'
    const [near, far] = type === 'image' ? [index - 1, index + 1] : [index + 1, index - 1]
    const target = [blocks[near], blocks[far]].find(
      (neighbour) => neighbour?.type === type && neighbour.metadata?.caption === undefined,
    )
    if (target === undefined) continue
    target.metadata = { ...target.metadata, caption: block.text }
    block.metadata = { ...block.metadata, role: 'caption' }
  }
}
