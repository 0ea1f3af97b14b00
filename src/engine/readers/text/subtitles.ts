import type { Block, Parser } from '../parsed.js'
import { iterateLines } from './text.js'

/** Cues are joined to paragraphs of about this many characters, then up to the end of a sentence. */
const TARGET_PARAGRAPH_LENGTH = 400
const MAX_PARAGRAPH_LENGTH = 900
/** A pause this long ends a paragraph. */
const MIN_PAUSE_MS = 4000
/** Duration of a section, which is named in citations. */
const SECTION_MS = 120_000
const MAX_HOURS = 10_000

const CUE_TIMES = /^\s*((?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*((?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3})/
const VOICE = /<v(?:\.[^\s>]{0,60})?\s([^>]{1,80})>/g

export interface SubtitleCue {
  start: number
  end: number
  text: string
}

/** Reads subtitles, WebVTT and SubRip: cues joined to paragraphs with their times, in sections of two minutes. */
export const subtitlesParser: Parser = {
  parse(input) {
    const cues = parseCues(input.text())
    const duration = cues.reduce((last, cue) => Math.max(last, cue.end), 0)
    return {
      parser: 'unstructured',
      contentType: 'text',
      blocks: toTranscriptBlocks(cues),
      metadata: { cueCount: cues.length, duration: formatClockTime(duration) },
    }
  },
}

/** Parses the cues of subtitles. */
export function parseCues(text: string): SubtitleCue[] {
  const cues: SubtitleCue[] = []
  let cue: SubtitleCue | undefined
  for (const line of iterateLines(text)) {
    const times = CUE_TIMES.exec(line)
    if (times !== null) {
      cue = { start: parseClockTime(times[1] ?? ''), end: parseClockTime(times[2] ?? ''), text: '' }
      cues.push(cue)
    } else if (line.trim() === '') cue = undefined
    else if (cue !== undefined) cue.text = `${cue.text} ${toSpokenText(line)}`.trim()
  }
  // Live subtitles repeat a text over several cues: keep it once.
  return cues.filter((candidate, index) => candidate.text !== '' && candidate.text !== cues[index - 1]?.text)
}

/** A line without its tags, with the speaker before it. */
function toSpokenText(line: string): string {
  return line
    .replace(VOICE, '$1: ')
    .replace(/<[^<>]{0,200}>|\{\\[^{}]{0,100}\}/g, '')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim()
}

export function parseClockTime(time: string): number {
  const [seconds = 0, minutes = 0, hours = 0] = time.replace(',', '.').split(':').map(Number).reverse()
  return Math.round(((Math.min(hours, MAX_HOURS) * 60 + minutes) * 60 + seconds) * 1000)
}

/** Joins cues to paragraphs with their times, in sections. */
export function toTranscriptBlocks(cues: readonly SubtitleCue[]): Block[] {
  const blocks: Block[] = []
  let section = Number.POSITIVE_INFINITY
  let pendingCues: SubtitleCue[] = []
  let size = 0
  const flush = (): void => {
    const [first] = pendingCues
    const end = pendingCues.reduce((last, cue) => Math.max(last, cue.end), 0)
    if (first === undefined) return
    if (Math.floor(first.start / SECTION_MS) !== section) {
      section = Math.floor(first.start / SECTION_MS)
      const text = `${formatClockTime(section * SECTION_MS)} – ${formatClockTime((section + 1) * SECTION_MS)}`
      blocks.push({ type: 'heading', text, level: 1, tocSource: 'time', silent: true })
    }
    const metadata = { startTime: formatClockTime(first.start), endTime: formatClockTime(end) }
    blocks.push({ type: 'paragraph', text: pendingCues.map(({ text }) => text).join(' '), metadata })
    pendingCues = []
    size = 0
  }
  for (const cue of cues) {
    const last = pendingCues.at(-1)
    const afterPause = last !== undefined && cue.start - last.end > MIN_PAUSE_MS
    const isFull =
      size > MAX_PARAGRAPH_LENGTH || (size > TARGET_PARAGRAPH_LENGTH && /[.!?。！？…]["'”’)]?$/.test(last?.text ?? ''))
    if (afterPause || isFull) flush()
    pendingCues.push(cue)
    size += cue.text.length
  }
  flush()
  return blocks
}

/** `01:02:03` */
export function formatClockTime(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => String(part).padStart(2, '0'))
    .join(':')
}
