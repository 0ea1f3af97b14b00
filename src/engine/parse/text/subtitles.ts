import type { Block, Parser } from '../parsed.js'
import { lines } from './text.js'

/** Cues are joined to paragraphs of about this many characters, then up to the end of a sentence. */
const PARAGRAPH = 400
const LONGEST_PARAGRAPH = 900
/** A pause this long ends a paragraph. */
const PAUSE_MS = 4000
/** Duration of a section, which is named in citations. */
const SECTION_MS = 120_000
const MAX_HOURS = 10_000

const TIMES = /^\s*((?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3})/
const VOICE = /<v(?:\.[^\s>]{0,60})?\s([^>]{1,80})>/g

export interface Cue {
  start: number
  end: number
  text: string
}

/** Reads subtitles, WebVTT and SubRip: cues joined to paragraphs with their times, in sections of two minutes. */
export const subtitlesParser: Parser = {
  accepts: (mediaType) => mediaType === 'text/vtt' || mediaType === 'application/x-subrip',
  parse(input) {
    const cues = cuesOf(input.text())
    const duration = cues.reduce((last, cue) => Math.max(last, cue.end), 0)
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: transcriptBlocks(cues),
      metadata: { cueCount: cues.length, duration: clock(duration) },
    }
  },
}

/** Parses the cues of subtitles. */
export function cuesOf(text: string): Cue[] {
  const cues: Cue[] = []
  let cue: Cue | undefined
  for (const line of lines(text)) {
    const times = TIMES.exec(line)
    if (times !== null) {
      cue = { start: milliseconds(times[1] ?? ''), end: milliseconds(times[2] ?? ''), text: '' }
      cues.push(cue)
    } else if (line.trim() === '') cue = undefined
    else if (cue !== undefined) cue.text = `${cue.text} ${spoken(line)}`.trim()
  }
  // Live subtitles repeat a text over several cues: keep it once.
  return cues.filter((one, index) => one.text !== '' && one.text !== cues[index - 1]?.text)
}

/** A line without its tags, with the speaker before it. */
function spoken(line: string): string {
  return line
    .replace(VOICE, '$1: ')
    .replace(/<[^<>]{0,200}>|\{\\[^{}]{0,100}\}/g, '')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim()
}

export function milliseconds(time: string): number {
  const [seconds = 0, minutes = 0, hours = 0] = time.replace(',', '.').split(':').map(Number).reverse()
  return Math.round(((Math.min(hours, MAX_HOURS) * 60 + minutes) * 60 + seconds) * 1000)
}

/** Joins cues to paragraphs with their times, in sections. */
export function transcriptBlocks(cues: readonly Cue[]): Block[] {
  const blocks: Block[] = []
  let section = Number.POSITIVE_INFINITY
  let held: Cue[] = []
  let size = 0
  const flush = (): void => {
    const [first] = held
    const end = held.reduce((last, cue) => Math.max(last, cue.end), 0)
    if (first === undefined) return
    if (Math.floor(first.start / SECTION_MS) !== section) {
      section = Math.floor(first.start / SECTION_MS)
      const text = `${clock(section * SECTION_MS)} – ${clock((section + 1) * SECTION_MS)}`
      blocks.push({ type: 'heading', text, level: 1, tocSource: 'time', silent: true })
    }
    const metadata = { startTime: clock(first.start), endTime: clock(end) }
    blocks.push({ type: 'paragraph', text: held.map(({ text }) => text).join(' '), metadata })
    held = []
    size = 0
  }
  for (const cue of cues) {
    const last = held.at(-1)
    const pause = last !== undefined && cue.start - last.end > PAUSE_MS
    const full = size > LONGEST_PARAGRAPH || (size > PARAGRAPH && /[.!?。！？…]["'”’)]?$/.test(last?.text ?? ''))
    if (pause || full) flush()
    held.push(cue)
    size += cue.text.length
  }
  flush()
  return blocks
}

/** `01:02:03` */
export function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}
