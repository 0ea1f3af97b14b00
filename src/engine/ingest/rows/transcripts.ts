import { isRecord } from '../../../lib/json/values.js'
import { type Read, sql, type Write } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { hasOtherGateways } from '../../store/rows/gateways.js'
import { type OcrDocument, type OcrFile, storeOcrPages } from '../../store/rows/ocr-pages.js'

/* Transcripts of recordings, stored like OCR pages: a recording is one page, and the model its engine. */

const PREFIX = 'transcript '

/** The transcript of a recording, and its model, as `pluginId/provider/model`. */
export interface StoredTranscript {
  model: string
  text: string
  segments?: { start: number; end: number; text: string }[]
}

/** The transcript of a recording; undefined if there is none, or if its row is damaged. */
export function* findTranscript({ key, space_key }: OcrDocument): Read<StoredTranscript | undefined> {
  const row = yield* sql.get<{ engine: string; text: string }>(
    'SELECT engine, text FROM ocr_pages WHERE doc_key = ? AND space_key = ? AND page = 1',
    [key, space_key],
  )
  if (row?.engine.startsWith(PREFIX) !== true) return undefined
  const stored: unknown = parseJsonCell(row.text)
  if (!isRecord(stored) || typeof stored.text !== 'string') return undefined
  const segments = Array.isArray(stored.segments) ? stored.segments.filter(isSegment) : []
  return { model: row.engine.slice(PREFIX.length), text: stored.text, ...(segments.length === 0 ? {} : { segments }) }
}

/** Stores the transcript of a recording in place of an earlier one; nothing for a deleted document. */
export function* storeTranscript(document: OcrFile, { model, ...content }: StoredTranscript): Write<void> {
  yield* storeOcrPages(document, PREFIX + model, [{ page: 1, ...content }])
}

/**
 * Makes jobs due that a crash left waiting for a model, unless other gateways are running: those may be transcribing
 * them. Jobs that failed before keep their delay.
 */
export function* retryRecordingsNow(gateway: string): Write<void> {
  if (!(yield* hasOtherGateways(gateway)))
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
