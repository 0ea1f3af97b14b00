import { bar, type ProgressView } from '../progress.js'
import type { Symbols } from '../terminal.js'
import { bytes, duration } from '../units.js'

/** Progress of an ingest: the run writes it, the display reads it. */
export interface Counts {
  total: number
  /** Files that were hashed and compared with the space. */
  checked: number
  unchanged: number
  toSend: number
  sent: number
  bytesToSend: number
  bytesSent: number
  published: number
  /** Documents that ended in bulk jobs that are still running. */
  endedElsewhere: number
  failed: number
  waiting: number
  /** Files that take long to read, with their progress: `report.pdf, page 120 of 872`. */
  reading: string[]
  startedAt: number
}

export function newCounts(total: number): Counts {
  return {
    total,
    checked: 0,
    unchanged: 0,
    toSend: 0,
    sent: 0,
    bytesToSend: 0,
    bytesSent: 0,
    published: 0,
    endedElsewhere: 0,
    failed: 0,
    waiting: 0,
    reading: [],
    startedAt: Date.now(),
  }
}

const BAR = 18
/** Minimum time before a speed is shown. */
const SPEED_AFTER_MS = 1000

/** Renders the lines of the live display and the plain line for logs. */
export function ingestView(counts: Counts, marks: Symbols, now = Date.now()): ProgressView {
  const lines: string[] = []
  if (counts.checked < counts.total) {
    lines.push(
      `Checking   ${bar(counts.checked / counts.total, BAR, marks)}  ${counts.checked} of ${counts.total} files`,
    )
  }
  if (counts.toSend > 0 && counts.sent < counts.toSend) {
    const share = counts.bytesSent / Math.max(1, counts.bytesToSend)
    const size = `${bytes(counts.bytesSent)} of ${bytes(counts.bytesToSend)}`
    const parts = [`${counts.sent} of ${counts.toSend} files`, size, ...speed(counts, now)]
    lines.push(`Uploading  ${bar(share, BAR, marks)}  ${parts.join(' · ')}`)
  }
  if (counts.waiting > 0) {
    const done = counts.published + counts.endedElsewhere
    lines.push(`Compiling  ${bar(done / counts.waiting, BAR, marks)}  ${done} of ${counts.waiting}`)
  }
  for (const file of counts.reading) lines.push(`Reading    ${file}`)
  if (counts.failed > 0) lines.push(`${marks.warn} ${counts.failed} failed`)
  const failed = counts.failed > 0 ? `, ${counts.failed} failed` : ''
  const published = counts.waiting > 0 ? `, ${counts.published + counts.endedElsewhere} published` : ''
  const reading = counts.reading.length > 0 ? `, reading ${counts.reading.join('; ')}` : ''
  const plain = `ingest: ${counts.sent}/${counts.toSend} uploaded, ${counts.unchanged} unchanged${published}${failed}${reading}`
  return { lines, plain }
}

function speed(counts: Counts, now: number): string[] {
  const took = now - counts.startedAt
  if (took < SPEED_AFTER_MS || counts.bytesSent === 0) return []
  const perMs = counts.bytesSent / took
  return [`${bytes(perMs * 1000)}/s`, `${duration((counts.bytesToSend - counts.bytesSent) / perMs)} left`]
}
