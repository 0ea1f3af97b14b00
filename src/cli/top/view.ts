import type { Colour } from '../terminal.js'
import { ttyLine } from '../terminal.js'
import { bytes, count, duration } from '../units.js'
import { figuresOf, type TopFigures } from './figures.js'
import { type Cell, flow, type Segment, type TopLine, tableLines } from './lines.js'
import type { TopJob, TopReading } from './reading.js'
import { selectedSlug, sortedSpaces, type TopState } from './state.js'

/** Renders the lines of `ks top` for a terminal of any size. */

const NAME = 'ks top'
const KEYS = 'q quit  j/k move  Enter only this space  s sort  p pause  ? keys'
const HELP = [
  ['q, Ctrl-C', 'quit'],
  ['j, k, arrows', 'select another space; g and G select the first and last'],
  ['Enter, f', 'show only jobs of this space; again, or Esc, shows all'],
  ['s', 'sort spaces by backlog, documents or name'],
  ['p', 'pause; p again continues'],
  ['?', 'show or hide this help'],
] as const
/** Maximum fraction of the screen for the head. */
const HEAD_SHARE = 0.4
const MANY_MS = 10_000

export interface Size {
  columns: number
  /** Undefined for no limit. */
  rows: number | undefined
}

/** @param clock current time in milliseconds */
export function topLines(state: TopState, { columns, rows }: Size, clock: number): TopLine[] {
  const { now } = state
  const most = rows === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(rows * HEAD_SHARE))
  const figures = now === undefined ? undefined : figuresOf(now, state.before)
  const title = flow([titleOf(state, clock)], columns).slice(0, 1)
  const warnings = warningsOf(state, clock).flatMap((segment) => flow([segment], columns))
  const head =
    now === undefined || figures === undefined
      ? []
      : headOf(now, figures, clock).flatMap((segments) => flow(segments, columns))
  const top = [...title, ...warnings.slice(0, most), ...head.slice(0, Math.max(0, most - 1 - warnings.length))]
  const foot = rows === undefined ? [] : flow([{ text: KEYS, look: 'dim' }], columns).slice(0, 1)
  const room = rows === undefined ? undefined : Math.max(0, rows - top.length - foot.length)
  const body = state.isHelp ? helpLines(columns) : bodyOf(state, figures, { columns, rows: room }, clock)
  const shown = room === undefined ? body : body.slice(0, room)
  const gap = room === undefined ? [] : Array.from({ length: room - shown.length }, (): TopLine => ({ text: '' }))
  return [...top, ...shown, ...gap, ...foot]
}

function titleOf({ where, now, intervalMs, isPaused }: TopState, clock: number): Segment {
  const time = new Date(clock).toTimeString().slice(0, 8)
  const up = now === undefined ? [] : [now.status.version, `up ${duration(now.status.uptimeMs)}`]
  const pace = isPaused ? 'PAUSED' : `every ${duration(intervalMs).replace('.0 s', ' s')}`
  return { text: [NAME, where, ...up, time, pace].join(' · '), look: 'bold' }
}

/** Warnings that a reader must see before any numbers. */
function warningsOf({ trouble, now }: TopState, clock: number): Segment[] {
  const warnings: Segment[] = []
  if (trouble !== undefined) {
    const at = new Date(trouble.since).toTimeString().slice(0, 8)
    const text = `no response since ${at} (${duration(clock - trouble.since)}), retrying: ${ttyLine(trouble.message)}`
    warnings.push({ text, look: 'red' })
  }
  if (now === undefined) return trouble === undefined ? [{ text: 'loading', look: 'dim' }] : warnings
  const { damage, storage } = now.status
  if (damage !== undefined) warnings.push({ text: `database: ${ttyLine(damage)}`, look: 'red' })
  if (storage?.isFull === true)
    warnings.push({ text: `disk full: ${bytes(storage.missingBytes)} more needed`, look: 'red' })
  for (const lack of now.lacks) warnings.push({ text: `not shown: ${ttyLine(lack)}`, look: 'yellow' })
  return warnings
}

function headOf(now: TopReading, figures: TopFigures, clock: number): Segment[][] {
  return [processesOf(now, figures), requestsOf(now, figures), queuesOf(now, figures, clock)].map((texts) =>
    texts.map((text) => ({ text })),
  )
}

function processesOf({ status }: TopReading, { cpuPercent }: TopFigures): string[] {
  const { memory, processes = [], eventLoop, storage } = status
  const children = processes.filter(({ role }) => role !== 'daemon')
  return [
    ...(cpuPercent === undefined ? [] : [`cpu ${cpuPercent.toFixed(0)} %`]),
    ...(memory === undefined ? [] : [`memory ${bytes(memory.rss)} (peak ${bytes(memory.peakRss)})`]),
    ...children.map(({ role, rss }) => `${role} ${bytes(rss)}`),
    ...(eventLoop === undefined ? [] : [`loop ${eventLoop.p99.toFixed(0)} ms p99`]),
    ...(storage === undefined ? [] : [`disk ${bytes(storage.freeBytes)} free`]),
  ]
}

function requestsOf({ status, metrics }: TopReading, figures: TopFigures): string[] {
  const { runningQueries, openRequests } = status.activity
  const rate = (value: number | undefined) => (value === undefined ? '–' : value.toFixed(1))
  const waiting = figures.waitingQueries === undefined ? '' : `, ${count(figures.waitingQueries)} waiting`
  return [
    ...(metrics === undefined
      ? []
      : [
          `requests ${rate(figures.requestsPerSecond)}/s`,
          `p50 ${seconds(figures.p50)}`,
          `p95 ${seconds(figures.p95)}`,
          `errors ${rate(figures.errorsPerSecond)}/s`,
        ]),
    ...(openRequests === undefined ? [] : [`open ${count(openRequests)}`]),
    ...(runningQueries === undefined ? [] : [`queries ${count(runningQueries)} running${waiting}`]),
  ]
}

function queuesOf({ status, spaces }: TopReading, figures: TopFigures, clock: number): string[] {
  const { activeJobs, waitingJobs, backgroundTasks = 0 } = status.activity
  const oldest = spaces.flatMap((space) => space.oldest ?? [])
  const isLeast = spaces.some(({ hasMore }) => hasMore)
  const age = oldest.length === 0 ? '' : `, oldest ${isLeast ? 'over ' : ''}${duration(clock - Math.min(...oldest))}`
  return [
    `jobs ${count(activeJobs)} running, ${count(waitingJobs)} waiting${age}`,
    ...figures.stages.map(({ stage, jobs }) => `${ttyLine(stage)} ${count(jobs)}`),
    ...(figures.waitingWrites === undefined ? [] : [`writes ${count(figures.waitingWrites)} waiting`]),
    ...(figures.indexLag === undefined ? [] : [`index lag ${count(figures.indexLag)}`]),
    ...(backgroundTasks === 0 ? [] : [`${count(backgroundTasks)} background builds`]),
  ]
}

/** Formats a latency: an upper bound of a histogram bucket. */
function seconds(value: number | undefined): string {
  if (value === undefined) return '–'
  return value === Number.POSITIVE_INFINITY ? 'over 60 s' : `≤${duration(value * 1000)}`
}

function bodyOf(state: TopState, figures: TopFigures | undefined, size: Size, clock: number): TopLine[] {
  const { now, filter } = state
  if (now === undefined || figures === undefined) return []
  const { columns, rows } = size
  const spaces = sortedSpaces(state).filter(({ slug }) => filter === undefined || slug === filter)
  const jobs = inOrder(now.jobs).filter(({ space }) => filter === undefined || space === filter)
  const models = figures.models
  const [forSpaces, forJobs, forModels] = shares(rows, [spaces.length, jobs.length, models.length])
  const chosen = selectedSlug(state)
  const note = [
    ...(filter === undefined ? [] : ['only this space']),
    ...(now.hasMoreSpaces ? ['more not shown'] : []),
  ]
  return [
    ...tableLines({
      title: `SPACES by ${state.sort}${note.length === 0 ? '' : ` (${note.join(', ')})`}`,
      heads: SPACE_HEADS,
      cells: spaces.map(({ slug, documents, bytes: size, open, hasMore, oldest }) => [
        `${slug === chosen ? '>' : ' '} ${ttyLine(slug)}`,
        documents === undefined ? '' : count(documents),
        `${count(open)}${hasMore ? '+' : ''}`,
        oldest === undefined ? '' : `${hasMore ? 'over ' : ''}${duration(clock - oldest)}`,
        size === undefined ? '' : bytes(size),
      ]),
      looks: spaces.map(({ slug, open }) => (slug === chosen ? 'bold' : open > 0 ? 'yellow' : undefined)),
      at: spaces.findIndex(({ slug }) => slug === chosen),
      columns,
      rows: forSpaces,
    }),
    ...(jobs.length === 0
      ? []
      : tableLines({
          title: 'JOBS',
          heads: JOB_HEADS,
          cells: jobs.map((job) => jobCells(job, clock)),
          looks: jobs.map(({ isReading, error, attempts }): Colour | undefined =>
            error !== undefined || attempts > 0 ? 'red' : isReading ? 'green' : undefined,
          ),
          columns,
          rows: forJobs,
        })),
    ...(models.length === 0
      ? []
      : tableLines({
          title: 'MODELS',
          heads: MODEL_HEADS,
          cells: models.map(({ name, kind, calls, failed, callsPerSecond, isLeftAlone }) => [
            ttyLine(name),
            count(calls),
            count(failed),
            callsPerSecond === undefined ? '–' : callsPerSecond.toFixed(1),
            ttyLine(kind),
            isLeftAlone ? 'suspended' : 'ok',
          ]),
          looks: models.map(({ isLeftAlone }): Colour | undefined => (isLeftAlone ? 'red' : undefined)),
          columns,
          rows: forModels,
        })),
  ]
}

/** Columns with a lower priority are hidden first. */
const SPACE_HEADS: readonly Cell[] = [
  { title: 'SPACE', grows: true, needed: 9 },
  { title: 'DOCUMENTS', isRight: true, needed: 5 },
  { title: 'BACKLOG', isRight: true, needed: 8 },
  { title: 'OLDEST', isRight: true, needed: 6 },
  { title: 'SIZE', isRight: true, needed: 3 },
]
const JOB_HEADS: readonly Cell[] = [
  { title: 'FILE', grows: true, needed: 9 },
  { title: 'STAGE', needed: 8 },
  { title: 'PROGRESS', needed: 7 },
  { title: 'AGE', isRight: true, needed: 6 },
  { title: 'SPACE', needed: 5 },
  { title: 'TRIES', isRight: true, needed: 3 },
]
const MODEL_HEADS: readonly Cell[] = [
  { title: 'MODEL', grows: true, needed: 9 },
  { title: 'CALLS', isRight: true, needed: 8 },
  { title: 'FAILED', isRight: true, needed: 7 },
  { title: 'CALLS/S', isRight: true, needed: 6 },
  { title: 'KIND', needed: 5 },
  { title: 'STATE', needed: 4 },
]

/** Sorts jobs: files that are being read first, then the oldest. */
function inOrder(jobs: readonly TopJob[]): TopJob[] {
  return [...jobs].sort((a, b) => Number(b.isReading) - Number(a.isReading) || a.createdAt - b.createdAt)
}

function jobCells(job: TopJob, clock: number): string[] {
  const { filename, stage, progress, createdAt, space, attempts, retryAt } = job
  const of = progress?.total === undefined ? '' : ` of ${count(progress.total)}`
  const waits = retryAt !== undefined && retryAt > clock ? `retry in ${duration(retryAt - clock)}` : ''
  const reads = progress === undefined ? (job.isReading ? 'reading' : waits) : `${progress.unit} ${progress.at}${of}`
  const age = clock - createdAt
  return [
    ttyLine(filename),
    stage,
    reads,
    age < MANY_MS ? `${Math.max(0, Math.round(age / 1000))} s` : duration(age),
    ttyLine(space),
    attempts === 0 ? '' : count(attempts),
  ]
}

/** Distributes rows among the tables, each with two heading lines; unused rows go to other tables. */
function shares(rows: number | undefined, sizes: readonly [number, number, number]): (number | undefined)[] {
  if (rows === undefined) return [undefined, undefined, undefined]
  const tables = sizes.map((size, at) => (size === 0 && at > 0 ? 0 : size + 2))
  let left = rows
  const given = [0, 0, 0]
  // One row at a time, so that no table is starved by a long one.
  while (left > 0 && given.some((lines, at) => lines < (tables[at] ?? 0))) {
    for (const at of [0, 1, 2]) {
      if (left === 0 || (given[at] ?? 0) >= (tables[at] ?? 0)) continue
      given[at] = (given[at] ?? 0) + 1
      left--
    }
  }
  return given
}

function helpLines(columns: number): TopLine[] {
  return HELP.flatMap(([key, what]) => flow([{ text: key.padEnd(13) }, { text: what }], columns))
}
