import { withoutThoughts } from '../../../lib/text/thoughts.js'

/** Length of a text that is spoken at once: short enough to start soon, long enough to sound like a sentence. */
const SHORTEST = 30
const LONGEST = 400

const END = /[.!?…]["')\]]*\s|[。！？]|\n/g

/**
 * Splits complete sentences off the beginning of a text that is still being generated.
 *
 * @param maxChars a text without a sentence end is split at its last space before this many characters
 * @returns the sentences, and the rest
 */
export function takeSentences(text: string, longest: number = LONGEST): { pieces: string[]; rest: string } {
  const pieces: string[] = []
  let from = 0
  let end = 0
  for (const match of text.matchAll(END)) {
    end = match.index + match[0].length
    if (end - from < SHORTEST) continue
    pieces.push(...cut(text.slice(from, end), longest))
    from = end
  }
  const rest = cut(text.slice(from), longest)
  const last = rest.pop() ?? ''
  return { pieces: [...pieces, ...rest], rest: last }
}

/** Splits a complete text into parts that a model accepts. */
export function inPieces(text: string, longest: number): string[] {
  const pieces: string[] = []
  let piece = ''
  const { pieces: sentences, rest } = takeSentences(text, longest)
  for (const sentence of [...sentences, rest]) {
    if (piece !== '' && piece.length + sentence.length > longest) {
      pieces.push(piece)
      piece = ''
    }
    piece += sentence
  }
  return [...pieces, piece].filter((one) => one.trim() !== '')
}

function cut(text: string, longest: number): string[] {
  const pieces: string[] = []
  let left = text
  while (left.length > longest) {
    const space = left.lastIndexOf(' ', longest - 1)
    const at = space > longest / 2 ? space + 1 : longest
    // Never splits a surrogate pair.
    const end = /[\uD800-\uDBFF]/.test(left[at - 1] ?? '') ? at - 1 : at
    pieces.push(left.slice(0, end))
    left = left.slice(end)
  }
  return [...pieces, left]
}

/** The text for reading aloud: without reasoning, code fences, emphasis marks, citation numbers and link addresses. */
export function speakable(text: string): string {
  return withoutThoughts(text)
    .replace(/^\s*```.*$/gm, ' ')
    .replace(/\[\d{1,3}\]/g, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\s{0,3}(#{1,6}|[-*+>])\s+/gm, '')
    .replace(/[*_`~|]+/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
