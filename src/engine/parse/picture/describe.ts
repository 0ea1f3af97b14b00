import { createHash } from 'node:crypto'
import type { Parsed } from '../parsed.js'

/** What a model said of one picture is cut at this length, in characters. */
export const MAX_DESCRIPTION = 4000

/**
 * Adds to the pictures of a document what is known of them beside their own words, so that the passages made of them are
 * found by it: their alternative text first, then what a vision model said.
 *
 * @param descriptions by the SHA-256 of a picture's bytes
 */
export function describePictures(parsed: Parsed, descriptions: Readonly<Record<string, string>>): void {
  for (const block of parsed.blocks) {
    if (block.picture === undefined || !('bytes' in block.picture)) continue
    const hash = createHash('sha256').update(block.picture.bytes).digest('hex')
    const said = Object.hasOwn(descriptions, hash) ? descriptions[hash] : undefined
    if (said === undefined || said === '') continue
    const description = said.slice(0, MAX_DESCRIPTION)
    block.metadata = { alt: block.text, ...block.metadata, description }
    block.text = [block.text, description].filter((text) => text.trim() !== '').join('\n')
  }
}
