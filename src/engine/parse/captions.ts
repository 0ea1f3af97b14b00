import type { Block } from './parsed.js'

/** Words that begin a caption, in several languages: `Figure`, `Table`, `Abbildung`. */
const WORD =
  /^(?:(fig(?:ure|ura|\.)?|chart|diagram|illustration|abb(?:ildung|\.)?|photo|plate|graph)|(table|tab\.|tabelle|tableau|tabla|tabella|exhibit))(?=[\s\d])/iu
/**
 * The number after the word: `3.`, `2:`, `A.1`, `IV –`, or a number before a capital letter. A sentence that only
 * mentions a figure continues in lower case.
 */
const NUMBER = /^\s*(?:\d{1,3}|[A-Z]|[IVX]{1,5})(?:[.-]\d{1,3})*(?![\p{L}\p{N}])\s*(?:[.:–—|-]|$|["“(]|\p{Lu})/u
const MAX_LENGTH = 600

/**
 * Links pictures and tables with the caption next to them: sets `caption` in their metadata and `role` in that of the
 * caption. Captions of pictures are usually below, those of tables above.
 */
export function markCaptions(blocks: readonly Block[]): void {
  for (const [place, block] of blocks.entries()) {
    if (block.type !== 'paragraph' || block.text.length > MAX_LENGTH) continue
    const found = WORD.exec(block.text)
    if (found === null || !NUMBER.test(block.text.slice(found[0].length))) continue
    const type = found[1] === undefined ? 'table' : 'image'
    const [near, far] = type === 'image' ? [place - 1, place + 1] : [place + 1, place - 1]
    const shown = [blocks[near], blocks[far]].find((one) => one?.type === type && one.metadata?.caption === undefined)
    if (shown === undefined) continue
    shown.metadata = { ...shown.metadata, caption: block.text }
    block.metadata = { ...block.metadata, role: 'caption' }
  }
}
