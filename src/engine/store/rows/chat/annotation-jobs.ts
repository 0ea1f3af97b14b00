import type { AnnotationJob } from '../../../../contract/chat/annotations.js'
import { newId } from '../../../../lib/ids.js'
import { type Read, readClock, sql, type Write } from '../../program.js'
import { OF_LOST_GATEWAYS } from '../gateways.js'
import type { AppScope } from './apps.js'

/** A row of `chat_annotation_jobs`. */
export interface AnnotationJobRow {
  id: string
  status: AnnotationJob['job_status']
  error: string
}

/** Marks jobs of lost gateways as failed. @returns their number */
export function* failOrphanedAnnotationJobs(): Write<number> {
  return (yield* sql.run(
    `UPDATE chat_annotation_jobs SET status = 'error', error = 'the service stopped before the job was done'
     WHERE status IN ('waiting', 'processing') AND ${OF_LOST_GATEWAYS}`,
  )).changes
}

/** The running or waiting job of a kind. */
export function* findOpenAnnotationJob(
  { tenant, appId }: AppScope,
  action: string,
): Read<Pick<AnnotationJobRow, 'id'> | undefined> {
  return yield* sql.get<Pick<AnnotationJobRow, 'id'>>(
    `SELECT id FROM chat_annotation_jobs
     WHERE tenant = ? AND app_id = ? AND action = ? AND status IN ('waiting', 'processing') LIMIT 1`,
    [tenant, appId, action],
  )
}

/** Inserts a waiting job, to be run by the gateway, inside the caller's transaction. @returns its id */
export function* insertAnnotationJob(
  { tenant, appId }: AppScope,
  { action, threshold }: { action: string; threshold: number | null },
  gateway: string,
): Write<string> {
  const id = newId()
  yield* sql.run(
    `INSERT INTO chat_annotation_jobs (tenant, id, app_id, action, score_threshold, status, claimed_by, created_at)
     VALUES (?, ?, ?, ?, ?, 'waiting', ?, ?)`,
    [tenant, id, appId, action, threshold, gateway, yield* readClock()],
  )
  return id
}

export function* findAnnotationJob(
  { tenant, appId }: AppScope,
  action: string,
  id: string,
): Read<AnnotationJobRow | undefined> {
  return yield* sql.get<AnnotationJobRow>(
    'SELECT id, status, error FROM chat_annotation_jobs WHERE tenant = ? AND app_id = ? AND action = ? AND id = ?',
    [tenant, appId, action, id.toLowerCase()],
  )
}

/** Sets the status of a job that has not ended, inside the caller's transaction. @returns whether it had not ended */
export function* setAnnotationJobStatus(
  { tenant }: AppScope,
  id: string,
  status: AnnotationJobRow['status'],
  error = '',
): Write<boolean> {
  const { changes } = yield* sql.run(
    `UPDATE chat_annotation_jobs SET status = ?, error = ?
     WHERE tenant = ? AND id = ? AND status IN ('waiting', 'processing')`,
    [status, error, tenant, id],
  )
  return changes === 1
}
