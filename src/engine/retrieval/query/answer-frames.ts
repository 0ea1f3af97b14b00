import type { EvidenceBundle } from '../../../contract/gateway/queries.js'
import type { Degradation } from '../../base/degraded.js'
import type { AnswerFrame } from '../../base/query-run.js'
import type { TraceRecorder } from '../../library/index.js'
import { answerQuery } from './answer.js'
import type { AnswerRequest } from './model-answer.js'
import type { RetrievalResult } from './retrieval.js'

/** A run whose answer is streamed. */
interface AnsweredRun {
  traceId: string
  recorder: TraceRecorder
  /** number of answer frames that were sent; is increased */
  deltas: number
}

/** An answer that was streamed completely. */
interface StreamedAnswer {
  text: string
  /** the evidence with its state after the answer */
  bundle: EvidenceBundle
  metadata: Record<string, unknown>
  degraded: Degradation[]
}

/** Streams the text of an answer and records the step `query.answer`. */
export async function* streamAnswer(
  request: AnswerRequest,
  evidence: { bundle: EvidenceBundle; retrieved: RetrievalResult },
  run: AnsweredRun,
): AsyncGenerator<AnswerFrame, StreamedAnswer> {
  const { context } = request
  const { traceId, recorder } = run
  const [startedAt, started] = [context.now(), performance.now()]
  const answer: StreamedAnswer = { text: '', bundle: evidence.bundle, metadata: {}, degraded: [] }
  for await (const part of answerQuery(request, evidence.bundle, evidence.retrieved)) {
    if (part.type === 'delta') {
      answer.text += part.text
      run.deltas++
      yield { event: 'answer.delta', data: { delta: part.text, traceId } }
    } else if (part.type === 'failed-attempt') {
      recorder.add('query.answer', 'error', startedAt, part.metadata)
      answer.degraded.push(part.degraded)
    } else {
      answer.bundle = part.bundle
      Object.assign(answer.metadata, part.metadata)
    }
  }
  recorder.add('query.answer', 'ok', startedAt, {
    durationMs: Math.round(performance.now() - started),
    answerChars: answer.text.length,
    ...answer.metadata,
  })
  return answer
}

/** Whether the evidence answers, as `answer.done` reports it. */
export function getFinishReason({ state, items }: EvidenceBundle): 'retrieval-evidence' | 'no-retrieval-evidence' {
  return state === 'not-enough-evidence' || items.length === 0 ? 'no-retrieval-evidence' : 'retrieval-evidence'
}
