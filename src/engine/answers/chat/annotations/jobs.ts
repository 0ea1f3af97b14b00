import type { AnnotationJob, AnnotationJobStatus, AnnotationReplyBody } from '../../../../contract/chat/annotations.js'
import { ChatError, invalidParamError } from '../../../../contract/chat/errors.js'
import { retryUntilWritten } from '../../../base/retry-until-written.js'
import type { EngineContext } from '../../../library/index.js'
import type { Write } from '../../../store/program.js'
import {
  findAnnotationJob,
  findOpenAnnotationJob,
  insertAnnotationJob,
  setAnnotationJobStatus,
} from '../../../store/rows/chat/annotation-jobs.js'
import { setReplySetting } from '../../rows/chat/annotations.js'
import { type AppSession, toAppKey } from '../apps.js'
import type { AnnotationMatcher } from './match.js'

export type AnnotationReplyAction = 'enable' | 'disable'

/**
 * Jobs that enable or disable annotation replies, one after another. The cleanup of gateways marks jobs interrupted by
 * a crash as failed.
 */
export class AnnotationJobs {
  readonly #context: EngineContext
  readonly #matcher: AnnotationMatcher
  readonly #ending = new AbortController()
  #tail: Promise<void> = Promise.resolve()

  constructor(context: EngineContext, matcher: AnnotationMatcher) {
    this.#context = context
    this.#matcher = matcher
  }

  /**
   * Starts a job, or returns the running one with the same action.
   * @throws ChatError `invalid_param`
   */
  async begin(session: AppSession, action: AnnotationReplyAction, body: AnnotationReplyBody): Promise<AnnotationJob> {
    if (action === 'enable' && body.score_threshold === undefined)
      throw invalidParamError('score_threshold', 'score_threshold is required')
    const { db, instance } = this.#context
    const app = toAppKey(session)
    const threshold = action === 'enable' ? (body.score_threshold ?? null) : null
    const job = await db.write(function* (): Write<AnnotationJob> {
      const running = yield* findOpenAnnotationJob(app, action)
      if (running !== undefined) return { job_id: running.id, job_status: 'processing' }
      return {
        job_id: yield* insertAnnotationJob(app, { action, threshold }, instance),
        job_status: 'waiting',
      }
    })
    if (job.job_status === 'waiting')
      this.#tail = this.#tail.then(() => this.#run(session, job.job_id, action, threshold))
    return job
  }

  /** @throws ChatError `invalid_param` for an unknown job, or one of another action */
  async status(session: AppSession, action: string, id: string): Promise<AnnotationJobStatus> {
    const row = await this.#context.db.read(findAnnotationJob(toAppKey(session), action, id))
    if (row === undefined) throw new ChatError('invalid_param', 'The job does not exist.', { params: 'job_id' })
    return { job_id: row.id, job_status: row.status, error_msg: row.error }
  }

  async close(): Promise<void> {
    this.#ending.abort()
    await this.#tail
  }

  /** Never rejects. Enabling computes every vector first, so that the first turn finds them. */
  async #run(session: AppSession, id: string, action: AnnotationReplyAction, threshold: number | null): Promise<void> {
    const { db, log } = this.#context
    const app = toAppKey(session)
    try {
      await db.write(() => setAnnotationJobStatus(app, id, 'processing'))
      if (action === 'enable') await this.#matcher.prepare(session, this.#ending.signal)
      await db.write(function* () {
        // A job that others marked as interrupted must not change anything.
        if (yield* setAnnotationJobStatus(app, id, 'completed'))
          yield* setReplySetting(app, action === 'enable', threshold)
      })
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      log.warn({ app: session.app.id, error: message }, 'annotation replies could not be switched')
      // At shutdown it is left running: the next start marks it as failed.
      await retryUntilWritten(this.#context, 'the end of a switch', this.#ending.signal, () =>
        db.write(() => setAnnotationJobStatus(app, id, 'error', message)),
      ).catch(() => {})
    }
  }
}
