import type { Block } from '../parsed.js'

/** A document with a larger fraction of text in fixed-width fonts was typewritten: in it, the font does not mark code. */
const MAX_TYPED_FRACTION = 0.5
/** Fewer paragraphs in a row are a name or a command in the text. */
const MIN_TYPED_LINES = 2

/**
 * Joins the paragraphs of code to blocks: those with a style for code, and several in a row in a fixed-width font.
 *
 * @param typed paragraphs in a fixed-width font, with their text as it was typed
 */
export function joinCode(blocks: readonly Block[], typed: ReadonlyMap<Block, string>): Block[] {
  const total = blocks.reduce((sum, { text }) => sum + text.length, 0)
  const typedLength = blocks.reduce((sum, block) => sum + (typed.has(block) ? block.text.length : 0), 0)
  const isTypewritten = typedLength > total * MAX_TYPED_FRACTION
  const kindOf = (block: Block | undefined): 'code' | 'typed' | undefined => {
    if (block?.type === 'code') return 'code'
    return block !== undefined && typed.has(block) && !isTypewritten ? 'typed' : undefined
  }
  const joined: Block[] = []
  let start = 0
  while (start < blocks.length) {
    const kind = kindOf(blocks[start])
    let end = start + 1
    while (kind !== undefined && kindOf(blocks[end]) === kind) end++
    const run = blocks.slice(start, end)
    if (kind === 'code' || (kind === 'typed' && run.length >= MIN_TYPED_LINES)) {
      const text = run.map((block) => typed.get(block) ?? block.text).join('\n')
      if (text.trim() !== '') joined.push({ type: 'code', text })
    } else for (const block of run) joined.push(block)
    start = end
  }
  return joined
}
