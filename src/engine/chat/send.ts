import type { ChatApp } from '../../contract/chat/apps.js'
import { ChatError, conversationMissing, invalidParam } from '../../contract/chat/errors.js'
import type { ChatRequest } from '../../contract/chat/messages.js'
import { newId } from '../../lib/ids.js'
import type { EngineContext } from '../context.js'
import type { SafeFetch } from '../egress/safe-fetch.js'
import { ensureUser, findConversation, insertConversation, insertMessage } from '../rows/chat/conversations.js'
import { type Attachment, attachFiles } from '../rows/chat/files.js'
import { countRunning } from '../rows/chat/turns.js'
import { alignVariables } from '../rows/chat/variables.js'
import type { Write } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { chatModel } from './answer.js'
import { type AppSession, appIn } from './apps.js'
import { whoIs } from './conversations.js'
import { livingSpaces } from './evidence.js'
import { expired, takeFiles } from './files/attach.js'
import { type Inputs, readInputs } from './form.js'
import type { TurnIds } from './frames.js'
import { playsByItself } from './speech/voices.js'
import { plainTitle } from './text-model.js'
import type { RunningTurn } from './turn.js'
import type { Admitted, ChatTurns } from './turns.js'

/** Name of a conversation without a generated name. */
const UNNAMED = 'New conversation'

export interface Sent {
  turn: RunningTurn
  /** The message starts a new conversation. */
  isNew: boolean
}

/**
 * Admits a message: every rejection happens here, before the first byte of an answer. Then the message is stored as
 * running, and only after that the work on the answer starts. In a burst the stream may open earlier.
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
  const spaceIds = await context.db.read(livingSpaces(tenant, app))
  if (app.mode === 'agent-chat') assertAgent(context, app, request)
  if (spaceIds.length === 0 && chatModel(context, app) === undefined)
    throw new ChatError('provider_not_initialize', 'the application has neither a knowledge space nor a usable model')
  if (turns.closing) throw new ChatError('service_unavailable', 'the service is stopping')
  if (context.db.damage !== undefined) throw new ChatError('internal_server_error', context.db.damage.message)
  if (context.db.broken)
    throw new ChatError('service_unavailable', 'the disk reported an error; the store is read-only')
  const leave = turns.reserve(session)
  if (leave === undefined) throw tooMany(app)
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
  const { app, tenant, owner } = session
  const files = await takeFiles(context, fetcher, session, request)
  let known = await context.db.read(conversationOf(session, request))
  if (known === undefined && request.conversation_id !== undefined) {
    // The first message of the conversation may still be being stored.
    await turns.messageWrites.stored(app.id)
    known = await context.db.read(conversationOf(session, request))
  }
  inputsOf(app, request, known) // Validated here, before the stream; stored with their values at that time.
  session.visitor?.countModelCall()
  const now = Date.now()
  const conversationId = known?.id ?? newId()
  const ids = { taskId: newId(), messageId: newId(), conversationId, createdAt: Math.floor(now / 1000) }
  const { turn, stored } = turns.start(
    { appId: app.id, user: request.user, isVisitor: session.visitor !== undefined },
    ids,
    {
      // An application reads with the permissions of its owner.
      caller: { tenant, subject: owner },
      app,
      spaceIds,
      conversationId,
      messageId: ids.messageId,
      query: request.query,
      // The page for visitors does not play audio.
      aloud: request.response_mode === 'streaming' && session.visitor === undefined && playsByItself(context, app),
    },
    () => store(context, session, request, { ids, files, now, isNew: known === undefined }),
  )
  // Once stored, the running turns of other gateways are known here, and this turn is known there.
  if (context.isShared) await stored
  else if (!turns.messageWrites.isCoalescing) await turns.messageWrites.stored(app.id)
  return { turn, isNew: known === undefined }
}

/**
 * The form variables of a turn.
 * @throws ChatError `not_found` if the conversation does not exist, `invalid_param`
 */
function inputsOf(app: ChatApp, request: ChatRequest, known: { inputs: string } | undefined): Inputs {
  if (request.conversation_id !== undefined && known === undefined) throw conversationMissing()
  const kept: Inputs | undefined = known === undefined ? undefined : fromCell(known.inputs)
  return readInputs(app, request.inputs, kept)
}

function* conversationOf(session: AppSession, { conversation_id: id, user }: ChatRequest) {
  const who = id === undefined ? undefined : yield* whoIs(session, user)
  return id === undefined || who === undefined ? undefined : yield* findConversation(who, id)
}

interface Opening {
  ids: TurnIds
  files: Attachment[]
  now: number
  isNew: boolean
}

/**
 * Stores the message as running, inside the caller's transaction. Admitted resources may have been deleted meanwhile.
 */
function* store(context: EngineContext, session: AppSession, request: ChatRequest, opening: Opening): Write<Admitted> {
  const { app } = session
  const { ids, files, now, isNew } = opening
  const { messageId, taskId, conversationId } = ids
  const inputs = inputsOf(app, request, yield* conversationOf(session, request))
  const of = appIn(session)
  const most = app.maxConcurrentRequests
  if (context.isShared && most > 0 && (yield* countRunning(of)) >= most) throw tooMany(app)
  const who = { ...of, userId: yield* ensureUser(of, request.user, now) }
  if (isNew) {
    const name = request.auto_generate_name ? plainTitle(request.query) : UNNAMED
    yield* insertConversation(who, { id: conversationId, name, inputs, now })
  }
  yield* alignVariables(app, who, conversationId, now)
  const message = {
    id: messageId,
    taskId,
    conversationId,
    query: request.query,
    inputs,
    gateway: context.instance,
    now,
  }
  yield* insertMessage(who, message)
  const lost = yield* attachFiles(who, messageId, files, context.now())
  if (lost !== undefined) throw expired(lost)
  return { who, inputs }
}

function tooMany({ maxConcurrentRequests }: ChatApp): ChatError {
  return new ChatError(
    'too_many_requests',
    `Too many requests. The application answers at most ${maxConcurrentRequests} at once, please try again later.`,
  )
}

function assertAgent(context: EngineContext, app: ChatApp, request: ChatRequest): void {
  if (request.response_mode === 'blocking')
    throw invalidParam('response_mode', 'Agent Chat App does not support blocking mode')
  if (chatModel(context, app) === undefined)
    throw new ChatError('provider_not_initialize', 'an agent requires a model, and the application has no usable one')
}
