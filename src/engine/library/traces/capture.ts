import { createHash } from 'node:crypto'
import type { FailedQueryTrigger } from '../../../contract/gateway/failed-queries.js'
import type { EvidenceState } from '../../../contract/gateway/queries.js'
import { newId } from '../../../lib/ids.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import type { Caller } from '../../base/caller.js'
import type { Read, Write } from '../../store/program.js'
import {
  countRepeat,
  evictSettledFailedQuery,
  insertFailedQuery,
  isClusterKeyTaken,
  isTraceStored,
  listOpenRepeats,
} from '../../store/rows/quality/captures.js'
import { addQuotes, listRestrictedSources } from '../../store/rows/quotes.js'
import type { EngineContext } from '../context.js'

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
const MAX_CLUSTER_KEY_LENGTH = 200

/**
 * Captures a failed query in the background; errors are only logged. A query whose trace could not be stored is not
 * captured. Queries that ask the same are clustered later (`clustering.ts`).
 *
 * @param committed resolves when the trace is committed. On a file the two writes run in order and share a commit; on a
 * server each has its own connection, so that the second must wait for the first
 */
export function captureFailedQuery(
  context: EngineContext,
  answeredQuery: AnsweredQuery,
  committed: Promise<void>,
): void {
  const trigger = findFailureTrigger(answeredQuery.state, answeredQuery.cited)
  if (trigger === undefined) return
  const { log, databaseFile } = context
  // the answer reports a trace that could not be committed
  const committedFirst = databaseFile === undefined ? committed.catch(() => undefined) : undefined
  capture(context, answeredQuery, trigger, committedFirst).then(
    (isCaptured) => {
      if (!isCaptured)
        log.warn({ traceId: answeredQuery.traceId }, 'a failed query was not captured: the space holds too many')
    },
    (error: unknown) =>
      log.warn({ traceId: answeredQuery.traceId, error: String(error) }, 'capturing a failed query failed'),
  )
}

async function capture(
  { db, failedClusters }: EngineContext,
  answeredQuery: AnsweredQuery,
  trigger: FailedQueryTrigger,
  committedFirst: Promise<void> | undefined,
): Promise<boolean> {
  if (committedFirst !== undefined) await committedFirst
  const isCaptured = await db.record(() => recordFailure(answeredQuery, trigger), {
    lock: answeredQuery.spaceKey,
  })
  failedClusters.captured(answeredQuery.spaceKey)
  return isCaptured
}

/**
 * Why a query counts as failed: no evidence answers it, the answer cites none of the evidence, or the evidence is only
 * partial.
 */
export function findFailureTrigger(state: EvidenceState, cited: unknown): FailedQueryTrigger | undefined {
  if (state === 'not-enough-evidence') return 'no-retrieval-evidence'
  if (Array.isArray(cited) && cited.length === 0) return 'abstained'
  return state === 'partial' ? 'low-confidence' : undefined
}

/** maximum number of open rows of one query; further repeats are counted in the newest */
const MAX_OPEN_REPEATS = 10

/**
 * Inserts a row, or counts the repeat in an existing one: in a dismissed one, or in the newest open one if there are
 * many. A query that fails again after it was annotated or promoted gets a new row.
 *
 * @returns false when the space is full
 */
function* recordFailure(answeredQuery: AnsweredQuery, trigger: FailedQueryTrigger): Write<boolean> {
  const { caller, spaceKey, traceId, query, mode, evidence } = answeredQuery
  const { tenant } = caller
  if (!(yield* isTraceStored(tenant, spaceKey, traceId))) return true
  const key = toQueryKey(query)
  // a repeat is counted only with the same restricted sources: a reader then sees both or none
  const quotes = yield* listRestrictedSources(caller, evidence)
  const openRows = yield* listOpenRepeats({ tenant, spaceKey, queryKey: key }, quotes, MAX_OPEN_REPEATS)
  const repeated =
    openRows.find(({ status }) => status === 'dismissed') ??
    (openRows.length < MAX_OPEN_REPEATS ? undefined : openRows[0])
  if (repeated !== undefined) {
    yield* countRepeat({ tenant, id: repeated.id, trigger, mode, traceId })
    return true
  }
  if (!(yield* evictSettledFailedQuery(tenant, spaceKey))) return false
  const id = newId()
  const ownKey = yield* createClusterKey(tenant, spaceKey, query)
  yield* insertFailedQuery({ id, tenant, spaceKey, query, queryKey: key, clusterKey: ownKey, mode, trigger, traceId })
  yield* addQuotes({ tenant, id }, quotes)
  return true
}

/** Key of a new cluster for the query; with the query's key if another cluster has the same terms. */
function* createClusterKey(tenant: string, spaceKey: number, query: string): Read<string> {
  const key = toClusterKey(query)
  return (yield* isClusterKeyTaken(tenant, spaceKey, key)) ? `${key} ${toQueryKey(query)}` : key
}

/** Key that is equal for queries that differ in case, spacing, width of characters or final punctuation only. */
export function toQueryKey(query: string): string {
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
export function toClusterKey(query: string): string {
  const terms = [...new Set(analyzeQuery(query))].sort()
  if (terms.length === 0) return `query ${toQueryKey(query)}`
  const key = terms.join(' ')
  return key.length <= MAX_CLUSTER_KEY_LENGTH ? key : `${key.slice(0, MAX_CLUSTER_KEY_LENGTH)}… ${digest(key)}`
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
