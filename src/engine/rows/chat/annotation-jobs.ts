import type { AnnotationJob } from '../../../contract/chat/annotations.js'
import { newId } from '../../../lib/ids.js'
import { type Read, sql, type Write } from '../../storage/program.js'
import type { OfApp } from './apps.js'

/** A row of `chat_annotation_jobs`. */
export interface AnnotationJobRow {
  id: string
  status: AnnotationJob['job_status']
  error: string
}

/** Jobs whose process died: they say so from now on. */
export function* failLeftJobs(): Write<void> {
  yield* sql.run(
    `UPDATE chat_annotation_jobs SET status = 'error', error = 'the service stopped before the job was done'
     WHERE status IN ('waiting', 'processing')`,
  )
}

/** The job of a kind that is under way. */
export function* openJob({ tenant, appId }: OfApp, action: string): Read<Pick<AnnotationJobRow, 'id'> | undefined> {
  return yield* sql.get<Pick<AnnotationJobRow, 'id'>>(
    `SELECT id FROM chat_annotation_jobs
     WHERE tenant = ? AND app_id = ? AND action = ? AND status IN ('waiting', 'processing') LIMIT 1`,
    [tenant, appId, action],
  )
}

/** A job that waits, inside the caller's transaction. @returns its id */
export function* insertJob(
  { tenant, appId }: OfApp,
  action: string,
  threshold: number | null,
  now: number,
): Write<string> {
  const id = newId()
  yield* sql.run(
    `INSERT INTO chat_annotation_jobs (tenant, id, app_id, action, score_threshold, status, created_at)
     VALUES (?, ?, ?, ?, ?, 'waiting', ?)`,
    [tenant, id, appId, action, threshold, now],
  )
  return id
}

export function* findAnnotationJob(
  { tenant, appId }: OfApp,
  action: string,
  id: string,
): Read<AnnotationJobRow | undefined> {
  return yield* sql.get<AnnotationJobRow>(
    'SELECT id, status, error FROM chat_annotation_jobs WHERE tenant = ? AND app_id = ? AND action = ? AND id = ?',
    [tenant, appId, action, id.toLowerCase()],
  )
}

/** Inside the caller's transaction. */
export function* moveAnnotationJob(
  { tenant }: OfApp,
  id: string,
  status: AnnotationJobRow['status'],
  error = '',
): Write<void> {
  yield* sql.run('UPDATE chat_annotation_jobs SET status = ?, error = ? WHERE tenant = ? AND id = ?', [
    status,
    error,
    tenant,
    id,
  ])
}
