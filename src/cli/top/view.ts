import { formatCount } from '../../lib/text/pluralize.js'
import type { Colour } from '../terminal.js'
import { ttyLine } from '../terminal.js'
import { formatBytes, formatDuration } from '../units.js'
import { computeFigures, type TopFigures } from './figures.js'
import { flowSegments, renderTopTable, type TopColumn, type TopLine } from './lines.js'
import type { TopJob, TopReading } from './reading.js'
import { getSelectedSlug, sortSpaces, type TopState } from './state.js'

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
/** A shorter age is shown in seconds without a fraction. */
const SECONDS_FORMAT_MAX_MS = 10_000

/** Size of the terminal in characters; no limit if `rows` is undefined. */
export interface ViewSize {
  columns: number
  rows: number | undefined
}

/** Renders the lines of `ks top` for a terminal of any size. @param now current time in milliseconds since the epoch */
export function renderTop(state: TopState, { columns, rows }: ViewSize, now: number): TopLine[] {
  const { current } = state
  const maxHeadLines = rows === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(rows * MAX_HEAD_FRACTION))
  const figures = current === undefined ? undefined : computeFigures(current, state.previous)
  const title = flowSegments([renderTitle(state, now)], columns).slice(0, 1)
  const warnings = listWarnings(state, now).flatMap((segment) => flowSegments([segment], columns))
  const head =
    current === undefined || figures === undefined
      ? []
      : renderHead(current, figures, now).flatMap((segments) => flowSegments(segments, columns))
  const top = [
    ...title,
    ...warnings.slice(0, maxHeadLines),
    ...head.slice(0, Math.max(0, maxHeadLines - 1 - warnings.length)),
  ]
  const bottom = rows === undefined ? [] : flowSegments([{ text: KEYS_LINE, colour: 'dim' }], columns).slice(0, 1)
  const bodyRows = rows === undefined ? undefined : Math.max(0, rows - top.length - bottom.length)
  const body = state.isHelp ? renderHelp(columns) : renderBody(state, figures, { columns, rows: bodyRows }, now)
  const shown = bodyRows === undefined ? body : body.slice(0, bodyRows)
  const gap =
    bodyRows === undefined ? [] : Array.from({ length: bodyRows - shown.length }, (): TopLine => ({ text: '' }))
  return [...top, ...shown, ...gap, ...bottom]
}

function renderTitle({ serviceName, current, intervalMs, isPaused }: TopState, now: number): TopLine {
  const time = new Date(now).toTimeString().slice(0, 8)
  const uptime = current === undefined ? [] : [current.status.version, `up ${formatDuration(current.status.uptimeMs)}`]
  const interval = isPaused ? 'PAUSED' : `every ${formatDuration(intervalMs).replace('.0 s', ' s')}`
  return { text: [PROGRAM_NAME, serviceName, ...uptime, time, interval].join(' · '), colour: 'bold' }
}

/** Warnings that a reader must see before any numbers. */
function listWarnings({ outage, current }: TopState, now: number): TopLine[] {
  const warnings: TopLine[] = []
  if (outage !== undefined) {
    const since = new Date(outage.since).toTimeString().slice(0, 8)
    const text = `no response since ${since} (${formatDuration(now - outage.since)}), retrying: ${ttyLine(outage.message)}`
    warnings.push({ text, colour: 'red' })
  }
  if (current === undefined) return outage === undefined ? [{ text: 'loading', colour: 'dim' }] : warnings
  const { damage, storage } = current.status
  if (damage !== undefined) warnings.push({ text: `database: ${ttyLine(damage)}`, colour: 'red' })
  if (storage?.isFull === true)
    warnings.push({ text: `disk full: ${formatBytes(storage.missingBytes)} more needed`, colour: 'red' })
  for (const lack of current.lacks) warnings.push({ text: `not shown: ${ttyLine(lack)}`, colour: 'yellow' })
  return warnings
}

function renderHead(current: TopReading, figures: TopFigures, now: number): TopLine[][] {
  return [formatProcesses(current, figures), formatRequests(current, figures), formatQueues(current, figures, now)].map(
    (texts) => texts.map((text) => ({ text })),
  )
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
  const formatRate = (value: number | undefined) => (value === undefined ? '–' : value.toFixed(1))
  const waiting = figures.waitingQueries === undefined ? '' : `, ${formatCount(figures.waitingQueries)} waiting`
  return [
    ...(metrics === undefined
      ? []
      : [
          `requests ${formatRate(figures.requestsPerSecond)}/s`,
          `p50 ${formatLatency(figures.p50)}`,
          `p95 ${formatLatency(figures.p95)}`,
          `errors ${formatRate(figures.errorsPerSecond)}/s`,
        ]),
    ...(openRequests === undefined ? [] : [`open ${formatCount(openRequests)}`]),
    ...(runningQueries === undefined ? [] : [`queries ${formatCount(runningQueries)} running${waiting}`]),
  ]
}

function formatQueues({ status, spaces }: TopReading, figures: TopFigures, now: number): string[] {
  const { activeJobs, waitingJobs, backgroundTasks = 0 } = status.activity
  const oldest = spaces.flatMap((space) => space.oldest ?? [])
  const isMinimum = spaces.some(({ hasMore }) => hasMore)
  const age =
    oldest.length === 0 ? '' : `, oldest ${isMinimum ? 'over ' : ''}${formatDuration(now - Math.min(...oldest))}`
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

function renderBody(state: TopState, figures: TopFigures | undefined, size: ViewSize, now: number): TopLine[] {
  const { current, filter } = state
  if (current === undefined || figures === undefined) return []
  const { columns, rows } = size
  const spaces = sortSpaces(state).filter(({ slug }) => filter === undefined || slug === filter)
  // Files that are being read first, then the oldest jobs.
  const jobs = current.jobs
    .filter(({ space }) => filter === undefined || space === filter)
    .sort((a, b) => Number(b.isReading) - Number(a.isReading) || a.createdAt - b.createdAt)
  const models = figures.models
  const [spaceLines, jobLines, modelLines] = distributeLines(rows, [spaces.length, jobs.length, models.length])
  const selected = getSelectedSlug(state)
  const notes = [
    ...(filter === undefined ? [] : ['only this space']),
    ...(current.hasMoreSpaces ? ['more not shown'] : []),
  ]
  return [
    ...renderTopTable({
      title: `SPACES by ${state.sort}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`,
      columns: SPACE_COLUMNS,
      rows: spaces.map(({ slug, documents, bytes: size, open, hasMore, oldest }) => [
        `${slug === selected ? '>' : ' '} ${ttyLine(slug)}`,
        documents === undefined ? '' : formatCount(documents),
        `${formatCount(open)}${hasMore ? '+' : ''}`,
        oldest === undefined ? '' : `${hasMore ? 'over ' : ''}${formatDuration(now - oldest)}`,
        size === undefined ? '' : formatBytes(size),
      ]),
      rowColours: spaces.map(({ slug, open }) => (slug === selected ? 'bold' : open > 0 ? 'yellow' : undefined)),
      visibleRow: spaces.findIndex(({ slug }) => slug === selected),
      width: columns,
      maxLines: spaceLines,
    }),
    ...(jobs.length === 0
      ? []
      : renderTopTable({
          title: 'JOBS',
          columns: JOB_COLUMNS,
          rows: jobs.map((job) => formatJobCells(job, now)),
          rowColours: jobs.map(({ isReading, error, attempts }): Colour | undefined =>
            error !== undefined || attempts > 0 ? 'red' : isReading ? 'green' : undefined,
          ),
          width: columns,
          maxLines: jobLines,
        })),
    ...(models.length === 0
      ? []
      : renderTopTable({
          title: 'MODELS',
          columns: MODEL_COLUMNS,
          rows: models.map(({ name, kind, calls, failed, callsPerSecond, isLeftAlone }) => [
            ttyLine(name),
            formatCount(calls),
            formatCount(failed),
            callsPerSecond === undefined ? '–' : callsPerSecond.toFixed(1),
            ttyLine(kind),
            isLeftAlone ? 'suspended' : 'ok',
          ]),
          rowColours: models.map(({ isLeftAlone }): Colour | undefined => (isLeftAlone ? 'red' : undefined)),
          width: columns,
          maxLines: modelLines,
        })),
  ]
}

/** Columns with a lower priority are hidden first. */
const SPACE_COLUMNS: readonly TopColumn[] = [
  { title: 'SPACE', isGrowing: true, priority: 9 },
  { title: 'DOCUMENTS', isRightAligned: true, priority: 5 },
  { title: 'BACKLOG', isRightAligned: true, priority: 8 },
  { title: 'OLDEST', isRightAligned: true, priority: 6 },
  { title: 'SIZE', isRightAligned: true, priority: 3 },
]
const JOB_COLUMNS: readonly TopColumn[] = [
  { title: 'FILE', isGrowing: true, priority: 9 },
  { title: 'STAGE', priority: 8 },
  { title: 'PROGRESS', priority: 7 },
  { title: 'AGE', isRightAligned: true, priority: 6 },
  { title: 'SPACE', priority: 5 },
  { title: 'TRIES', isRightAligned: true, priority: 3 },
]
const MODEL_COLUMNS: readonly TopColumn[] = [
  { title: 'MODEL', isGrowing: true, priority: 9 },
  { title: 'CALLS', isRightAligned: true, priority: 8 },
  { title: 'FAILED', isRightAligned: true, priority: 7 },
  { title: 'CALLS/S', isRightAligned: true, priority: 6 },
  { title: 'KIND', priority: 5 },
  { title: 'STATE', priority: 4 },
]

function formatJobCells(job: TopJob, now: number): string[] {
  const { filename, stage, progress, createdAt, space, attempts, retryAt } = job
  const totalText = progress?.total === undefined ? '' : ` of ${formatCount(progress.total)}`
  const retryText = retryAt !== undefined && retryAt > now ? `retry in ${formatDuration(retryAt - now)}` : ''
  const progressText =
    progress === undefined ? (job.isReading ? 'reading' : retryText) : `${progress.unit} ${progress.at}${totalText}`
  const age = now - createdAt
  return [
    ttyLine(filename),
    stage,
    progressText,
    age < SECONDS_FORMAT_MAX_MS ? `${Math.max(0, Math.round(age / 1000))} s` : formatDuration(age),
    ttyLine(space),
    attempts === 0 ? '' : formatCount(attempts),
  ]
}

/** Distributes lines among the tables, each with two heading lines; unused lines go to other tables. */
function distributeLines(
  lineCount: number | undefined,
  rowCounts: readonly [number, number, number],
): (number | undefined)[] {
  if (lineCount === undefined) return [undefined, undefined, undefined]
  const neededLines = rowCounts.map((count, index) => (count === 0 && index > 0 ? 0 : count + 2))
  let remaining = lineCount
  const assigned = [0, 0, 0]
  // One line at a time, so that no table is starved by a long one.
  while (remaining > 0 && assigned.some((lines, index) => lines < (neededLines[index] ?? 0))) {
    for (const index of [0, 1, 2]) {
      if (remaining === 0 || (assigned[index] ?? 0) >= (neededLines[index] ?? 0)) continue
      assigned[index] = (assigned[index] ?? 0) + 1
      remaining--
    }
  }
  return assigned
}

function renderHelp(columns: number): TopLine[] {
  return HELP_LINES.flatMap(([key, description]) =>
    flowSegments([{ text: key.padEnd(13) }, { text: description }], columns),
  )
}
