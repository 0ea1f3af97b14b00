import type { Block } from './parsed.js'

/** `Figure`, `Table`, `Abbildung`: what begins a caption, in some languages. */
const WORD =
  /^(?:(fig(?:ure|ura|\.)?|chart|diagram|illustration|abb(?:ildung|\.)?|photo|plate|graph)|(table|tab\.|tabelle|tableau|tabla|tabella|exhibit))(?=[\s\d])/iu
/** `3.`, `2:`, `A.1`, `IV –`, or a number before a title: a sentence that only mentions a figure goes on in small letters. */
const NUMBER = /^\s*(?:\d{1,3}|[A-Z]|[IVX]{1,5})(?:[.-]\d{1,3})*(?![\p{L}\p{N}])\s*(?:[.:–—|-]|$|["“(]|\p{Lu})/u
const MAX_LENGTH = 600

/**
 * Gives pictures and tables the caption that stands beside them, and the caption its role: `caption` and `role` of their
 * metadata. Pictures have theirs below more often, tables above.
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
