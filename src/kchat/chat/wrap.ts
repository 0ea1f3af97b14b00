import stringWidth from 'string-width'

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** One column per character; most words match. */
const PLAIN = /^[\x20-\x7e]*$/

/**
 * Wraps a text to lines of at most `width` columns, at spaces if a word fits in a line. Only those spaces are dropped.
 */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', '  '), Math.max(1, width)))
}

/** @returns at least one line */
function wrapLine(line: string, width: number): string[] {
  if (countColumns(line) <= width) return [line.trimEnd()]
  const lines: string[] = []
  let current = ''
  let used = 0
  for (const [word] of line.matchAll(/\s+|\S+/g)) {
    const size = countColumns(word)
    if (used + size <= width) {
      current += word
      used += size
      continue
    }
    if (current !== '') lines.push(current.trimEnd())
    if (/^\s/.test(word)) {
      current = ''
      used = 0
      continue
    }
    const pieces = splitWord(word, width)
    lines.push(...pieces.slice(0, -1))
    current = pieces.at(-1) ?? ''
    used = countColumns(current)
  }
  if (current.trim() !== '' || lines.length === 0) lines.push(current.trimEnd())
  return lines
}

function countColumns(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text)
}

/** Splits a word between characters into pieces that fit. */
function splitWord(word: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const { segment } of characters.segment(word)) {
    const size = countColumns(segment)
    if (used + size > width && piece !== '') {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += segment
    used += size
  }
  return [...pieces, piece]
}
