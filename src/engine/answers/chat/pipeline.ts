import { v5 } from 'uuid'
import { stripThoughts } from '../../../lib/text/thoughts.js'
import { createEmptyAnswerError } from '../../retrieval/index.js'
import { incrementHitCount } from '../rows/chat/annotations.js'
import { runAgent } from './agent/agent.js'
import type { AgentServices } from './agent/tools.js'
import type { AnnotationMatcher } from './annotations/match.js'
import { type AnswerServices, answerTurn, type ChatAnswerEvent, type ChatQuestion } from './answer.js'
import type { UploadedDocuments } from './files/documents.js'
import { findInputRefusal, moderateAnswer } from './moderation.js'
import { fallBackToQuotation } from './quotation.js'

export interface TurnServices extends AgentServices, AnswerServices {
  matcher: AnnotationMatcher
  uploads: UploadedDocuments
}

/** Answers a turn: sensitive words first, then annotations, then retrieval and the model. */
export async function* generateAnswer(
  services: TurnServices,
  question: ChatQuestion,
  signal: AbortSignal,
): AsyncGenerator<ChatAnswerEvent> {
  const { app, caller, query } = question
  const refusalText = findInputRefusal(app, query, question.inputs)
  if (refusalText !== undefined) {
    yield { type: 'settled' }
    return yield { type: 'delta', text: refusalText }
  }
  const annotation = await services.matcher.match({ tenant: caller.tenant, app }, query, signal)
  if (annotation !== undefined) {
    await services.context.db.write(() => incrementHitCount({ tenant: caller.tenant, appId: app.id }, annotation.id))
    const account = { id: v5(caller.subject, app.id), name: caller.subject }
    yield { type: 'settled' }
    yield { type: 'annotation', annotation: { id: annotation.id, account } }
    return yield { type: 'delta', text: annotation.answer }
  }
  const answer = app.mode === 'agent-chat' ? runAgent : answerTurn
  const events = rejectEmpty(answer(services, question, signal))
  yield* moderateAnswer(app, fallBackToQuotation(services, question, signal, events))
}

/** @throws KsError `provider-failed` at the end of an answer without text */
async function* rejectEmpty(events: AsyncIterable<ChatAnswerEvent>): AsyncGenerator<ChatAnswerEvent> {
  let text = ''
  for await (const event of events) {
    if (event.type === 'delta') text += event.text
    yield event
  }
  if (stripThoughts(text) === '') throw createEmptyAnswerError()
}
