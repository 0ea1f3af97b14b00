import stringWidth from 'string-width'

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** One column per character; most words match. */
const ASCII_ONLY = /^[\x20-\x7e]*$/

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
  let usedColumns = 0
  for (const [word] of line.matchAll(/\s+|\S+/g)) {
    const columns = countColumns(word)
    if (usedColumns + columns <= width) {
      current += word
      usedColumns += columns
      continue
    }
    if (current !== '') lines.push(current.trimEnd())
    if (/^\s/.test(word)) {
      current = ''
      usedColumns = 0
      continue
    }
    const parts = splitWord(word, width)
    lines.push(...parts.slice(0, -1))
    current = parts.at(-1) ?? ''
    usedColumns = countColumns(current)
  }
  if (current.trim() !== '' || lines.length === 0) lines.push(current.trimEnd())
  return lines
}

function countColumns(text: string): number {
  return ASCII_ONLY.test(text) ? text.length : stringWidth(text)
}

/** Splits a word between characters into pieces that fit. */
function splitWord(word: string, width: number): string[] {
  const parts: string[] = []
  let part = ''
  let usedColumns = 0
  for (const { segment } of characters.segment(word)) {
    const columns = countColumns(segment)
    if (usedColumns + columns > width && part !== '') {
      parts.push(part)
      part = ''
      usedColumns = 0
    }
    part += segment
    usedColumns += columns
  }
  return [...parts, part]
}
