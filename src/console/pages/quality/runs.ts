import { type QueryClient, queryOptions } from '@tanstack/react-query'
import pLimit from 'p-limit'
import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import type { QualityTraceSummary } from '../../../contract/gateway/quality.js'
import { call, RequestError } from '../../api/client.js'
import { evaluateTrace, type QuestionOutcome, type QuestionResult, toExpectation } from './expectation.js'

/** A golden question asked later than this after the previous one belongs to another run. */
const MAX_PAUSE_MS = 10 * 60_000
/** Minimal number of consecutive questions of a run; fewer are individual queries of a user. */
const MIN_RUN_QUESTIONS = 2
const MAX_CONCURRENT_READS = 4

/** Golden questions that were asked one after the other, each once, in one mode. */
export interface TracedRun {
  /** id of its first trace; identifies the run in URLs */
  id: string
  startedAt: string
  mode: string
  /** the trace of each golden question, by the question's id */
  traces: ReadonlyMap<string, QualityTraceSummary>
}

/**
 * Derives runs from traces: `ks golden run` and this page leave only a trace per question, so no run needs to be
 * stored. A repeated question, another mode or a long pause starts the next run.
 *
 * @returns newest first
 */
export function deriveRuns(traces: readonly QualityTraceSummary[], golden: readonly GoldenQuestion[]): TracedRun[] {
  const questionsByText = new Map(golden.map(({ id, question }, position) => [question, { id, position }]))
  const groups: AskedQuestion[][] = []
  for (const trace of traces.toReversed()) {
    const question = questionsByText.get(trace.query)
    if (question === undefined) continue
    const query: AskedQuestion = { ...question, trace, timeMs: Date.parse(trace.createdAt) }
    const open = groups.at(-1)
    const last = open?.at(-1)
    if (
      open === undefined ||
      last === undefined ||
      last.trace.mode !== trace.mode ||
      query.timeMs - last.timeMs > MAX_PAUSE_MS
    )
      groups.push([query])
    else {
      const repeatIndex = open.findIndex((one) => one.id === query.id)
      if (repeatIndex < 0) open.push(query)
      else groups.push([...open.splice(previousRunLength(open, repeatIndex, query)), query])
    }
  }
  const minQuestions = Math.min(MIN_RUN_QUESTIONS, golden.length)
  return groups.flatMap((group): TracedRun[] => toRun(group, minQuestions)).reverse()
}

interface AskedQuestion {
  id: string
  /** index in the list of golden questions; a run asks them in this order */
  position: number
  trace: QualityTraceSummary
  timeMs: number
}

/**
 * A run started between two queries of the same question: where the order of questions restarts, and among such
 * positions after the longest pause.
 *
 * @returns number of queries of the group that belong to the previous run
 */
function previousRunLength(group: readonly AskedQuestion[], start: number, next: AskedQuestion): number {
  const steps = group.slice(start).map((query, index) => {
    const following = group[start + index + 1] ?? next
    return {
      back: query.position - following.position,
      pause: following.timeMs - query.timeMs,
      count: start + index + 1,
    }
  })
  const [first] = steps.sort((a, b) => b.back - a.back || b.pause - a.pause)
  return first?.count ?? group.length
}

function toRun(group: readonly AskedQuestion[], minQuestions: number): TracedRun[] {
  const [first] = group
  if (first === undefined || group.length < minQuestions) return []
  const traces = new Map(group.map(({ id, trace }) => [id, trace]))
  return [{ id: first.trace.id, startedAt: first.trace.createdAt, mode: first.trace.mode, traces }]
}

const limitReads = pLimit(MAX_CONCURRENT_READS)

/** Query of a run's results by question. Traces are immutable, so each is read once. */
export function runResultsQuery(client: QueryClient, run: TracedRun, golden: readonly GoldenQuestion[]) {
  return queryOptions({
    queryKey: ['quality-run', run.id, run.traces.size, golden.map(({ id, updatedAt }) => `${id}@${updatedAt}`)],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      const results = new Map<string, QuestionResult>()
      const read = async (question: GoldenQuestion, traceId: string) => {
        const trace = await client
          .fetchQuery({
            queryKey: ['GET /queries/{traceId}', { path: { traceId } }],
            queryFn: () => limitReads(() => call('GET /queries/{traceId}', { path: { traceId } })),
            staleTime: Number.POSITIVE_INFINITY,
          })
          .catch(ignoreNotFound)
        if (trace !== undefined) results.set(question.id, evaluateTrace(trace, toExpectation(question)))
      }
      await Promise.all(
        golden.map((question) => {
          const trace = run.traces.get(question.id)
          return trace === undefined ? undefined : read(question, trace.id)
        }),
      )
      return results
    },
  })
}

/** A trace is deleted with a document that it cites. */
function ignoreNotFound(error: unknown): undefined {
  if (error instanceof RequestError && error.status === 404) return undefined
  throw error
}

/** Fraction of questions that passed; undefined if no trace could be read. */
export function passedFraction(results: ReadonlyMap<string, QuestionResult>): number | undefined {
  if (results.size === 0) return undefined
  return [...results.values()].filter(({ outcome }) => outcome === 'passed').length / results.size
}

/** Average fraction of expected passages that were found. */
export function averageRecall(results: ReadonlyMap<string, QuestionResult>): number | undefined {
  const recalls = [...results.values()].flatMap(({ recall }) => (recall === undefined ? [] : [recall]))
  return recalls.length === 0 ? undefined : recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length
}

/** Fraction of right answers among the compared ones. */
export function rightAnswerFraction(results: ReadonlyMap<string, QuestionResult>): number | undefined {
  const compared = [...results.values()].flatMap(({ answer }) => answer ?? [])
  return compared.length === 0 ? undefined : compared.filter(({ isRight }) => isRight).length / compared.length
}

export type RunChange = 'better' | 'worse' | 'evidence' | 'same' | 'added' | 'removed'

export interface QuestionDifference {
  question: GoldenQuestion
  before: QuestionResult | undefined
  after: QuestionResult | undefined
  change: RunChange
  /** passages that only the later or only the earlier run has */
  gained: QuestionResult['items']
  lost: QuestionResult['items']
}

const OUTCOME_ORDER: Record<QuestionOutcome, number> = { failed: 0, partly: 1, passed: 2 }
const CHANGE_ORDER: readonly RunChange[] = ['worse', 'better', 'evidence', 'added', 'removed', 'same']

/** Compares two runs by question, regressions first. */
export function compareRuns(
  golden: readonly GoldenQuestion[],
  before: ReadonlyMap<string, QuestionResult>,
  after: ReadonlyMap<string, QuestionResult>,
): QuestionDifference[] {
  const differences = golden.flatMap((question): QuestionDifference[] => {
    const was = before.get(question.id)
    const is = after.get(question.id)
    if (was === undefined && is === undefined) return []
    const gained = itemsNotIn(is, was)
    const lost = itemsNotIn(was, is)
    return [
      { question, before: was, after: is, gained, lost, change: classifyChange(was, is, gained.length + lost.length) },
    ]
  })
  return differences.sort((a, b) => CHANGE_ORDER.indexOf(a.change) - CHANGE_ORDER.indexOf(b.change))
}

function classifyChange(
  was: QuestionResult | undefined,
  is: QuestionResult | undefined,
  changedCount: number,
): RunChange {
  if (was === undefined) return 'added'
  if (is === undefined) return 'removed'
  const step =
    compareAnswers(was, is) ||
    OUTCOME_ORDER[is.outcome] - OUTCOME_ORDER[was.outcome] ||
    (is.recall ?? 0) - (was.recall ?? 0)
  if (step !== 0) return step > 0 ? 'better' : 'worse'
  return changedCount > 0 ? 'evidence' : 'same'
}

/** 1 if a wrong answer became right, -1 if a right one became wrong, else 0. */
function compareAnswers(was: QuestionResult, is: QuestionResult): number {
  if (was.answer === undefined || is.answer === undefined) return 0
  return Number(is.answer.isRight) - Number(was.answer.isRight)
}

/**
 * Items of the first result that the second lacks. Compares by document and text: each parse gives passages new ids.
 */
function itemsNotIn(result: QuestionResult | undefined, other: QuestionResult | undefined): QuestionResult['items'] {
  if (result === undefined || other === undefined) return []
  const key = ({ citations, text }: QuestionResult['items'][number]) => `${citations[0]?.documentAssetId} ${text}`
  const known = new Set(other.items.map(key))
  return result.items.filter((item) => !known.has(key(item)))
}
