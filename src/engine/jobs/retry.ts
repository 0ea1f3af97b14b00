import { KsError } from '../../contract/errors.js'
import type { DocumentCompilationJob, RetriedJobs } from '../../contract/gateway/jobs.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { queueAgain } from '../documents/reindex.js'
import { insertBulkJob } from '../rows/bulk-jobs.js'
import type { DocumentRow } from '../rows/documents.js'
import { endedInVain, findJob, type JobRow, latestJob, toJob } from '../rows/jobs.js'
import { askerOf, mayKnow } from '../rows/permissions.js'
import { findSpace, type SpaceRow, spaceByKey } from '../rows/spaces.js'
import { assertRoomForReindex } from '../spaces/quota.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { writeAnswer } from '../storage/write-answer.js'

/**
 * Tries a job again: one that failed or was canceled begins anew as a job of its own, one that waits goes on at once.
 *
 * @returns the job that runs now
 * @throws KsError `not-found`; `already-terminal` when the job was published
 */
export async function retryJob(context: EngineContext, caller: Caller, id: string): Promise<DocumentCompilationJob> {
  const { db } = context
  const job = await writeAnswer(db, caller, function* () {
    const row = yield* findJob(caller, id)
    const space = yield* spaceByKey(row.space_key)
    const document = yield* sql.get<DocumentRow>('SELECT * FROM documents WHERE key = ? AND deleted_at IS NULL', [
      row.doc_key,
    ])
    if (space === undefined || document === undefined)
      throw new KsError('already-terminal', `the document of job ${row.id} was deleted`)
    const latest = (yield* latestJob(row.doc_key)) ?? row
    if (latest.completed_at === null) return yield* toJob(yield* goOn(latest))
    if (!endedInVain(latest)) throw new KsError('already-terminal', `job ${row.id} has ended as ${row.stage}`)
    return yield* toJob(yield* queueAgain(space, document))
  })
  context.wake()
  return job
}

/** Begins every document of a space anew whose last job failed or was canceled, and asks its provider again at once. */
export async function retryFailed(context: EngineContext, caller: Caller, spaceId: string): Promise<RetriedJobs> {
  const { db } = context
  const retried = await writeAnswer(
    db,
    caller,
    function* () {
      const space = yield* findSpace(caller.tenant, spaceId)
      for (const waiting of yield* sql.all<JobRow>(
        `SELECT * FROM jobs WHERE space_key = ? AND completed_at IS NULL AND run_after > 0 AND claimed_by IS NULL
         AND ${mayKnow('jobs.source_id')}`,
        [space.key, askerOf(caller)],
      ))
        yield* goOn(waiting)
      const rows = yield* failedDocuments(caller, space)
      yield* assertRoomForReindex(context, space, rows.length)
      const items = rows.map((row) => ({ row, job: db.now(queueAgain(space, row)) }))
      const bulkJobId = yield* insertBulkJob(
        space,
        'document_reindex',
        items.map(({ row, job }) => ({ documentId: row.id, jobId: job.id })),
      )
      return { bulkJobId, total: items.length, jobs: items.map(({ job }) => db.now(toJob(job))), spaceKey: space.key }
    },
    told,
  )
  await context.vectors.askAgain(retried.spaceKey)
  context.wake()
  return told(retried)
}

function told({ spaceKey: _, ...answer }: RetriedJobs & { spaceKey: number }): RetriedJobs {
  return answer
}

function* goOn(row: JobRow): Write<JobRow> {
  yield* sql.run('UPDATE jobs SET run_after = 0 WHERE key = ? AND completed_at IS NULL', [row.key])
  return row
}

function* failedDocuments(caller: Caller, space: SpaceRow): Read<DocumentRow[]> {
  return yield* sql.all<DocumentRow>(
    `SELECT documents.* FROM documents JOIN jobs ON jobs.key =
       (SELECT key FROM jobs last WHERE last.doc_key = documents.key ORDER BY version DESC, key DESC LIMIT 1)
     WHERE documents.space_key = ? AND documents.deleted_at IS NULL AND jobs.stage IN ('failed', 'canceled')
       AND ${mayKnow('documents.source_id')} ORDER BY documents.key`,
    [space.key, askerOf(caller)],
  )
}
