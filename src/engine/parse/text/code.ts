import { languageOfFile } from '../languages.js'
import type { Block, Parser } from '../parsed.js'
import { lines } from './text.js'

/** Declarations are gathered up to this many lines, so that a passage is more than a one-line import. */
const ENOUGH_LINES = 25
const MAX_LINES = 120
const MAX_CHARACTERS = 6000

/** Reads source code: elements are runs of top-level declarations, cut where a blank line meets the left margin. */
export const codeParser: Parser = {
  accepts: (mediaType) =>
    mediaType.startsWith('text/x-') || mediaType === 'text/css' || mediaType === 'text/javascript',
  parse(input) {
    const language = languageOfFile(input.filename) ?? input.mediaType.replace(/^text\/(?:x-)?/, '')
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: codeBlocks(input.text(), language),
      metadata: { programmingLanguage: language },
    }
  },
}

function codeBlocks(text: string, language: string): Block[] {
  const blocks: Block[] = []
  let held: string[] = []
  let size = 0
  let blank = false
  const flush = (): void => {
    if (size > 0) blocks.push({ type: 'code', text: held.join('\n'), metadata: { language } })
    held = []
    size = 0
  }
  for (const line of lines(text)) {
    const empty = line.trim() === ''
    const topLevel = blank && !empty && !/^[\s})\]]/.test(line)
    if ((topLevel && held.length >= ENOUGH_LINES) || held.length >= MAX_LINES || size > MAX_CHARACTERS) flush()
    held.push(line.trimEnd())
    if (!empty) size += line.length
    blank = empty
  }
  flush()
  return blocks
}
