import type { Block, Parser } from '../parsed.js'
import { iterateLines } from './text.js'

/** Bounds of a block, which consists of complete lines. */
const MAX_BLOCK_LINES = 60
const MAX_BLOCK_CHARACTERS = 6000
/** A longer line is truncated: a memory dump in a log is no text. */
const MAX_LINE_LENGTH = 10_000
const TIME_SEARCH_LENGTH = 300

/** Times of logs: ISO, with slashes, of Apache, of syslog, of Java, and a time without a date. */
const TIME_PATTERNS: readonly RegExp[] = [
  /(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})/,
  /(\d{4}\/\d{2}\/\d{2}) (\d{2}:\d{2})/,
  /\[?(\d{1,2}\/[A-Z][a-z]{2}\/\d{4}):(\d{2}:\d{2})/,
  /^(?:<\d{1,3}>)?([A-Z][a-z]{2} {1,2}\d{1,2}) (\d{2}:\d{2})/,
  /^\[?(\d{2}[./-]\d{2}[./-]\d{2,4})[ ,]+(\d{2}:\d{2})/,
  /^\[?()(\d{2}:\d{2}:\d{2})/,
]

/**
 * Reads logs: complete lines, with a section for each hour that has some. Lines without a time belong to the one above.
 */
export const logParser: Parser = {
  parse(input) {
    const text = input.text()
    const pattern = findTimePattern(text)
    const { blocks, first, last } = splitLog(text, pattern)
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks,
      metadata: first === undefined ? {} : { firstTime: first, lastTime: last },
    }
  },
}

/** Whether at least half of the first lines of a text begin with a time. */
export function looksLikeLog(text: string): boolean {
  return findTimePattern(text) !== undefined
}

function findTimePattern(text: string): RegExp | undefined {
  const firstLines: string[] = []
  for (const line of iterateLines(text.slice(0, 20_000))) {
    if (line.trim() !== '') firstLines.push(line.slice(0, 100))
    if (firstLines.length >= 60) break
  }
  if (firstLines.length < 4) return undefined
  return TIME_PATTERNS.find(
    (pattern) => firstLines.filter((line) => (line.search(pattern) + 1 || 100) <= 40).length >= firstLines.length * 0.5,
  )
}

function splitLog(text: string, pattern: RegExp | undefined): { blocks: Block[]; first?: string; last?: string } {
  const blocks: Block[] = []
  let pendingLines: string[] = []
  let size = 0
  let section = ''
  let first: string | undefined
  let last: string | undefined
  const flush = (): void => {
    if (pendingLines.length > 0) blocks.push({ type: 'list', text: pendingLines.join('\n') })
    pendingLines = []
    size = 0
  }
  for (const line of iterateLines(text)) {
    const time = pattern?.exec(line.slice(0, TIME_SEARCH_LENGTH))
    if (time !== null && time !== undefined) {
      const [, day = '', clock = ''] = time
      const moment = `${day} ${clock}`.trim()
      first ??= moment
      last = moment
      const hour = `${day} ${clock.slice(0, 2)}:00`.trim()
      if (hour !== section) {
        flush()
        section = hour
        blocks.push({ type: 'heading', text: hour, level: 1, tocSource: 'time', silent: true })
      } else if (pendingLines.length >= MAX_BLOCK_LINES || size > MAX_BLOCK_CHARACTERS) flush()
    } else if (pendingLines.length >= MAX_BLOCK_LINES * 4 || size > MAX_BLOCK_CHARACTERS * 4) flush()
    if (line.trim() === '') continue
    pendingLines.push(line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}…` : line.trimEnd())
    size += line.length
  }
  flush()
  return first === undefined ? { blocks } : { blocks, first, last: last ?? first }
}
