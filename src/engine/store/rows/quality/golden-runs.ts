import { notFoundError } from '../../../../contract/errors.js'
import type {
  CreateGoldenRunBody,
  GoldenMetrics,
  GoldenRun,
  GoldenRunResult,
} from '../../../../contract/gateway/golden-runs.js'
import { isUuid, newId } from '../../../../lib/ids.js'
import { omitUndefined } from '../../../../lib/omit-undefined.js'
import type { Caller } from '../../../base/caller.js'
import { sqlHoldsTime } from '../../formats.js'
import { type Read, readClock, sql, type Write } from '../../program.js'
import { parseJsonCell } from '../../readable.js'
import { OF_LOST_GATEWAYS } from '../gateways.js'
import { type Reader, sqlCanRead, toReaderParameter } from '../permissions.js'
import { addQuotes, listRestrictedSources, sqlCanReadQuotes } from '../quotes.js'
import type { SpaceRow } from '../spaces.js'

/** A row of `golden_runs`. */
export interface GoldenRunRow {
  id: string
  mode: NonNullable<GoldenRun['mode']> | null
  k: number
  questions: number
  done: number
  passed: number
  /** JSON */
  metrics: string | null
  error: string | null
  created_at: number
  completed_at: number | null
}

/** A row of `golden_run_results`. */
interface GoldenResultRow {
  sequence: number
  trace_id: string | null
  answer: string | null
  /** JSON */
  body: string
}

const COLUMNS = 'id, mode, k, questions, done, passed, metrics, error, created_at, completed_at'
/** SQL: the runs of a subject in a space that quote only what it may read; three parameters, see `toOwnerParameters`. */
const OWNED = `space_key = ? AND subject = ? AND ${sqlCanReadQuotes('golden_runs')}`
const toOwnerParameters = (caller: Caller, space: SpaceRow) => [space.key, caller.subject, toReaderParameter(caller)]

interface NewGoldenRun extends Pick<CreateGoldenRunBody, 'mode' | 'k'> {
  /** number of questions */
  questions: number
  gateway: string
}

/** Inserts a running run, inside the caller's transaction. */
export function* insertGoldenRun(
  caller: Caller,
  space: SpaceRow,
  { mode, k, questions, gateway }: NewGoldenRun,
): Write<GoldenRun> {
  const id = newId()
  yield* sql.run(
    `INSERT INTO golden_runs (tenant, id, space_key, subject, mode, k, questions, claimed_by, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [space.tenant, id, space.key, caller.subject, mode ?? null, k, questions, gateway, yield* readClock()],
  )
  return yield* findGoldenRun(caller, space, id)
}

/** @throws KsError `not-found`, also for the run of another subject */
export function* findGoldenRun(caller: Caller, space: SpaceRow, id: string): Read<GoldenRun> {
  const row = isUuid(id)
    ? yield* sql.get<GoldenRunRow>(`SELECT ${COLUMNS} FROM golden_runs WHERE tenant = ? AND id = ? AND ${OWNED}`, [
        caller.tenant,
        id,
        ...toOwnerParameters(caller, space),
      ])
    : undefined
  if (row === undefined) throw notFoundError('golden run', id)
  return toGoldenRun(space, row)
}

/** Runs before an id, newest first. */
export function* listGoldenRunsBefore(
  caller: Caller,
  space: SpaceRow,
  before: string | undefined,
  limit: number,
): Read<GoldenRunRow[]> {
  return yield* sql.all<GoldenRunRow>(
    `SELECT ${COLUMNS} FROM golden_runs WHERE tenant = ? AND ${OWNED} ${before === undefined ? '' : 'AND id < ?'}
     ORDER BY id DESC LIMIT ?`,
    [caller.tenant, ...toOwnerParameters(caller, space), ...(before === undefined ? [] : [before]), limit],
  )
}

export function* removeGoldenRun({ tenant, id }: { tenant: string; id: string }): Write<void> {
  yield* sql.run('DELETE FROM golden_runs WHERE tenant = ? AND id = ?', [tenant, id])
}

/** A run that a gateway works on. */
export interface RunningGoldenRun {
  tenant: string
  spaceKey: number
  id: string
  gateway: string
}

const CLAIMED = 'tenant = ? AND id = ? AND claimed_by = ?'
const claimOf = ({ tenant, id, gateway }: RunningGoldenRun) => [tenant, id, gateway]

/**
 * Inserts a result, inside the caller's transaction. @param quoted ids of the passages whose text the result quotes
 * @returns whether the run still belongs to the gateway: it is neither deleted nor taken over
 */
export function* insertGoldenResult(
  reader: Reader,
  run: RunningGoldenRun,
  result: GoldenRunResult,
  quoted: readonly string[],
): Write<boolean> {
  const { traceId, answer, ...body } = result
  const { text, ...comparison } = answer ?? {}
  const row = yield* sql.get<{ done: number }>(`SELECT done FROM golden_runs WHERE ${CLAIMED}`, claimOf(run))
  if (row === undefined) return false
  yield* sql.run(`UPDATE golden_runs SET done = done + 1, passed = passed + ? WHERE ${CLAIMED}`, [
    result.outcome === 'passed' ? 1 : 0,
    ...claimOf(run),
  ])
  yield* sql.run(
    `INSERT INTO golden_run_results (tenant, run_id, sequence, space_key, trace_id, answer, body)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    [
      run.tenant,
      run.id,
      row.done,
      run.spaceKey,
      traceId ?? null,
      text ?? null,
      JSON.stringify(answer === undefined ? body : { ...body, answer: comparison }),
    ],
  )
  yield* addQuotes(run, yield* listRestrictedSources(reader, quoted))
  return true
}

/** Ends a run of this gateway, inside the caller's transaction. */
export function* endGoldenRun(
  run: RunningGoldenRun,
  { metrics, error }: { metrics?: GoldenMetrics; error?: string },
): Write<void> {
  yield* sql.run(
    `UPDATE golden_runs SET metrics = ?, error = ?, claimed_by = NULL, completed_at = ? WHERE ${CLAIMED}`,
    [metrics === undefined ? null : JSON.stringify(metrics), error ?? null, yield* readClock(), ...claimOf(run)],
  )
}

/** Marks runs of lost gateways as failed. @returns their number */
export function* failOrphanedGoldenRuns(now: number): Write<number> {
  return (yield* sql.run(
    `UPDATE golden_runs SET error = 'the service stopped before the run was done', claimed_by = NULL, completed_at = ?
     WHERE claimed_by IS NOT NULL AND ${OF_LOST_GATEWAYS}`,
    [now],
  )).changes
}

/** Runs that ended before a time, oldest first. */
export function* listGoldenRunsEndedBefore(
  spaceKey: number,
  before: number,
  limit: number,
): Read<{ tenant: string; id: string }[]> {
  return yield* sql.all<{ tenant: string; id: string }>(
    `SELECT tenant, id FROM golden_runs WHERE space_key = ? AND completed_at < ? AND ${sqlHoldsTime('completed_at')}
     ORDER BY completed_at LIMIT ?`,
    [spaceKey, before, limit],
  )
}

/** Results of a run after a sequence number, in the order in which the questions ended. */
export function* listGoldenResultsAfter(
  tenant: string,
  runId: string,
  after: number,
  limit: number,
): Read<GoldenResultRow[]> {
  return yield* sql.all<GoldenResultRow>(
    `SELECT sequence, trace_id, answer, body FROM golden_run_results WHERE tenant = ? AND run_id = ? AND sequence > ?
     ORDER BY sequence LIMIT ?`,
    [tenant, runId, after, limit],
  )
}

/** The ids that name a published passage which the reader may read. */
export function* filterPublishedNodes(reader: Reader, space: SpaceRow, ids: readonly string[]): Read<Set<string>> {
  const rows = yield* sql.all<{ id: string }>(
    `SELECT wanted.value id FROM json_each(?) wanted CROSS JOIN nodes ON nodes.id = wanted.value
     JOIN versions ON versions.key = nodes.version_key JOIN documents ON documents.key = versions.doc_key
     WHERE documents.tenant = ? AND documents.space_key = ? AND documents.deleted_at IS NULL
       AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL AND ${sqlCanRead('documents.source_id')}`,
    [JSON.stringify(ids), space.tenant, space.key, toReaderParameter(reader)],
  )
  return new Set(rows.map(({ id }) => id))
}

export function toGoldenRun(space: SpaceRow, row: GoldenRunRow): GoldenRun {
  const metrics: GoldenMetrics | undefined = row.metrics === null ? undefined : parseJsonCell(row.metrics)
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    status: row.completed_at === null ? 'running' : row.error === null ? 'completed' : 'failed',
    ...omitUndefined({ mode: row.mode ?? undefined }),
    k: row.k,
    questions: row.questions,
    done: row.done,
    passed: row.passed,
    ...omitUndefined({ metrics, error: row.error ?? undefined }),
    createdAt: new Date(row.created_at).toISOString(),
    ...(row.completed_at === null ? {} : { completedAt: new Date(row.completed_at).toISOString() }),
  }
}

export function toGoldenResult({ trace_id, answer: text, body }: GoldenResultRow): GoldenRunResult {
  const { answer, ...result }: GoldenRunResult = parseJsonCell(body)
  return {
    ...result,
    ...omitUndefined({ traceId: trace_id ?? undefined }),
    ...(answer === undefined ? {} : { answer: { ...answer, ...omitUndefined({ text: text ?? undefined }) } }),
  }
}
