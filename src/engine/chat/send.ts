import type { ChatApp } from '../../contract/chat/apps.js'
import { ChatError, conversationMissing, invalidParam } from '../../contract/chat/errors.js'
import type { ChatRequest } from '../../contract/chat/messages.js'
import { newId } from '../../lib/ids.js'
import type { EngineContext } from '../context.js'
import type { SafeFetch } from '../egress/safe-fetch.js'
import { chatModel } from './answer.js'
import type { AppSession } from './apps.js'
import { livingSpaces } from './evidence.js'
import { expired, takeFiles } from './files/attach.js'
import { type Attachment, attachFiles } from './files/store.js'
import { type Inputs, readInputs } from './form.js'
import { playsByItself } from './speech/voices.js'
import { ensureUser, findConversation, insertConversation, insertMessage, type Who } from './store.js'
import { plainTitle } from './text-model.js'
import type { RunningTurn } from './turn.js'
import type { ChatTurns } from './turns.js'

/** The name of a conversation that wants none made. */
const UNNAMED = 'New conversation'

export interface Sent {
  turn: RunningTurn
  who: Who
  /** the conversation began with this message */
  isNew: boolean
}

/**
 * Admits a message: everything that can be refused is refused here, before a byte of an answer. The message is stored
 * as running before its turn begins.
 *
 * @throws ChatError
 */
export async function sendMessage(
  context: EngineContext,
  turns: ChatTurns,
  fetcher: SafeFetch,
  session: AppSession,
  request: ChatRequest,
): Promise<Sent> {
  const { app, tenant } = session
  const spaceIds = livingSpaces(context, tenant, app)
  if (app.mode === 'agent-chat') assertAgent(context, app, request)
  if (spaceIds.length === 0 && chatModel(context, app) === undefined)
    throw new ChatError('provider_not_initialize', 'the application has neither a knowledge space nor a usable model')
  if (turns.closing) throw new ChatError('service_unavailable', 'the service is stopping')
  const leave = turns.reserve(app.id, app.maxConcurrentRequests)
  if (leave === undefined)
    throw new ChatError(
      'too_many_requests',
      `Too many requests. The application answers at most ${app.maxConcurrentRequests} at once, please try again later.`,
    )
  try {
    return await begin(context, turns, fetcher, session, { request, spaceIds })
  } finally {
    leave()
  }
}

async function begin(
  context: EngineContext,
  turns: ChatTurns,
  fetcher: SafeFetch,
  session: AppSession,
  { request, spaceIds }: { request: ChatRequest; spaceIds: string[] },
): Promise<Sent> {
  const { db } = context
  const { app, tenant, owner } = session
  const files = await takeFiles(context, fetcher, session, request)
  await turns.company.wait()
  const now = Date.now()
  const admitted = await db.write(() => admit(context, session, request, files, now))
  const { who, conversationId, messageId, taskId } = admitted
  const ids = { taskId, messageId, conversationId, createdAt: Math.floor(now / 1000) }
  // an application reads with the rights of whoever made it
  const caller = { tenant, subject: owner }
  const aloud = request.response_mode === 'streaming' && playsByItself(context, app)
  const turn = turns.start(who, ids, {
    caller,
    app,
    spaceIds,
    conversationId,
    messageId,
    query: request.query,
    inputs: admitted.inputs,
    aloud,
  })
  return { turn, who, isNew: admitted.isNew }
}

function admit(context: EngineContext, { app }: AppSession, request: ChatRequest, files: Attachment[], now: number) {
  const { db } = context
  const who = { appId: app.id, userId: ensureUser(db, app.id, request.user, now) }
  const known = request.conversation_id === undefined ? undefined : findConversation(db, who, request.conversation_id)
  if (request.conversation_id !== undefined && known === undefined) throw conversationMissing()
  const kept: Inputs | undefined = known === undefined ? undefined : JSON.parse(known.inputs)
  const inputs = readInputs(app, request.inputs, kept)
  const conversationId = known?.id ?? newId()
  if (known === undefined) {
    const name = request.auto_generate_name ? plainTitle(request.query) : UNNAMED
    insertConversation(db, who, { id: conversationId, name, inputs, now })
  }
  const ids = { messageId: newId(), taskId: newId() }
  insertMessage(db, who, { id: ids.messageId, taskId: ids.taskId, conversationId, query: request.query, inputs, now })
  const lost = attachFiles(db, who, ids.messageId, files, context.now())
  if (lost !== undefined) throw expired(lost)
  return { ...ids, who, inputs, conversationId, isNew: known === undefined }
}

function assertAgent(context: EngineContext, app: ChatApp, request: ChatRequest): void {
  if (request.response_mode === 'blocking')
    throw invalidParam('response_mode', 'Agent Chat App does not support blocking mode')
  if (chatModel(context, app) === undefined)
    throw new ChatError('provider_not_initialize', 'an agent needs a model, and the application has none it could use')
}
