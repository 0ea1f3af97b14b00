import type { Block, Parser } from '../parsed.js'

/** A paragraph of this length without a blank line is split at a line end: logs and lists have none. */
const MAX_PARAGRAPH_LENGTH = 12_000

/** Headings of plain text are short separate lines. */
const MAX_HEADING_LENGTH = 80

/** Reads plain text: paragraphs between blank lines, and the few unmistakable headings. */
export const textParser: Parser = {
  parse: (input) => ({
    parser: 'unstructured',
    contentType: 'text',
    blocks: readProseBlocks(input.text()),
    metadata: {},
  }),
}

/** Splits a text into paragraphs and headings. Lines do not change. */
export function readProseBlocks(text: string): Block[] {
  const blocks: Block[] = []
  let pendingLines: string[] = []
  let size = 0
  const flush = (): void => {
    if (pendingLines.length > 0) blocks.push(...toParagraphBlocks(pendingLines))
    pendingLines = []
    size = 0
  }
  for (const line of iterateLines(text)) {
    if (line.trim() === '') {
      flush()
      continue
    }
    if (size + line.length > MAX_PARAGRAPH_LENGTH) flush()
    pendingLines.push(line.trimEnd())
    size += line.length
  }
  flush()
  return blocks
}

function toParagraphBlocks(paragraph: string[]): Block[] {
  const [first = '', second = '', ...rest] = paragraph
  if (isUnderline(second, first)) {
    const level = second.trim().startsWith('=') ? 1 : 2
    const heading: Block = { type: 'heading', text: first, level }
    return rest.length === 0 ? [heading] : [heading, { type: 'paragraph', text: rest.join('\n') }]
  }
  if (paragraph.length === 1) {
    const level = getHeadingLevel(first.trim())
    if (level > 0) return [{ type: 'heading', text: first, level }]
  }
  return [{ type: 'paragraph', text: paragraph.join('\n') }]
}

/** Whether a line is `=====` or `-----`, about as long as the line above. */
function isUnderline(line: string, above: string): boolean {
  const mark = line.trim()
  if (mark.length < 3 || above.trim().length > MAX_HEADING_LENGTH || !/^(?:=+|-+)$/.test(mark)) return false
  return Math.abs(mark.length - above.trim().length) <= 3
}

/** `CHAPTER IV`, `Part 2: The Sea` are level 1; a line in capitals level 2; anything else is no heading (0). */
function getHeadingLevel(line: string): number {
  if (line.length > MAX_HEADING_LENGTH || /[.,;!?]$/.test(line)) return 0
  if (/^(?:chapter|part|book|appendix|kapitel|teil|chapitre|partie)\s+(?:[\dIVXLC]+|[A-Z])\b/i.test(line)) return 1
  const letters = line.replace(/[^\p{L}]/gu, '')
  if (letters.length < 4 || letters !== letters.toUpperCase() || letters === letters.toLowerCase()) return 0
  return /^[\p{L}\d][\p{L}\d\s'’:&().,/-]*$/u.test(line) ? 2 : 0
}

/** Iterates over the lines of a text without an array of all of them. */
export function* iterateLines(text: string): Generator<string> {
  let start = 0
  for (;;) {
    const end = text.indexOf('\n', start)
    if (end === -1) break
    yield text.charCodeAt(end - 1) === 13 ? text.slice(start, end - 1) : text.slice(start, end)
    start = end + 1
  }
  if (start < text.length) yield text.slice(start)
}
