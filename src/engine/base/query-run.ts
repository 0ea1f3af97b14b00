import type { AnswerDelta, AnswerDone, AnswerError } from '../../contract/gateway/queries.js'

export type AnswerFrame =
  | { event: 'answer.delta'; data: AnswerDelta }
  | { event: 'answer.done'; data: AnswerDone }
  | { event: 'answer.error'; data: AnswerError }

/** A query that was admitted: headers may be sent, then the frames follow. */
export interface QueryRun {
  /** id of the trace, sent as x-query-run-id */
  traceId: string
  /** sent as x-session-id */
  sessionId: string
  /**
   * ends after one `answer.done` or `answer.error`; ends early, without a trace, when the signal aborts before the run
   * is claimed
   */
  frames(): AsyncIterable<AnswerFrame>
}
