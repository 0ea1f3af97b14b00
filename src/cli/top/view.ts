import type { Colour } from '../terminal.js'
import { ttyLine } from '../terminal.js'
import { formatBytes, formatCount, formatDuration } from '../units.js'
import { computeFigures, type TopFigures } from './figures.js'
import { flowSegments, renderTopTable, type TopColumn, type TopLine, type TopSegment } from './lines.js'
import type { TopJob, TopReading } from './reading.js'
import { getSelectedSlug, sortSpaces, type TopState } from './state.js'

/** Renders the lines of `ks top` for a terminal of any size. */

const PROGRAM_NAME = 'ks top'
const KEYS_LINE = 'q quit  j/k move  Enter only this space  s sort  p pause  ? keys'
const HELP_LINES = [
  ['q, Ctrl-C', 'quit'],
  ['j, k, arrows', 'select another space; g and G select the first and last'],
  ['Enter, f', 'show only jobs of this space; again, or Esc, shows all'],
  ['s', 'sort spaces by backlog, documents or name'],
  ['p', 'pause; p again continues'],
  ['?', 'show or hide this help'],
] as const
/** Maximum fraction of the screen for the head. */
const MAX_HEAD_FRACTION = 0.4
const SECONDS_FORMAT_MAX_MS = 10_000

export interface ViewSize {
  columns: number
  /** Undefined for no limit. */
  rows: number | undefined
}

/** @param clock current time in milliseconds */
export function renderTop(state: TopState, { columns, rows }: ViewSize, clock: number): TopLine[] {
  const { current } = state
  const maxHeadLines = rows === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(rows * MAX_HEAD_FRACTION))
  const figures = current === undefined ? undefined : computeFigures(current, state.previous)
  const title = flowSegments([renderTitle(state, clock)], columns).slice(0, 1)
  const warnings = listWarnings(state, clock).flatMap((segment) => flowSegments([segment], columns))
  const head =
    current === undefined || figures === undefined
      ? []
      : renderHead(current, figures, clock).flatMap((segments) => flowSegments(segments, columns))
  const top = [
    ...title,
    ...warnings.slice(0, maxHeadLines),
    ...head.slice(0, Math.max(0, maxHeadLines - 1 - warnings.length)),
  ]
  const foot = rows === undefined ? [] : flowSegments([{ text: KEYS_LINE, look: 'dim' }], columns).slice(0, 1)
  const bodyRows = rows === undefined ? undefined : Math.max(0, rows - top.length - foot.length)
  const body = state.isHelp ? renderHelp(columns) : renderBody(state, figures, { columns, rows: bodyRows }, clock)
  const shown = bodyRows === undefined ? body : body.slice(0, bodyRows)
  const gap =
    bodyRows === undefined ? [] : Array.from({ length: bodyRows - shown.length }, (): TopLine => ({ text: '' }))
  return [...top, ...shown, ...gap, ...foot]
}

function renderTitle({ serviceName, current, intervalMs, isPaused }: TopState, clock: number): TopSegment {
  const time = new Date(clock).toTimeString().slice(0, 8)
  const uptime = current === undefined ? [] : [current.status.version, `up ${formatDuration(current.status.uptimeMs)}`]
  const interval = isPaused ? 'PAUSED' : `every ${formatDuration(intervalMs).replace('.0 s', ' s')}`
  return { text: [PROGRAM_NAME, serviceName, ...uptime, time, interval].join(' · '), look: 'bold' }
}

/** Warnings that a reader must see before any numbers. */
function listWarnings({ outage, current }: TopState, clock: number): TopSegment[] {
  const warnings: TopSegment[] = []
  if (outage !== undefined) {
    const at = new Date(outage.since).toTimeString().slice(0, 8)
    const text = `no response since ${at} (${formatDuration(clock - outage.since)}), retrying: ${ttyLine(outage.message)}`
    warnings.push({ text, look: 'red' })
  }
  if (current === undefined) return outage === undefined ? [{ text: 'loading', look: 'dim' }] : warnings
  const { damage, storage } = current.status
  if (damage !== undefined) warnings.push({ text: `database: ${ttyLine(damage)}`, look: 'red' })
  if (storage?.isFull === true)
    warnings.push({ text: `disk full: ${formatBytes(storage.missingBytes)} more needed`, look: 'red' })
  for (const lack of current.lacks) warnings.push({ text: `not shown: ${ttyLine(lack)}`, look: 'yellow' })
  return warnings
}

function renderHead(current: TopReading, figures: TopFigures, clock: number): TopSegment[][] {
  return [
    formatProcesses(current, figures),
    formatRequests(current, figures),
    formatQueues(current, figures, clock),
  ].map((texts) => texts.map((text) => ({ text })))
}

function formatProcesses({ status }: TopReading, { cpuPercent }: TopFigures): string[] {
  const { memory, processes = [], eventLoop, storage } = status
  const children = processes.filter(({ role }) => role !== 'daemon')
  return [
    ...(cpuPercent === undefined ? [] : [`cpu ${cpuPercent.toFixed(0)} %`]),
    ...(memory === undefined ? [] : [`memory ${formatBytes(memory.rss)} (peak ${formatBytes(memory.peakRss)})`]),
    ...children.map(({ role, rss }) => `${role} ${formatBytes(rss)}`),
    ...(eventLoop === undefined ? [] : [`loop ${eventLoop.p99.toFixed(0)} ms p99`]),
    ...(storage === undefined ? [] : [`disk ${formatBytes(storage.freeBytes)} free`]),
  ]
}

function formatRequests({ status, metrics }: TopReading, figures: TopFigures): string[] {
  const { runningQueries, openRequests } = status.activity
  const rate = (value: number | undefined) => (value === undefined ? '–' : value.toFixed(1))
  const waiting = figures.waitingQueries === undefined ? '' : `, ${formatCount(figures.waitingQueries)} waiting`
  return [
    ...(metrics === undefined
      ? []
      : [
          `requests ${rate(figures.requestsPerSecond)}/s`,
          `p50 ${formatLatency(figures.p50)}`,
          `p95 ${formatLatency(figures.p95)}`,
          `errors ${rate(figures.errorsPerSecond)}/s`,
        ]),
    ...(openRequests === undefined ? [] : [`open ${formatCount(openRequests)}`]),
    ...(runningQueries === undefined ? [] : [`queries ${formatCount(runningQueries)} running${waiting}`]),
  ]
}

function formatQueues({ status, spaces }: TopReading, figures: TopFigures, clock: number): string[] {
  const { activeJobs, waitingJobs, backgroundTasks = 0 } = status.activity
  const oldest = spaces.flatMap((space) => space.oldest ?? [])
  const isMinimum = spaces.some(({ hasMore }) => hasMore)
  const age =
    oldest.length === 0 ? '' : `, oldest ${isMinimum ? 'over ' : ''}${formatDuration(clock - Math.min(...oldest))}`
  return [
    `jobs ${formatCount(activeJobs)} running, ${formatCount(waitingJobs)} waiting${age}`,
    ...figures.stages.map(({ stage, jobs }) => `${ttyLine(stage)} ${formatCount(jobs)}`),
    ...(figures.waitingWrites === undefined ? [] : [`writes ${formatCount(figures.waitingWrites)} waiting`]),
    ...(figures.indexLag === undefined ? [] : [`index lag ${formatCount(figures.indexLag)}`]),
    ...(backgroundTasks === 0 ? [] : [`${formatCount(backgroundTasks)} background builds`]),
  ]
}

/** Formats a latency: an upper bound of a histogram bucket. */
function formatLatency(value: number | undefined): string {
  if (value === undefined) return '–'
  return value === Number.POSITIVE_INFINITY ? 'over 60 s' : `≤${formatDuration(value * 1000)}`
}

function renderBody(state: TopState, figures: TopFigures | undefined, size: ViewSize, clock: number): TopLine[] {
  const { current, filter } = state
  if (current === undefined || figures === undefined) return []
  const { columns, rows } = size
  const spaces = sortSpaces(state).filter(({ slug }) => filter === undefined || slug === filter)
  const jobs = sortJobs(current.jobs).filter(({ space }) => filter === undefined || space === filter)
  const models = figures.models
  const [spaceRows, jobRows, modelRows] = distributeRows(rows, [spaces.length, jobs.length, models.length])
  const selected = getSelectedSlug(state)
  const note = [
    ...(filter === undefined ? [] : ['only this space']),
    ...(current.hasMoreSpaces ? ['more not shown'] : []),
  ]
  return [
    ...renderTopTable({
      title: `SPACES by ${state.sort}${note.length === 0 ? '' : ` (${note.join(', ')})`}`,
      heads: SPACE_HEADS,
      cells: spaces.map(({ slug, documents, bytes: size, open, hasMore, oldest }) => [
        `${slug === selected ? '>' : ' '} ${ttyLine(slug)}`,
        documents === undefined ? '' : formatCount(documents),
        `${formatCount(open)}${hasMore ? '+' : ''}`,
        oldest === undefined ? '' : `${hasMore ? 'over ' : ''}${formatDuration(clock - oldest)}`,
        size === undefined ? '' : formatBytes(size),
      ]),
      looks: spaces.map(({ slug, open }) => (slug === selected ? 'bold' : open > 0 ? 'yellow' : undefined)),
      visibleRow: spaces.findIndex(({ slug }) => slug === selected),
      columns,
      rows: spaceRows,
    }),
    ...(jobs.length === 0
      ? []
      : renderTopTable({
          title: 'JOBS',
          heads: JOB_HEADS,
          cells: jobs.map((job) => formatJobCells(job, clock)),
          looks: jobs.map(({ isReading, error, attempts }): Colour | undefined =>
            error !== undefined || attempts > 0 ? 'red' : isReading ? 'green' : undefined,
          ),
          columns,
          rows: jobRows,
        })),
    ...(models.length === 0
      ? []
      : renderTopTable({
          title: 'MODELS',
          heads: MODEL_HEADS,
          cells: models.map(({ name, kind, calls, failed, callsPerSecond, isLeftAlone }) => [
            ttyLine(name),
            formatCount(calls),
            formatCount(failed),
            callsPerSecond === undefined ? '–' : callsPerSecond.toFixed(1),
            ttyLine(kind),
            isLeftAlone ? 'suspended' : 'ok',
          ]),
          looks: models.map(({ isLeftAlone }): Colour | undefined => (isLeftAlone ? 'red' : undefined)),
          columns,
          rows: modelRows,
        })),
  ]
}

/** Columns with a lower priority are hidden first. */
const SPACE_HEADS: readonly TopColumn[] = [
  { title: 'SPACE', grows: true, needed: 9 },
  { title: 'DOCUMENTS', isRight: true, needed: 5 },
  { title: 'BACKLOG', isRight: true, needed: 8 },
  { title: 'OLDEST', isRight: true, needed: 6 },
  { title: 'SIZE', isRight: true, needed: 3 },
]
const JOB_HEADS: readonly TopColumn[] = [
  { title: 'FILE', grows: true, needed: 9 },
  { title: 'STAGE', needed: 8 },
  { title: 'PROGRESS', needed: 7 },
  { title: 'AGE', isRight: true, needed: 6 },
  { title: 'SPACE', needed: 5 },
  { title: 'TRIES', isRight: true, needed: 3 },
]
const MODEL_HEADS: readonly TopColumn[] = [
  { title: 'MODEL', grows: true, needed: 9 },
  { title: 'CALLS', isRight: true, needed: 8 },
  { title: 'FAILED', isRight: true, needed: 7 },
  { title: 'CALLS/S', isRight: true, needed: 6 },
  { title: 'KIND', needed: 5 },
  { title: 'STATE', needed: 4 },
]

/** Sorts jobs: files that are being read first, then the oldest. */
function sortJobs(jobs: readonly TopJob[]): TopJob[] {
  return [...jobs].sort((a, b) => Number(b.isReading) - Number(a.isReading) || a.createdAt - b.createdAt)
}

function formatJobCells(job: TopJob, clock: number): string[] {
  const { filename, stage, progress, createdAt, space, attempts, retryAt } = job
  const totalText = progress?.total === undefined ? '' : ` of ${formatCount(progress.total)}`
  const retryText = retryAt !== undefined && retryAt > clock ? `retry in ${formatDuration(retryAt - clock)}` : ''
  const progressText =
    progress === undefined ? (job.isReading ? 'reading' : retryText) : `${progress.unit} ${progress.at}${totalText}`
  const age = clock - createdAt
  return [
    ttyLine(filename),
    stage,
    progressText,
    age < SECONDS_FORMAT_MAX_MS ? `${Math.max(0, Math.round(age / 1000))} s` : formatDuration(age),
    ttyLine(space),
    attempts === 0 ? '' : formatCount(attempts),
  ]
}

/** Distributes rows among the tables, each with two heading lines; unused rows go to other tables. */
function distributeRows(rows: number | undefined, sizes: readonly [number, number, number]): (number | undefined)[] {
  if (rows === undefined) return [undefined, undefined, undefined]
  const tables = sizes.map((size, index) => (size === 0 && index > 0 ? 0 : size + 2))
  let remaining = rows
  const assigned = [0, 0, 0]
  // One row at a time, so that no table is starved by a long one.
  while (remaining > 0 && assigned.some((lines, index) => lines < (tables[index] ?? 0))) {
    for (const index of [0, 1, 2]) {
      if (remaining === 0 || (assigned[index] ?? 0) >= (tables[index] ?? 0)) continue
      assigned[index] = (assigned[index] ?? 0) + 1
      remaining--
    }
  }
  return assigned
}

function renderHelp(columns: number): TopLine[] {
  return HELP_LINES.flatMap(([key, what]) => flowSegments([{ text: key.padEnd(13) }, { text: what }], columns))
}
