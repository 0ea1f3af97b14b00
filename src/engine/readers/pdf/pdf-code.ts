import type { PdfLine } from './pdf-lines.js'

/** A document with a larger fraction of fixed-width letters is typewritten: in it, the font does not mark code. */
const MAX_MONO_FRACTION = 0.5
/**
 * In text sizes: a larger step between baselines contains an empty line; a step of the second size separates two code
 * blocks.
 */
const MIN_EMPTY_LINE_STEP = 1.9
const MIN_BLOCK_STEP = 3.2
/** Fewer lines are a name or a command in the text. */
const MIN_LINES = 2
const MAX_INDENT = 40

/** Marks lines in a fixed-width font as code. Lines between them without any letter are code, too. */
export function markCode(pages: readonly { lines: readonly PdfLine[] }[]): void {
  let total = 0
  let mono = 0
  for (const { lines } of pages)
    for (const { text, look, table } of lines) {
      // fonts of tables are unknown
      if (table !== undefined) continue
      total += text.length
      if (look?.mono === true) mono += text.length
    }
  if (mono === 0 || mono > total * MAX_MONO_FRACTION) return
  for (const { lines } of pages)
    for (const [index, line] of lines.entries())
      if (
        isSetAsCode(line) ||
        (line.look === undefined && lines[index - 1]?.code === true && continuesWithoutLetters(line, lines[index - 1]))
      )
        line.code = true
}

function isSetAsCode({ look, table, turned, confidences }: PdfLine): boolean {
  return look?.mono === true && table === undefined && !turned && confidences === undefined
}

function continuesWithoutLetters(line: PdfLine, last: PdfLine | undefined): boolean {
  return last !== undefined && !/[\p{L}\p{N}]/u.test(line.text) && continuesCode(line, last)
}

/** Whether a line of code belongs to the line before it. */
export function continuesCode(line: PdfLine, last: PdfLine): boolean {
  const drop = last.y - line.y
  return drop > 0 && drop < MIN_BLOCK_STEP * Math.max(line.size, last.size)
}

/** Formats lines of code with their indentation; undefined when they are not code. */
export function formatCode(lines: readonly PdfLine[]): string | undefined {
  if (lines.length < MIN_LINES || !lines.every(({ code }) => code === true)) return undefined
  // web and mail addresses are set in such fonts, too
  if (lines.every(({ text }) => /^\S+@\S+$|^(?:https?|ftp):\S+$/.test(text))) return undefined
  const left = lines.reduce((min, line) => Math.min(min, line.left), Number.POSITIVE_INFINITY)
  const widths = lines.map((line) => (line.right - line.left) / Math.max(1, line.text.length)).sort((a, b) => a - b)
  const width = widths[widths.length >> 1] ?? 0
  const rows: string[] = []
  let last: PdfLine | undefined
  for (const line of lines) {
    const step = last === undefined ? 0 : (last.y - line.y) / Math.max(line.size, 1)
    if (step > MIN_EMPTY_LINE_STEP) rows.push('')
    const indent = width > 0 ? Math.round((line.left - left) / width) : 0
    rows.push(' '.repeat(Math.min(MAX_INDENT, Math.max(0, indent))) + line.text)
    last = line
  }
  return rows.join('\n')
}
