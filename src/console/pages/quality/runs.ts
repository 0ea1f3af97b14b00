import { type QueryClient, queryOptions } from '@tanstack/react-query'
import pLimit from 'p-limit'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import type { QualityTraceSummary } from '../../../contract/gateway/quality.js'
import { ApiError, call } from '../../api/client.js'
import { expectedOf, type Measured, measure, type Outcome } from './expected.js'

/** A golden question asked later than this after the previous one belongs to another run. */
const APART_MS = 10 * 60_000
/** Minimal number of consecutive questions of a run; fewer are individual queries of a user. */
const LEAST = 2
const AT_ONCE = 4

/** Golden questions that were asked one after the other, each once, in one mode. */
export interface Run {
  /** id of its first trace; identifies the run in URLs */
  id: string
  startedAt: string
  mode: string
  /** the trace of each golden question, by the question's id */
  asked: ReadonlyMap<string, QualityTraceSummary>
}

/**
 * Derives runs from traces: `ks golden run` and this page leave only a trace per question, so no run needs to be
 * stored. A repeated question, another mode or a long pause starts the next run.
 *
 * @returns newest first
 */
export function runsOf(traces: readonly QualityTraceSummary[], golden: readonly GoldenQuestion[]): Run[] {
  const places = new Map(golden.map(({ id, question }, place) => [question, { id, place }]))
  const groups: Asked[][] = []
  for (const trace of traces.toReversed()) {
    const known = places.get(trace.query)
    if (known === undefined) continue
    const now: Asked = { ...known, trace, at: Date.parse(trace.createdAt) }
    const open = groups.at(-1)
    const last = open?.at(-1)
    if (open === undefined || last === undefined || last.trace.mode !== trace.mode || now.at - last.at > APART_MS)
      groups.push([now])
    else {
      const before = open.findIndex((one) => one.id === now.id)
      if (before < 0) open.push(now)
      else groups.push([...open.splice(beginningOf(open, before, now)), now])
    }
  }
  const least = Math.min(LEAST, golden.length)
  return groups.flatMap((group): Run[] => runOf(group, least)).reverse()
}

interface Asked {
  id: string
  /** index in the list of golden questions; a run asks them in this order */
  place: number
  trace: QualityTraceSummary
  at: number
}

/**
 * A run started between two queries of the same question: where the order of questions restarts, and among such
 * positions after the longest pause.
 *
 * @returns number of queries of the group that belong to the previous run
 */
function beginningOf(group: readonly Asked[], from: number, now: Asked): number {
  const steps = group.slice(from).map((asked, at) => {
    const next = group[from + at + 1] ?? now
    return { back: asked.place - next.place, pause: next.at - asked.at, count: from + at + 1 }
  })
  const [first] = steps.sort((a, b) => b.back - a.back || b.pause - a.pause)
  return first?.count ?? group.length
}

function runOf(group: readonly Asked[], least: number): Run[] {
  const [first] = group
  if (first === undefined || group.length < least) return []
  const asked = new Map(group.map(({ id, trace }) => [id, trace]))
  return [{ id: first.trace.id, startedAt: first.trace.createdAt, mode: first.trace.mode, asked }]
}

const limited = pLimit(AT_ONCE)

/** Query of a run's results by question. Traces are immutable, so each is read once. */
export function measuredRun(client: QueryClient, run: Run, golden: readonly GoldenQuestion[]) {
  return queryOptions({
    queryKey: ['quality-run', run.id, run.asked.size, golden.map(({ id, updatedAt }) => `${id}@${updatedAt}`)],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const measured = new Map<string, Measured>()
      const read = async (question: GoldenQuestion, traceId: string) => {
        const trace = await client
          .fetchQuery({
            queryKey: ['GET /queries/{traceId}', { path: { traceId } }],
            queryFn: () => limited(() => call('GET /queries/{traceId}', { path: { traceId } })),
            staleTime: Number.POSITIVE_INFINITY,
          })
          .catch(goneOrThrow)
        if (trace !== undefined) measured.set(question.id, measure(trace, expectedOf(question)))
      }
      await Promise.all(
        golden.map((question) => {
          const trace = run.asked.get(question.id)
          return trace === undefined ? undefined : read(question, trace.id)
        }),
      )
      return measured
    },
  })
}

/** A trace is deleted with a document that it cites. */
function goneOrThrow(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined
  throw error
}

/** Fraction of questions that passed; undefined if no trace could be read. */
export function shareOf(measured: ReadonlyMap<string, Measured>): number | undefined {
  if (measured.size === 0) return undefined
  return [...measured.values()].filter(({ outcome }) => outcome === 'passed').length / measured.size
}

/** Average fraction of expected passages that were found. */
export function recallOf(measured: ReadonlyMap<string, Measured>): number | undefined {
  const shares = [...measured.values()].flatMap(({ recall }) => (recall === undefined ? [] : [recall]))
  return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length
}

/** Fraction of right answers among the compared ones. */
export function rightAnswersOf(measured: ReadonlyMap<string, Measured>): number | undefined {
  const compared = [...measured.values()].flatMap(({ answer }) => answer ?? [])
  return compared.length === 0 ? undefined : compared.filter(({ isRight }) => isRight).length / compared.length
}

export type Change = 'better' | 'worse' | 'evidence' | 'same' | 'added' | 'removed'

export interface Difference {
  question: GoldenQuestion
  before: Measured | undefined
  after: Measured | undefined
  change: Change
  /** passages that only the later or only the earlier run has */
  gained: Measured['items']
  lost: Measured['items']
}

const ORDER: Record<Outcome, number> = { failed: 0, partly: 1, passed: 2 }
const FIRST: readonly Change[] = ['worse', 'better', 'evidence', 'added', 'removed', 'same']

/** Compares two runs by question, regressions first. */
export function differencesOf(
  golden: readonly GoldenQuestion[],
  before: ReadonlyMap<string, Measured>,
  after: ReadonlyMap<string, Measured>,
): Difference[] {
  const found = golden.flatMap((question): Difference[] => {
    const was = before.get(question.id)
    const is = after.get(question.id)
    if (was === undefined && is === undefined) return []
    const gained = apart(is, was)
    const lost = apart(was, is)
    return [{ question, before: was, after: is, gained, lost, change: changeOf(was, is, gained.length + lost.length) }]
  })
  return found.sort((a, b) => FIRST.indexOf(a.change) - FIRST.indexOf(b.change))
}

function changeOf(was: Measured | undefined, is: Measured | undefined, moved: number): Change {
  if (was === undefined) return 'added'
  if (is === undefined) return 'removed'
  const step = rightness(was, is) || ORDER[is.outcome] - ORDER[was.outcome] || (is.recall ?? 0) - (was.recall ?? 0)
  if (step !== 0) return step > 0 ? 'better' : 'worse'
  return moved > 0 ? 'evidence' : 'same'
}

/** 1 if a wrong answer became right, -1 if a right one became wrong, else 0. */
function rightness(was: Measured, is: Measured): number {
  if (was.answer === undefined || is.answer === undefined) return 0
  return Number(is.answer.isRight) - Number(was.answer.isRight)
}

/**
 * Items of the first result that the second lacks. Compares by document and text: each parse gives passages new ids.
 */
function apart(of: Measured | undefined, other: Measured | undefined): Measured['items'] {
  if (of === undefined || other === undefined) return []
  const key = ({ citations, text }: Measured['items'][number]) => `${citations[0]?.documentAssetId} ${text}`
  const known = new Set(other.items.map(key))
  return of.items.filter((item) => !known.has(key(item)))
}
