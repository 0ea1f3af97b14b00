import { type QueryClient, queryOptions } from '@tanstack/react-query'
import pLimit from 'p-limit'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import type { QualityTraceSummary } from '../../../contract/gateway/quality.js'
import { ApiError, call } from '../../api/client.js'
import { expectedOf, type Measured, measure, type Outcome } from './expected.js'

/** askings of golden questions that come later than this after the one before belong to another run */
const APART_MS = 10 * 60_000
/** fewer questions than this, one after the other, are somebody who asks and no run */
const LEAST = 2
const AT_ONCE = 4

/** Golden questions that were asked one after the other, each once, in one mode. */
export interface Run {
  /** id of its first trace, which names it in addresses */
  id: string
  startedAt: string
  mode: string
  /** the trace of each golden question, by the question's id */
  asked: ReadonlyMap<string, QualityTraceSummary>
}

/**
 * Runs as their traces tell them: `ks golden run` and this page leave a trace of each question, and nothing else that would have
 * to be kept. A question that comes again, another mode or a long pause begins the next run.
 *
 * @returns newest first
 */
export function runsOf(traces: readonly QualityTraceSummary[], golden: readonly GoldenQuestion[]): Run[] {
  const ids = new Map(golden.map(({ id, question }) => [question, id]))
  const runs: Run[] = []
  let open: { run: Run; asked: Map<string, QualityTraceSummary>; lastAt: number } | undefined
  for (const trace of traces.toReversed()) {
    const id = ids.get(trace.query)
    if (id === undefined) continue
    const at = Date.parse(trace.createdAt)
    if (open === undefined || open.asked.has(id) || open.run.mode !== trace.mode || at - open.lastAt > APART_MS) {
      const asked = new Map<string, QualityTraceSummary>()
      open = { asked, lastAt: at, run: { id: trace.id, startedAt: trace.createdAt, mode: trace.mode, asked } }
      runs.push(open.run)
    }
    open.asked.set(id, trace)
    open.lastAt = at
  }
  const least = Math.min(LEAST, golden.length)
  return runs.filter(({ asked }) => asked.size >= least).reverse()
}

const limited = pLimit(AT_ONCE)

/** How every question of a run did; a trace does not change, so it is read once. */
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

/** A trace goes with a document that it cites. */
function goneOrThrow(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined
  throw error
}

/** The share of questions that passed, from 0 to 1; nothing where none could be read. */
export function shareOf(measured: ReadonlyMap<string, Measured>): number | undefined {
  if (measured.size === 0) return undefined
  return [...measured.values()].filter(({ outcome }) => outcome === 'passed').length / measured.size
}

/** The average share of expected passages that were found. */
export function recallOf(measured: ReadonlyMap<string, Measured>): number | undefined {
  const shares = [...measured.values()].flatMap(({ recall }) => (recall === undefined ? [] : [recall]))
  return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length
}

export type Change = 'better' | 'worse' | 'evidence' | 'same' | 'added' | 'removed'

export interface Difference {
  question: GoldenQuestion
  before: Measured | undefined
  after: Measured | undefined
  change: Change
  /** passages that only the later one, only the earlier one had */
  gained: Measured['items']
  lost: Measured['items']
}

const ORDER: Record<Outcome, number> = { failed: 0, partly: 1, passed: 2 }
const FIRST: readonly Change[] = ['worse', 'better', 'evidence', 'added', 'removed', 'same']

/** Two runs question by question, what got worse first. */
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
  const step = ORDER[is.outcome] - ORDER[was.outcome] || (is.recall ?? 0) - (was.recall ?? 0)
  if (step !== 0) return step > 0 ? 'better' : 'worse'
  return moved > 0 ? 'evidence' : 'same'
}

/** Passages by place and text, for each cut of a document gives them other ids. */
function apart(of: Measured | undefined, other: Measured | undefined): Measured['items'] {
  if (of === undefined || other === undefined) return []
  const key = ({ citations, text }: Measured['items'][number]) => `${citations[0]?.documentAssetId} ${text}`
  const known = new Set(other.items.map(key))
  return of.items.filter((item) => !known.has(key(item)))
}
