import { createHash } from 'node:crypto'
import type { FailedQueryTrigger } from '../../contract/gateway/failed-queries.js'
import type { EvidenceState } from '../../contract/gateway/queries.js'
import { newId } from '../../lib/ids.js'
import { analyzeQuery } from '../../lib/text/analyze.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import {
  countRepeat,
  insertFailed,
  isClusterKeyTaken,
  isTraceKept,
  makeRoomForFailed,
  openRepeats,
} from '../rows/quality/captures.js'
import { recordQuotes, restrictedSources } from '../rows/quotes.js'
import type { Read, Write } from '../storage/program.js'

/** A query whose trace is being written. */
export interface AnsweredQuery {
  caller: Caller
  spaceKey: number
  traceId: string
  query: string
  mode: 'fast' | 'deep' | 'research'
  /** ids of the passages in its evidence */
  evidence: readonly string[]
  state: EvidenceState
  /** numbers of the passages that the answer cites, as the generator reported them */
  cited: unknown
}

/** maximum length of a cluster key; further terms are replaced by a digest */
const CLUSTER_KEY_LENGTH = 200

/**
 * Captures a failed query in the background; errors are only logged. A query whose trace could not be stored is not
 * captured. Queries that ask the same are clustered later (`clustering.ts`).
 *
 * @param committed resolves when the trace is committed. On a file the two writes run in order and share a commit; on a
 * server each has its own connection, so that the second must wait for the first
 */
export function captureFailedQuery(context: EngineContext, answered: AnsweredQuery, committed: Promise<void>): void {
  const trigger = triggerOf(answered.state, answered.cited)
  if (trigger === undefined) return
  const { log, databaseFile } = context
  // the answer reports a trace that could not be committed
  const before = databaseFile === undefined ? committed.catch(() => undefined) : undefined
  capture(context, answered, trigger, before).then(
    (kept) => {
      if (!kept) log.warn({ traceId: answered.traceId }, 'a failed query was not captured: the space holds too many')
    },
    (error: unknown) =>
      log.warn({ traceId: answered.traceId, error: String(error) }, 'capturing a failed query failed'),
  )
}

async function capture(
  { db, failedClusters }: EngineContext,
  answered: AnsweredQuery,
  trigger: FailedQueryTrigger,
  before: Promise<void> | undefined,
): Promise<boolean> {
  if (before !== undefined) await before
  const kept = await db.record(() => record(answered, trigger, Date.now()), { lock: answered.spaceKey })
  failedClusters.captured(answered.spaceKey)
  return kept
}

/**
 * Why a query counts as failed: no evidence answers it, the answer cites none of the evidence, or the evidence is only
 * partial.
 */
export function triggerOf(state: EvidenceState, cited: unknown): FailedQueryTrigger | undefined {
  if (state === 'not-enough-evidence') return 'no-retrieval-evidence'
  if (Array.isArray(cited) && cited.length === 0) return 'abstained'
  return state === 'partial' ? 'low-confidence' : undefined
}

/** maximum number of open rows of one query; further repeats are counted in the newest */
const OPEN_REPEATS = 10

/**
 * Inserts a row, or counts the repeat in an existing one: in a dismissed one, or in the newest open one if there are
 * many. A query that fails again after it was annotated or promoted gets a new row.
 *
 * @returns false when the space is full
 */
function* record(answered: AnsweredQuery, trigger: FailedQueryTrigger, now: number): Write<boolean> {
  const { caller, spaceKey, traceId, query, mode, evidence } = answered
  const { tenant } = caller
  if (!(yield* isTraceKept(tenant, spaceKey, traceId))) return true
  const key = queryKey(query)
  // a repeat is counted only with the same restricted sources: a reader then sees both or none
  const quotes = yield* restrictedSources(caller, evidence)
  const open = yield* openRepeats({ tenant, spaceKey, queryKey: key }, quotes, OPEN_REPEATS)
  const repeated =
    open.find(({ status }) => status === 'dismissed') ?? (open.length < OPEN_REPEATS ? undefined : open[0])
  if (repeated !== undefined) {
    yield* countRepeat({ tenant, id: repeated.id, trigger, mode, traceId }, now)
    return true
  }
  if (!(yield* makeRoomForFailed(tenant, spaceKey))) return false
  const id = newId()
  const own = yield* ownCluster(tenant, spaceKey, query)
  yield* insertFailed({ id, tenant, spaceKey, query, queryKey: key, clusterKey: own, mode, trigger, traceId }, now)
  yield* recordQuotes({ tenant, id }, quotes)
  return true
}

/** Key of a new cluster for the query; with the query's key if another cluster has the same terms. */
function* ownCluster(tenant: string, spaceKey: number, query: string): Read<string> {
  const key = clusterKey(query)
  return (yield* isClusterKeyTaken(tenant, spaceKey, key)) ? `${key} ${queryKey(query)}` : key
}

/** Key that is equal for queries that differ in case, spacing, width of characters or final punctuation only. */
export function queryKey(query: string): string {
  const plain = query
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[\s?!.。…]+$/u, '')
    .trim()
  return digest(plain === '' ? query : plain)
}

/**
 * The key of a cluster that a query starts: the distinct terms of the analyzed query, sorted, or the query itself if it
 * has none.
 */
export function clusterKey(query: string): string {
  const terms = [...new Set(analyzeQuery(query))].sort()
  if (terms.length === 0) return `query ${queryKey(query)}`
  const key = terms.join(' ')
  return key.length <= CLUSTER_KEY_LENGTH ? key : `${key.slice(0, CLUSTER_KEY_LENGTH)}… ${digest(key)}`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
