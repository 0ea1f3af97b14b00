import stringWidth from 'string-width'

const characters = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
/** Each of these takes one column; most words are made of nothing else. */
const PLAIN = /^[\x20-\x7e]*$/

/** Cuts a text into lines of at most `width` columns, at spaces where a word fits into a line. Nothing is left out but those spaces. */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line.replaceAll('\t', '  '), Math.max(1, width)).lines)
}

/** A text that grows at its end, wrapped as far as it has come. */
export interface WrappedText {
  readonly width: number
  readonly lines: readonly string[]
  /** how many of the lines no longer change, whatever follows */
  readonly settled: number
  /** the text of the lines that are not settled */
  readonly open: string
}

/** The same lines as `wrap` gives of the whole text, where only the last of those of before is wrapped again. */
export function wrapMore(before: WrappedText | undefined, added: string, width: number): WrappedText {
  const known = before?.width === width ? before : { width, lines: [], settled: 0, open: '' }
  const lines = known.lines.slice(0, known.settled)
  const parts = (known.open + added.replaceAll('\t', '  ')).split('\n')
  const last = parts.pop() ?? ''
  for (const part of parts) lines.push(...wrapLine(part, Math.max(1, width)).lines)
  const wrapped = wrapLine(last, Math.max(1, width))
  const settled = lines.length + wrapped.lines.length - 1
  return { width, lines: [...lines, ...wrapped.lines], settled, open: last.slice(wrapped.lastAt) }
}

/** @returns at least one line, and where the last one begins in the text */
function wrapLine(line: string, width: number): { lines: string[]; lastAt: number } {
  if (columnsOf(line) <= width) return { lines: [line.trimEnd()], lastAt: 0 }
  const lines: string[] = []
  let current = ''
  let currentAt = 0
  let used = 0
  let lastAt = 0
  const push = (text: string, at: number) => {
    lines.push(text)
    lastAt = at
  }
  for (const { 0: word, index: at } of line.matchAll(/\s+|\S+/g)) {
    const size = columnsOf(word)
    if (current === '') currentAt = at
    if (used + size <= width) {
      current += word
      used += size
      continue
    }
    if (current !== '') push(current.trimEnd(), currentAt)
    if (/^\s/.test(word)) {
      current = ''
      used = 0
      continue
    }
    const pieces = cut(word, width)
    currentAt = at
    for (const piece of pieces.slice(0, -1)) {
      push(piece, currentAt)
      currentAt += piece.length
    }
    current = pieces.at(-1) ?? ''
    used = columnsOf(current)
  }
  if (current.trim() !== '' || lines.length === 0) push(current.trimEnd(), currentAt)
  return { lines, lastAt }
}

function columnsOf(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text)
}

/** Pieces of a word that fit, cut between characters. */
function cut(word: string, width: number): string[] {
  const pieces: string[] = []
  let piece = ''
  let used = 0
  for (const { segment } of characters.segment(word)) {
    const size = columnsOf(segment)
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
