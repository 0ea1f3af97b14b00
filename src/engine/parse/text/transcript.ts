import { isRecord } from '../../../lib/json/values.js'
import type { RecordedSpeech } from '../compiled.js'
import { ReadError } from '../limits.js'
import type { Block, Parsed, ParserInput } from '../parsed.js'
import { type Cue, clock, cuesOf, milliseconds, transcriptBlocks } from './subtitles.js'
import { lines } from './text.js'

const TIME = '((?:\\d{1,4}:)?\\d{1,2}:\\d{2}[.,]\\d{1,3})'
/** lines of the output of Whisper programs: `[00:01.000 --> 00:04.500] Good morning.` */
const TIMED_LINE = new RegExp(`^\\s{0,20}\\[${TIME}\\s{0,5}-->\\s{0,5}${TIME}\\](.*)$`)
/** maximum duration of a recording in seconds; longer times are invalid */
const LONGEST = 10_000 * 3600

/** A parser for the transcript of a recording: like subtitles, with times where there are some. */
export function transcriptParser(speech: RecordedSpeech): { parse(input: ParserInput): Parsed } {
  return {
    parse({ filename }) {
      const { cues, text } = said(speech)
      const blocks = cues.length > 0 ? transcriptBlocks(cues) : paragraphs(text)
      if (blocks.length === 0)
        throw new ReadError('empty', `${filename}: ${speech.by} found no speech that could be transcribed`)
      const duration = cues.reduce((last, { end }) => Math.max(last, end), 0)
      const times = cues.length === 0 ? {} : { cueCount: cues.length, duration: clock(duration) }
      return {
        parser: 'unstructured',
        contentType: 'text',
        blocks,
        metadata: { ...times, transcript: { by: speech.by } },
      }
    },
  }
}

/** Parses a transcript to cues, or to text where it has no times. */
function said({ text, segments = [] }: RecordedSpeech): { cues: Cue[]; text: string } {
  const timed = cuesOfSegments(segments)
  if (timed.length > 0) return { cues: timed, text: '' }
  const json = /^\s*[{[]/.test(text) ? cuesOfJson(text) : undefined
  if (json !== undefined) return json
  const lined = cuesOfLines(text)
  return { cues: lined.length > 0 ? lined : cuesOf(text), text: text.replace(/^\uFEFF?WEBVTT.*$/m, '') }
}

function cuesOfLines(text: string): Cue[] {
  const cues: Cue[] = []
  for (const line of lines(text)) {
    const [, start, end, words = ''] = TIMED_LINE.exec(line) ?? []
    if (start === undefined || end === undefined) continue
    if (words.trim() !== '') cues.push({ start: milliseconds(start), end: milliseconds(end), text: words.trim() })
  }
  return cues
}

/** Parses JSON of Whisper and whisper.cpp; `undefined` for text that only begins like JSON. */
function cuesOfJson(text: string): { cues: Cue[]; text: string } | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  if (Array.isArray(json)) return { cues: cuesOfSegments(json), text: '' }
  if (!isRecord(json)) return undefined
  const cues = cuesOfSegments(json.segments ?? json.transcription)
  const whole = typeof json.text === 'string' ? json.text : ''
  return { cues, text: whole }
}

function cuesOfSegments(segments: unknown): Cue[] {
  if (!Array.isArray(segments)) return []
  return segments.flatMap((one): Cue[] => {
    if (!isRecord(one) || typeof one.text !== 'string' || one.text.trim() === '') return []
    // whisper.cpp counts milliseconds in a separate object.
    const { from, to } = isRecord(one.offsets) ? one.offsets : { from: of(one.start), to: of(one.end) }
    const start = within(from)
    const speaker = typeof one.speaker === 'string' && one.speaker !== '' ? `${one.speaker.slice(0, 80)}: ` : ''
    return [{ start, end: Math.max(start, within(to)), text: speaker + one.text.trim() }]
  })
}

function of(seconds: unknown): number {
  return typeof seconds === 'number' ? seconds * 1000 : 0
}

function within(ms: unknown): number {
  return typeof ms === 'number' && Number.isFinite(ms) ? Math.round(Math.min(Math.max(0, ms), LONGEST * 1000)) : 0
}

function paragraphs(text: string): Block[] {
  return text.split(/\n[ \t]*\n/).flatMap((part): Block[] => {
    const words = part.replace(/\s+/g, ' ').trim()
    return words === '' ? [] : [{ type: 'paragraph', text: words }]
  })
}
