import { v5 } from 'uuid'
import { withoutThoughts } from '../../lib/text/thoughts.js'
import type { EngineContext } from '../context.js'
import { emptyAnswer } from '../query/without-thinking.js'
import { countHit } from '../rows/chat/annotations.js'
import { agentTurn } from './agent/agent.js'
import type { AgentShared } from './agent/tools.js'
import type { AnnotationMatcher } from './annotations/match.js'
import { type AnswerPiece, type Asked, answerTurn } from './answer.js'
import { moderated, refusedInput } from './moderation.js'

export type TurnShared = AgentShared & { matcher: AnnotationMatcher }

/** Answers a turn: sensitive words first, then annotations, then retrieval and the model. */
export async function* answerPieces(
  context: EngineContext,
  shared: TurnShared,
  asked: Asked,
  signal: AbortSignal,
): AsyncGenerator<AnswerPiece> {
  const { app, caller, query } = asked
  const refused = refusedInput(app, query, asked.inputs)
  if (refused !== undefined) {
    yield { type: 'settled' }
    return yield { type: 'delta', text: refused }
  }
  const annotation = await shared.matcher.match({ tenant: caller.tenant, app }, query, signal)
  if (annotation !== undefined) {
    await context.db.write(() => countHit({ tenant: caller.tenant, appId: app.id }, annotation.id))
    const account = { id: v5(caller.subject, app.id), name: caller.subject }
    yield { type: 'settled' }
    yield { type: 'annotation', annotation: { id: annotation.id, account } }
    return yield { type: 'delta', text: annotation.answer }
  }
  const answer = app.mode === 'agent-chat' ? agentTurn : answerTurn
  yield* moderated(app, neverEmpty(answer(context, shared, asked, signal)))
}

/** @throws KsError `provider-failed` at the end of an answer without text */
async function* neverEmpty(pieces: AsyncIterable<AnswerPiece>): AsyncGenerator<AnswerPiece> {
  let text = ''
  for await (const piece of pieces) {
    if (piece.type === 'delta') text += piece.text
    yield piece
  }
  if (withoutThoughts(text) === '') throw emptyAnswer()
}
