import type { TraceStep } from '../../contract/gateway/queries.js'
import { checkAnswer } from '../../lib/text/expected-answer.js'
import type { Reader } from '../rows/permissions.js'
import { findExpectation } from '../rows/quality/golden-questions.js'
import type { SpaceRow } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { unlessDamagedIn } from '../storage/readable.js'

const GOLDEN_STEP = 'query.golden'

/**
 * The step of a trace that compares the answer with the golden question of the same text. Traces do not contain
 * answers, so this step is the record for later comparisons of golden runs.
 *
 * @returns no step if no golden question expects an answer; a damaged expectation fails no query
 */
export function* checkGoldenAnswer(
  reader: Reader,
  space: Pick<SpaceRow, 'tenant' | 'key'>,
  query: string,
  answer: { text: string; state: string },
): Read<TraceStep[]> {
  const golden = yield* unlessDamagedIn(() => findExpectation(reader, space, query))
  if (golden === undefined) return []
  const now = new Date().toISOString()
  const metadata = { goldenQuestionId: golden.questionId, ...checkAnswer(golden.expect, answer) }
  return [{ name: GOLDEN_STEP, status: 'ok', startedAt: now, endedAt: now, metadata }]
}
