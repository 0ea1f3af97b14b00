import { formatCount, pluralize } from '../../lib/text/pluralize.js'
import { type ProgressView, renderBar } from '../progress.js'
import type { Symbols } from '../terminal.js'
import { formatBytes, formatDuration } from '../units.js'

/** Progress of an ingest: the run writes it, the display reads it. */
export interface IngestCounts {
  total: number
  /** Files that were hashed and compared with the space. */
  checked: number
  unchanged: number
  filesToSend: number
  filesSent: number
  bytesToSend: number
  bytesSent: number
  published: number
  /** Documents that ended in bulk jobs that are still running. */
  endedInBulk: number
  failed: number
  /** Documents whose compilation is followed; 0 without `--wait`. */
  followed: number
  /** Files that take long to read, with their progress: `report.pdf, page 120 of 872`. */
  reading: string[]
  /** Start of the ingest in milliseconds since the epoch. */
  startedAt: number
}

export function createIngestCounts(total: number): IngestCounts {
  return {
    total,
    checked: 0,
    unchanged: 0,
    filesToSend: 0,
    filesSent: 0,
    bytesToSend: 0,
    bytesSent: 0,
    published: 0,
    endedInBulk: 0,
    failed: 0,
    followed: 0,
    reading: [],
    startedAt: Date.now(),
  }
}

const BAR_WIDTH = 18
/** Minimum time before a speed is shown. */
const MIN_SPEED_MS = 1000

/** Renders the lines of the live display and the plain line for logs. */
export function renderIngest(counts: IngestCounts, symbols: Symbols, now = Date.now()): ProgressView {
  const lines: string[] = []
  if (counts.checked < counts.total) {
    lines.push(
      `Checking   ${renderBar(counts.checked / counts.total, BAR_WIDTH, symbols)}  ${formatCount(counts.checked)} of ${pluralize(counts.total, 'file')}`,
    )
  }
  if (counts.filesToSend > 0 && counts.filesSent < counts.filesToSend) {
    const fraction = counts.bytesSent / Math.max(1, counts.bytesToSend)
    const size = `${formatBytes(counts.bytesSent)} of ${formatBytes(counts.bytesToSend)}`
    const parts = [
      `${formatCount(counts.filesSent)} of ${pluralize(counts.filesToSend, 'file')}`,
      size,
      ...formatSpeed(counts, now),
    ]
    lines.push(`Uploading  ${renderBar(fraction, BAR_WIDTH, symbols)}  ${parts.join(' · ')}`)
  }
  if (counts.followed > 0) {
    const done = counts.published + counts.endedInBulk
    lines.push(
      `Reading    ${renderBar(done / counts.followed, BAR_WIDTH, symbols)}  ${formatCount(done)} of ${pluralize(counts.followed, 'document')}`,
    )
  }
  for (const file of counts.reading) lines.push(`           ${file}`)
  if (counts.failed > 0) lines.push(`${symbols.warn} ${formatCount(counts.failed)} failed`)
  const failed = counts.failed > 0 ? `, ${formatCount(counts.failed)} failed` : ''
  const published = counts.followed > 0 ? `, ${formatCount(counts.published + counts.endedInBulk)} published` : ''
  const reading = counts.reading.length > 0 ? `, reading ${counts.reading.join('; ')}` : ''
  const plain = `ingest: ${formatCount(counts.filesSent)} of ${formatCount(counts.filesToSend)} uploaded, ${formatCount(counts.unchanged)} unchanged${published}${failed}${reading}`
  return { lines, plain }
}

function formatSpeed(counts: IngestCounts, now: number): string[] {
  const elapsedMs = now - counts.startedAt
  if (elapsedMs < MIN_SPEED_MS || counts.bytesSent === 0) return []
  const bytesPerMs = counts.bytesSent / elapsedMs
  const remainingMs = (counts.bytesToSend - counts.bytesSent) / bytesPerMs
  return [`${formatBytes(bytesPerMs * 1000)}/s`, `${formatDuration(remainingMs)} left`]
}
