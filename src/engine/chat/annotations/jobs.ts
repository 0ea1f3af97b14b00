import type { AnnotationJob, AnnotationJobStatus, AnnotationReplyBody } from '../../../contract/chat/annotations.js'
import { ChatError, invalidParam } from '../../../contract/chat/errors.js'
import { newId } from '../../../lib/ids.js'
import { untilWritten } from '../../base/until-written.js'
import type { EngineContext } from '../../context.js'
import { setReply } from '../../rows/chat/annotations.js'
import { sql, type Write } from '../../storage/program.js'
import type { AppSession } from '../apps.js'
import type { AnnotationMatcher } from './match.js'

export type ReplyAction = 'enable' | 'disable'

interface JobRow {
  id: string
  status: AnnotationJob['job_status']
  error: string
}

/** The switches of annotation replies, one after another. Jobs that a crash left are failed when the engine opens. */
export class AnnotationJobs {
  readonly #context: EngineContext
  readonly #matcher: AnnotationMatcher
  readonly #ending = new AbortController()
  #tail: Promise<void> = Promise.resolve()

  constructor(context: EngineContext, matcher: AnnotationMatcher) {
    this.#context = context
    this.#matcher = matcher
    const { db } = context
    db.recover(function* () {
      yield* sql.run(
        `UPDATE chat_annotation_jobs SET status = 'error', error = 'the service stopped before the job was done'
         WHERE status IN ('waiting', 'processing')`,
      )
    })
  }

  /** Begins a switch, or names the one of the same kind that is under way. @throws ChatError `invalid_param` */
  async begin(session: AppSession, action: ReplyAction, body: AnnotationReplyBody): Promise<AnnotationJob> {
    if (action === 'enable' && body.score_threshold === undefined)
      throw invalidParam('score_threshold', 'score_threshold is required')
    const { db } = this.#context
    const appId = session.app.id
    const threshold = action === 'enable' ? (body.score_threshold ?? null) : null
    const job = await db.write(function* (): Write<AnnotationJob> {
      const running = yield* sql.get<JobRow>(
        `SELECT id FROM chat_annotation_jobs
         WHERE app_id = ? AND action = ? AND status IN ('waiting', 'processing') LIMIT 1`,
        [appId, action],
      )
      if (running !== undefined) return { job_id: running.id, job_status: 'processing' }
      const id = newId()
      yield* sql.run(
        `INSERT INTO chat_annotation_jobs (id, app_id, action, score_threshold, status, created_at)
         VALUES (?, ?, ?, ?, 'waiting', ?)`,
        [id, appId, action, threshold, Date.now()],
      )
      return { job_id: id, job_status: 'waiting' }
    })
    if (job.job_status === 'waiting')
      this.#tail = this.#tail.then(() => this.#run(session, job.job_id, action, threshold))
    return job
  }

  /** @throws ChatError `invalid_param` for an unknown job, or one that another action began */
  status({ app }: AppSession, action: string, id: string): AnnotationJobStatus {
    const row = this.#context.db.now(
      sql.get<JobRow>('SELECT id, status, error FROM chat_annotation_jobs WHERE app_id = ? AND action = ? AND id = ?', [
        app.id,
        action,
        id.toLowerCase(),
      ]),
    )
    if (row === undefined) throw new ChatError('invalid_param', 'The job does not exist.', { params: 'job_id' })
    return { job_id: row.id, job_status: row.status, error_msg: row.error }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#tail
  }

  /** Never rejects. Enabling asks the model for every vector first, so that the first turn finds them. */
  async #run(session: AppSession, id: string, action: ReplyAction, threshold: number | null): Promise<void> {
    const { db, log } = this.#context
    try {
      await db.write(() => this.#move(id, 'processing'))
      if (action === 'enable') await this.#matcher.prepare(session, this.#ending.signal)
      await db.write(() => {
        db.now(setReply(session.app.id, action === 'enable', threshold))
        db.now(this.#move(id, 'completed'))
      })
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error)
      log.warn({ app: session.app.id, error: said }, 'annotation replies could not be switched')
      // at the stop of the service it is left: the next start marks it
      await untilWritten(this.#context, 'the end of a switch', this.#ending.signal, () =>
        db.write(() => this.#move(id, 'error', said)),
      ).catch(() => {})
    }
  }

  *#move(id: string, status: JobRow['status'], error = ''): Write<void> {
    yield* sql.run('UPDATE chat_annotation_jobs SET status = ?, error = ? WHERE id = ?', [status, error, id])
  }
}
