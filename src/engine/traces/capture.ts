import { createHash } from 'node:crypto'
import type { FailedQueryTrigger } from '../../contract/gateway/failed-queries.js'
import type { EvidenceState } from '../../contract/gateway/queries.js'
import { LIMITS } from '../../contract/limits.js'
import { newId } from '../../lib/ids.js'
import { analyzeQuery } from '../../lib/text/analyze.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { recordQuotes, restrictedSources } from '../rows/quotes.js'
import { type Read, sql, type Write } from '../storage/program.js'

/** A query whose trace was given to the database to write. */
export interface AnsweredQuery {
  caller: Caller
  spaceKey: number
  traceId: string
  query: string
  mode: 'fast' | 'deep' | 'research'
  /** ids of the passages that it was answered with */
  evidence: readonly string[]
  state: EvidenceState
  /** numbers of the passages that the answer cites, as the generator noted them */
  cited: unknown
}

/** Longest cluster key; of more terms the rest is named by its digest. */
const CLUSTER_KEY_LENGTH = 200

/**
 * Captures a query that failed. It is called when the trace was given to the database and before that is committed: both
 * then go in one transaction, and a query whose trace could not be kept is not captured. Its answer does not wait for it,
 * and what goes wrong here is logged and nothing else. Which others ask the same is found later (`clustering.ts`).
 */
export function captureFailedQuery(context: EngineContext, answered: AnsweredQuery): void {
  const trigger = triggerOf(answered.state, answered.cited)
  if (trigger === undefined) return
  const { log } = context
  capture(context, answered, trigger).then(
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
): Promise<boolean> {
  const kept = await db.write(() => record(answered, trigger))
  failedClusters.captured(answered.spaceKey)
  return kept
}

/** Why a query counts as failed: nothing found answers, the answer used none of what was found, or it is only partial. */
export function triggerOf(state: EvidenceState, cited: unknown): FailedQueryTrigger | undefined {
  if (state === 'not-enough-evidence') return 'no-retrieval-evidence'
  if (Array.isArray(cited) && cited.length === 0) return 'abstained'
  return state === 'partial' ? 'low-confidence' : undefined
}

/** Rows of one query that are open at once; what comes after them is counted in the newest. */
const OPEN_REPEATS = 10

/**
 * Makes a row, or counts the repeat in one that is there: in a dismissed one, and in the newest open one when there are
 * many. A query that fails again after it was annotated or promoted is news.
 *
 * @returns false when there was no room for a new row
 */
function* record(answered: AnsweredQuery, trigger: FailedQueryTrigger): Write<boolean> {
  const { caller, spaceKey, traceId, query, mode, evidence } = answered
  const trace = yield* sql.get<{ one: number }>(
    `SELECT 1 one FROM traces t CROSS JOIN spaces s ON s.key = t.space_key
     WHERE t.id = ? AND t.tenant = ? AND t.space_key = ? AND s.tenant = t.tenant AND s.deleted_at IS NULL`,
    [traceId, caller.tenant, spaceKey],
  )
  if (trace === undefined) return true
  const now = Date.now()
  const key = queryKey(query)
  // a repeat is counted where it quotes the same restricted sources: what hides the one hides the other
  const quotes = yield* restrictedSources(caller, evidence)
  const open = yield* sql.all<{ id: string; status: string }>(
    `SELECT id, status FROM failed_queries WHERE tenant = ? AND space_key = ? AND query_key = ?
       AND status NOT IN ('annotated', 'promoted')
       AND coalesce((SELECT json_group_array(source_id) FROM (SELECT source_id FROM quoted_sources
         WHERE owner = failed_queries.id ORDER BY source_id)), '[]') = ? ORDER BY id DESC LIMIT ?`,
    [caller.tenant, spaceKey, key, JSON.stringify(quotes), OPEN_REPEATS],
  )
  const repeated =
    open.find(({ status }) => status === 'dismissed') ?? (open.length < OPEN_REPEATS ? undefined : open[0])
  if (repeated !== undefined) {
    yield* sql.run(
      `UPDATE failed_queries SET occurrences = occurrences + 1, asked_at = ?, updated_at = ?, trigger = ?, mode = ?,
         answer_trace_id = ? WHERE id = ?`,
      [now, now, trigger, mode, traceId, repeated.id],
    )
    return true
  }
  if (!(yield* makeRoom(caller.tenant, spaceKey))) return false
  const id = newId()
  yield* sql.run(
    `INSERT INTO failed_queries (id, tenant, space_key, query, query_key, cluster_key, unclustered, mode, trigger, status,
       occurrences, asked_at, metadata, answer_trace_id, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, 'pending-triage', 1, ?, '{}', ?, ?, ?)`,
    [
      id,
      caller.tenant,
      spaceKey,
      query,
      key,
      yield* ownCluster(caller.tenant, spaceKey, query),
      mode,
      trigger,
      now,
      traceId,
      now,
      now,
    ],
  )
  yield* recordQuotes(id, quotes)
  return true
}

/** Key of a cluster of the query's own; where another one has the key of its terms, which asks something else of them. */
function* ownCluster(tenant: string, spaceKey: number, query: string): Read<string> {
  const key = clusterKey(query)
  const taken = yield* sql.get<{ one: number }>(
    'SELECT 1 one FROM failed_queries WHERE tenant = ? AND space_key = ? AND cluster_key = ? LIMIT 1',
    [tenant, spaceKey, key],
  )
  return taken === undefined ? key : `${key} ${queryKey(query)}`
}

/** In a full space the row that was settled longest ago goes; open rows never do. */
function* makeRoom(tenant: string, spaceKey: number): Write<boolean> {
  const held = yield* sql.get<{ n: number }>(
    'SELECT count(*) n FROM failed_queries WHERE tenant = ? AND space_key = ?',
    [tenant, spaceKey],
  )
  if ((held?.n ?? 0) < LIMITS.failedQueriesPerSpace) return true
  const removed = yield* sql.run(
    `DELETE FROM failed_queries WHERE id = (SELECT id FROM failed_queries WHERE tenant = ? AND space_key = ?
       AND status IN ('dismissed', 'annotated', 'promoted') ORDER BY updated_at, id LIMIT 1)`,
    [tenant, spaceKey],
  )
  return removed.changes > 0
}

/** The same for queries that differ in case, spacing, width of characters or final punctuation only. */
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
 * The key of a cluster that a query begins: the distinct terms of the analysed query, sorted, or the query itself where it
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
