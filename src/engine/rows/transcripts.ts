import { isRecord } from '../../lib/json/values.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { othersThan } from './gateways.js'
import { keepOcrPages, type OcrOwner } from './ocr-pages.js'

/* Transcripts of recordings, stored like OCR pages: a recording is one page, and the model its engine. */

const PREFIX = 'transcript '

/** The transcript of a recording, and its model, as `pluginId/provider/model`. */
export interface KeptTranscript {
  model: string
  text: string
  segments?: { start: number; end: number; text: string }[]
}

/** The transcript of a recording; undefined if there is none, or if its row is damaged. */
export function* keptTranscript({ key, space_key }: OcrOwner): Read<KeptTranscript | undefined> {
  const row = yield* sql.get<{ engine: string; text: string }>(
    'SELECT engine, text FROM ocr_pages WHERE doc_key = ? AND space_key = ? AND page = 1',
    [key, space_key],
  )
  if (row?.engine.startsWith(PREFIX) !== true) return undefined
  const kept: unknown = fromCell(row.text)
  if (!isRecord(kept) || typeof kept.text !== 'string') return undefined
  const segments = Array.isArray(kept.segments) ? kept.segments.filter(isSegment) : []
  return { model: row.engine.slice(PREFIX.length), text: kept.text, ...(segments.length === 0 ? {} : { segments }) }
}

/** Stores the transcript of a recording in place of an earlier one; nothing for a deleted document. */
export function* keepTranscript(owner: OcrOwner, { model, ...said }: KeptTranscript): Write<void> {
  yield* keepOcrPages(owner, PREFIX + model, [{ page: 1, ...said }])
}

/**
 * Makes jobs due that a crash left waiting for a model, unless other gateways are running: those may be transcribing
 * them. Jobs that failed before keep their delay.
 */
export function* hurryRecordings(gateway: string): Write<void> {
  if (!(yield* othersThan(gateway)))
    yield* sql.run(
      `UPDATE jobs SET run_after = 0 WHERE completed_at IS NULL AND claimed_by IS NULL AND run_after > 0
         AND attempts = 0 AND waits = 0`,
    )
}

function isSegment(value: unknown): value is { start: number; end: number; text: string } {
  return (
    isRecord(value) &&
    typeof value.start === 'number' &&
    typeof value.end === 'number' &&
    typeof value.text === 'string'
  )
}
