import { notFound } from '../../contract/errors.js'
import type { DocumentCompilationJob, JobStage } from '../../contract/gateway/jobs.js'
import type { Database } from '../storage/database.js'

/** A row of `jobs`. */
export interface JobRow {
  key: number
  id: string
  queue_id: string
  tenant: string
  space_key: number
  doc_key: number
  version: number
  stage: JobStage
  error: string | null
  attempts: number
  unclean_ends: number
  run_after: number
  claimed_by: string | null
  created_at: number
  updated_at: number
  completed_at: number | null
}

export const TERMINAL_STAGES: readonly JobStage[] = ['published', 'failed', 'canceled']

export function latestJob(db: Database, docKey: number): JobRow | undefined {
  return db.get<JobRow>('SELECT * FROM jobs WHERE doc_key = ? ORDER BY version DESC, key DESC LIMIT 1', docKey)
}

/** @throws KsError `not-found` for an unknown job and one of another tenant */
export function findJob(db: Database, tenant: string, id: string): JobRow {
  const row = db.get<JobRow>(
    `SELECT jobs.* FROM jobs JOIN spaces ON spaces.key = jobs.space_key
     WHERE jobs.id = ? AND jobs.tenant = ? AND spaces.deleted_at IS NULL`,
    id,
    tenant,
  )
  if (row === undefined) throw notFound('job', id)
  return row
}

export function toTicket(row: JobRow): { id: string; stage: JobStage } {
  return { id: row.id, stage: row.stage }
}

export function toJob(db: Database, row: JobRow): DocumentCompilationJob {
  // the job outlives its document: whoever was told to look at it still learns how it ended
  const names = db.get<{ space: string; document: string }>(
    `SELECT spaces.id space, coalesce((SELECT id FROM documents WHERE key = ?),
       (SELECT document_id FROM staged_commits WHERE job_id = ?), '') document
     FROM spaces WHERE spaces.key = ?`,
    ...[row.doc_key, row.id, row.space_key],
  )
  if (names === undefined || names.document === '') throw notFound('job', row.id)
  return {
    id: row.id,
    knowledgeSpaceId: names.space,
    tenantId: row.tenant,
    documentAssetId: names.document,
    queueJobId: row.queue_id,
    stage: row.stage,
    version: row.version,
    ...(row.error === null ? {} : { error: row.error }),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...(row.completed_at === null ? {} : { completedAt: row.completed_at }),
  }
}

/**
 * Moves a job from one stage to the next, or not at all.
 * @returns whether this call moved it; false means somebody else ended it meanwhile
 */
export function moveJob(db: Database, id: string, from: JobStage, to: JobStage, error?: string): boolean {
  const now = Date.now()
  const terminal = TERMINAL_STAGES.includes(to)
  return (
    db.run(
      `UPDATE jobs SET stage = ?, error = ?, updated_at = ?, completed_at = ?, claimed_by = CASE WHEN ? THEN NULL ELSE claimed_by END
       WHERE id = ? AND stage = ?`,
      ...[to, error ?? null, now, terminal ? now : null, terminal ? 1 : 0, id, from],
    ).changes === 1
  )
}
