import type { Block, Parser } from '../parsed.js'
import { lines } from './text.js'

/** Bounds of a block, which consists of complete lines. */
const BLOCK_LINES = 60
const BLOCK_CHARACTERS = 6000
/** A longer line is truncated: a memory dump in a log is no text. */
const MAX_LINE = 10_000
const HEAD = 300

/** Times of logs: ISO, with slashes, of Apache, of syslog, of Java, and a time without a date. */
const TIMES: readonly RegExp[] = [
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
  accepts: (mediaType) => mediaType === 'text/x-log',
  parse(input) {
    const text = input.text()
    const pattern = timePattern(text)
    const { blocks, first, last } = logBlocks(text, pattern)
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
  return timePattern(text) !== undefined
}

function timePattern(text: string): RegExp | undefined {
  const first: string[] = []
  for (const line of lines(text.slice(0, 20_000))) {
    if (line.trim() !== '') first.push(line.slice(0, 100))
    if (first.length >= 60) break
  }
  if (first.length < 4) return undefined
  return TIMES.find(
    (pattern) => first.filter((line) => (line.search(pattern) + 1 || 100) <= 40).length >= first.length * 0.5,
  )
}

function logBlocks(text: string, pattern: RegExp | undefined): { blocks: Block[]; first?: string; last?: string } {
  const blocks: Block[] = []
  let held: string[] = []
  let size = 0
  let section = ''
  let first: string | undefined
  let last: string | undefined
  const flush = (): void => {
    if (held.length > 0) blocks.push({ type: 'list', text: held.join('\n') })
    held = []
    size = 0
  }
  for (const line of lines(text)) {
    const time = pattern?.exec(line.slice(0, HEAD))
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
      } else if (held.length >= BLOCK_LINES || size > BLOCK_CHARACTERS) flush()
    } else if (held.length >= BLOCK_LINES * 4 || size > BLOCK_CHARACTERS * 4) flush()
    if (line.trim() === '') continue
    held.push(line.length > MAX_LINE ? `${line.slice(0, MAX_LINE)}…` : line.trimEnd())
    size += line.length
  }
  flush()
  return first === undefined ? { blocks } : { blocks, first, last: last ?? first }
}
