import { isRecord } from '../../lib/json/values.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { othersThan } from './gateways.js'
import { keepOcrPages, type OcrOwner } from './ocr-pages.js'

/*
 * What is said in recordings. It is kept as what was read in pictures is: a recording is one page, and the model its engine.
 */

const PREFIX = 'transcript '

/** What was written down of a recording, and by which model, as `pluginId/provider/model`. */
export interface KeptTranscript {
  model: string
  text: string
  segments?: { start: number; end: number; text: string }[]
}

/** What was written down of a recording, if something was. A damaged row is none. */
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

/** Keeps what is said in a recording, in place of what was kept of it; of a document that is gone, nothing. */
export function* keepTranscript(owner: OcrOwner, { model, ...said }: KeptTranscript): Write<void> {
  yield* keepOcrPages(owner, PREFIX + model, [{ page: 1, ...said }])
}

/**
 * Jobs that a death of the process left waiting for a model are due at once, where nobody else may be listening for them.
 * What failed before keeps its pause.
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
