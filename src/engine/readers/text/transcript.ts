import { isRecord } from '../../../lib/json/values.js'
import type { RecordedSpeech } from '../../store/compiled.js'
import { ReadError } from '../limits.js'
import type { Block, ParsedDocument, ParserInput } from '../parsed.js'
import { formatClockTime, parseClockTime, parseCues, type SubtitleCue, toTranscriptBlocks } from './subtitles.js'
import { iterateLines } from './text.js'

const TIME = '((?:\\d{1,4}:)?\\d{1,2}:\\d{2}[.,]\\d{1,3})'
/** lines of the output of Whisper programs: `[00:01.000 --> 00:04.500] Good morning.` */
const TIMED_LINE = new RegExp(`^\\s{0,20}\\[${TIME}\\s{0,5}-->\\s{0,5}${TIME}\\](.*)$`)
/** maximum duration of a recording in seconds; longer times are invalid */
const MAX_DURATION_S = 10_000 * 3600

/** A parser for the transcript of a recording: like subtitles, with times where there are some. */
export function createTranscriptParser(speech: RecordedSpeech): { parse(input: ParserInput): ParsedDocument } {
  return {
    parse({ filename }) {
      const { cues, text } = parseTranscript(speech)
      const blocks = cues.length > 0 ? toTranscriptBlocks(cues) : splitParagraphs(text)
      if (blocks.length === 0)
        throw new ReadError('empty', `${filename}: ${speech.by} found no speech that could be transcribed`)
      const duration = cues.reduce((last, { end }) => Math.max(last, end), 0)
      const times = cues.length === 0 ? {} : { cueCount: cues.length, duration: formatClockTime(duration) }
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
function parseTranscript({ text, segments = [] }: RecordedSpeech): { cues: SubtitleCue[]; text: string } {
  const segmentCues = parseSegmentCues(segments)
  if (segmentCues.length > 0) return { cues: segmentCues, text: '' }
  const jsonCues = /^\s*[{[]/.test(text) ? parseJsonCues(text) : undefined
  if (jsonCues !== undefined) return jsonCues
  const lineCues = parseLineCues(text)
  return { cues: lineCues.length > 0 ? lineCues : parseCues(text), text: text.replace(/^\uFEFF?WEBVTT.*$/m, '') }
}

function parseLineCues(text: string): SubtitleCue[] {
  const cues: SubtitleCue[] = []
  for (const line of iterateLines(text)) {
    const [, start, end, words = ''] = TIMED_LINE.exec(line) ?? []
    if (start === undefined || end === undefined) continue
    if (words.trim() !== '') cues.push({ start: parseClockTime(start), end: parseClockTime(end), text: words.trim() })
  }
  return cues
}

/** Parses JSON of Whisper and whisper.cpp; `undefined` for text that only begins like JSON. */
function parseJsonCues(text: string): { cues: SubtitleCue[]; text: string } | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (Array.isArray(value)) return { cues: parseSegmentCues(value), text: '' }
  if (!isRecord(value)) return undefined
  const cues = parseSegmentCues(value.segments ?? value.transcription)
  const fullText = typeof value.text === 'string' ? value.text : ''
  return { cues, text: fullText }
}

function parseSegmentCues(segments: unknown): SubtitleCue[] {
  if (!Array.isArray(segments)) return []
  return segments.flatMap((segment): SubtitleCue[] => {
    if (!isRecord(segment) || typeof segment.text !== 'string' || segment.text.trim() === '') return []
    // whisper.cpp counts milliseconds in a separate object.
    const { from, to } = isRecord(segment.offsets)
      ? segment.offsets
      : { from: toMilliseconds(segment.start), to: toMilliseconds(segment.end) }
    const start = clampTime(from)
    const speaker =
      typeof segment.speaker === 'string' && segment.speaker !== '' ? `${segment.speaker.slice(0, 80)}: ` : ''
    return [{ start, end: Math.max(start, clampTime(to)), text: speaker + segment.text.trim() }]
  })
}

function toMilliseconds(seconds: unknown): number {
  return typeof seconds === 'number' ? seconds * 1000 : 0
}

function clampTime(ms: unknown): number {
  return typeof ms === 'number' && Number.isFinite(ms)
    ? Math.round(Math.min(Math.max(0, ms), MAX_DURATION_S * 1000))
    : 0
}

function splitParagraphs(text: string): Block[] {
  return text.split(/\n[ \t]*\n/).flatMap((part): Block[] => {
    const words = part.replace(/\s+/g, ' ').trim()
    return words === '' ? [] : [{ type: 'paragraph', text: words }]
  })
}
