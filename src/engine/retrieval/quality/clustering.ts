import { BackgroundService } from '../../base/background-service.js'
import { type EngineContext, runInSpace, type SpaceHead } from '../../library/index.js'
import { listQuotes } from '../../store/rows/quotes.js'
import { findSpaceByKey, type SpaceRow } from '../../store/rows/spaces.js'
import { findTraceBundle } from '../../store/rows/traces.js'
import { isWriteStopped } from '../../store/write-stop.js'
import {
  assignCluster,
  hasUnclustered,
  listUnclusteredQueries,
  listUnclusteredSpaces,
  type UnclusteredRow,
} from '../rows/quality/clusters.js'
import { findCluster } from './assign-cluster.js'
import { type PointedSentences, toPointedCell } from './pointed.js'
import { findPointedSentences } from './pointed-search.js'

/** Failed queries of a space are compared after this time without a new one … */
const QUIET_MS = 2000
/** … or after the first of them has waited this long, in a space with constant traffic. */
const MAX_WAIT_MS = 600_000
/** Rows read at a time. */
const BATCH_SIZE = 50

/** When the failed queries of a space are due, and when the first of them arrived; milliseconds of `performance`. */
interface DueTime {
  dueAt: number
  since: number
}

/**
 * Assigns failed queries to clusters in the background, after they are answered: each needs its own search, and
 * questions have priority. Pending queries are marked in the database, so the work continues after a restart.
 */
export class FailedQueryClustering extends BackgroundService<EngineContext> {
  protected override readonly failureMessage = 'failed queries could not be compared'
  readonly #due = new Map<number, DueTime>()
  /** number of callers that are waiting for clusters */
  #waiting = 0

  /** Starts with the queries that earlier processes left. */
  override async start(context: EngineContext): Promise<void> {
    super.start(context, QUIET_MS)
    for (const spaceKey of await context.db.read(listUnclusteredSpaces())) this.captured(spaceKey)
  }

  /** Notes that a failed query of a space was captured and its row is committed. */
  captured(spaceKey: number): void {
    const now = performance.now()
    const since = this.#due.get(spaceKey)?.since ?? now
    this.#due.set(spaceKey, { dueAt: Math.min(now + QUIET_MS, since + MAX_WAIT_MS), since })
    this.wake(QUIET_MS)
  }

  /**
   * Waits until every failed query of a space is compared, at most for the given time; the rest continues in the
   * background.
   */
  async catchUp(space: SpaceHead, milliseconds: number): Promise<void> {
    const { db } = this.context
    const deadline = AbortSignal.timeout(milliseconds)
    this.#waiting++
    try {
      while (!deadline.aborted && !this.isStopped && (await db.read(hasUnclustered(space.key)))) {
        this.#due.set(space.key, { dueAt: 0, since: 0 })
        this.wake()
        await this.progress.waitForNext(deadline)
      }
    } finally {
      this.#waiting--
    }
  }

  protected override async tick(): Promise<void> {
    const { context } = this
    const spaceKey = isWriteStopped(context) ? undefined : this.#next()
    if (spaceKey === undefined) return
    this.#due.delete(spaceKey)
    try {
      await runInSpace(context.db, spaceKey, () => this.#cluster(context, spaceKey))
    } catch (error) {
      // Continues when the disk has space again; damaged rows are retried after the next start.
      if (isWriteStopped(context)) this.captured(spaceKey)
      throw error
    } finally {
      if (this.#next() !== undefined) this.wake()
    }
  }

  /** The space that has been due longest. */
  #next(): number | undefined {
    const now = performance.now()
    return [...this.#due].filter(([, { dueAt }]) => dueAt <= now).sort(([, a], [, b]) => a.dueAt - b.dueAt)[0]?.[0]
  }

  async #cluster(context: EngineContext, spaceKey: number): Promise<void> {
    for (;;) {
      const rows = await context.db.read(listUnclusteredQueries(spaceKey, BATCH_SIZE))
      for (const row of rows) {
        await context.foregroundPriority.yieldToQueries()
        if (this.isStopped) return
        const space = await context.db.read(findSpaceByKey(spaceKey))
        if (space === undefined) return
        const began = performance.now()
        await this.#clusterOne(context, space, row)
        if (this.#waiting === 0) await context.foregroundPriority.backOff(performance.now() - began, this.stopSignal)
      }
      if (rows.length < BATCH_SIZE) return
    }
  }

  async #clusterOne(context: EngineContext, space: SpaceRow, row: UnclusteredRow): Promise<void> {
    try {
      await clusterOne(context, space, row)
    } catch (error) {
      if (this.isStopped || isWriteStopped(context)) throw error
      context.log.warn({ failedQueryId: row.id, error: String(error) }, 'a failed query keeps its own cluster')
      await context.db.write(() => assignCluster(row))
    }
  }
}

/** Assigns a failed query to the cluster that asks the same; without one, it keeps its own. */
async function clusterOne(context: EngineContext, space: SpaceRow, row: UnclusteredRow): Promise<void> {
  const { db, log } = context
  const quotes = await db.read(listQuotes(row))
  const pointed = await findPointedOfQuery(context, space, row, quotes).catch((error: unknown): PointedSentences => {
    log.warn({ failedQueryId: row.id, error: String(error) }, 'a failed query is clustered by its words alone')
    return new Map()
  })
  const scope = { tenant: row.tenant, spaceKey: space.key, quotes }
  // Read before the transaction, which blocks questions. Clusters never lose or change their key, so the result stays
  // valid.
  const cluster = await db.read(findCluster(scope, row.query, pointed))
  const cell = pointed.size === 0 ? undefined : JSON.stringify(toPointedCell(pointed))
  // A lost result is computed again, so nothing waits for the disk.
  await db.record(() => assignCluster(row, { cluster, pointed: cell }))
}

/** Like triage, searches what the readers of the failed query may know of. */
async function findPointedOfQuery(
  context: EngineContext,
  space: SpaceRow,
  { tenant, query, answer_trace_id }: UnclusteredRow,
  quotes: readonly string[],
): Promise<PointedSentences> {
  const bundle = answer_trace_id === null ? undefined : await context.db.read(findTraceBundle(tenant, answer_trace_id))
  const items = bundle?.items ?? []
  const evidence = items.map(({ nodeId, text, score }) => ({ id: nodeId, text, score }))
  return await findPointedSentences(context, { space, audience: quotes }, query, evidence)
}
