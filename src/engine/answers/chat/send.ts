import type { ChatApp } from '../../../contract/chat/apps.js'
import { ChatError, conversationMissingError, invalidParamError } from '../../../contract/chat/errors.js'
import type { ChatRequest } from '../../../contract/chat/messages.js'
import { newId } from '../../../lib/ids.js'
import type { EngineContext } from '../../library/index.js'
import type { SafeFetch } from '../../models/index.js'
import type { Write } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { ensureUser, findConversation, insertConversation, insertMessage } from '../../store/rows/chat/conversations.js'
import { type Attachment, attachFiles } from '../../store/rows/chat/files.js'
import { countRunningMessages } from '../../store/rows/chat/turns.js'
import { alignVariables } from '../rows/chat/variables.js'
import { getChatModel } from './answer.js'
import { type AppSession, getOwner, toAppKey } from './apps.js'
import { findEndUser } from './conversations.js'
import { findLivingSpaceIds } from './evidence.js'
import { createExpiredError, resolveFiles } from './files/attach.js'
import { type Inputs, parseInputs } from './form.js'
import type { TurnIds } from './frames.js'
import { isAutoPlayed } from './speech/voices.js'
import { createPlainTitle } from './text-model.js'
import type { RunningTurn } from './turn.js'
import type { AdmittedMessage, ChatTurns } from './turns.js'

/** Name of a conversation without a generated name. */
const DEFAULT_NAME = 'New conversation'

interface MessageServices {
  context: EngineContext
  turns: ChatTurns
  /** downloads the images of a message */
  fetcher: SafeFetch
}

export interface SentMessage {
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
  services: MessageServices,
  session: AppSession,
  request: ChatRequest,
): Promise<SentMessage> {
  const { context, turns } = services
  const { app, tenant } = session
  const spaceIds = await context.db.read(findLivingSpaceIds(tenant, app))
  if (app.mode === 'agent-chat') assertAgent(context, app, request)
  if (spaceIds.length === 0 && getChatModel(context, app) === undefined)
    throw new ChatError('provider_not_initialize', 'the application has neither a knowledge space nor a usable model')
  if (turns.closing) throw new ChatError('service_unavailable', 'the service is stopping')
  if (context.db.damage !== undefined) throw new ChatError('internal_server_error', context.db.damage.message)
  if (context.db.broken)
    throw new ChatError('service_unavailable', 'the disk reported an error; the store is read-only')
  const leave = turns.reserve(session)
  if (leave === undefined) throw createTooManyRequests(app)
  try {
    return await startTurn(services, session, request, spaceIds)
  } finally {
    leave()
  }
}

async function startTurn(
  { context, turns, fetcher }: MessageServices,
  session: AppSession,
  request: ChatRequest,
  spaceIds: string[],
): Promise<SentMessage> {
  const { app } = session
  const files = await resolveFiles(context, fetcher, session, request)
  let known = await context.db.read(findRequestConversation(session, request))
  if (known === undefined && request.conversation_id !== undefined) {
    // The first message of the conversation may still be being stored.
    await turns.messageWrites.stored(app.id)
    known = await context.db.read(findRequestConversation(session, request))
  }
  parseTurnInputs(app, request, known) // Validated here, before the stream; stored with their values at that time.
  session.visitor?.countModelCall()
  const now = context.now()
  const conversationId = known?.id ?? newId()
  const ids = { taskId: newId(), messageId: newId(), conversationId, createdAt: Math.floor(now / 1000) }
  const { turn, stored } = turns.start(
    { appId: app.id, user: request.user, isVisitor: session.visitor !== undefined },
    ids,
    {
      caller: getOwner(session),
      app,
      spaceIds,
      conversationId,
      messageId: ids.messageId,
      query: request.query,
      isVisitor: session.visitor !== undefined,
      // The page for visitors does not play audio.
      aloud: request.response_mode === 'streaming' && session.visitor === undefined && isAutoPlayed(context, app),
    },
    () => storeMessage(context, session, request, { ids, files, now, isNew: known === undefined }),
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
function parseTurnInputs(app: ChatApp, request: ChatRequest, known: { inputs: string } | undefined): Inputs {
  if (request.conversation_id !== undefined && known === undefined) throw conversationMissingError()
  const kept: Inputs | undefined = known === undefined ? undefined : parseJsonCell(known.inputs)
  return parseInputs(app, request.inputs, kept)
}

function* findRequestConversation(session: AppSession, { conversation_id: id, user }: ChatRequest) {
  const endUser = id === undefined ? undefined : yield* findEndUser(session, user)
  return id === undefined || endUser === undefined ? undefined : yield* findConversation(endUser, id)
}

interface NewMessage {
  ids: TurnIds
  files: Attachment[]
  now: number
  isNew: boolean
}

/**
 * Stores the message as running, inside the caller's transaction. Admitted resources may have been deleted meanwhile.
 */
function* storeMessage(
  context: EngineContext,
  session: AppSession,
  request: ChatRequest,
  opening: NewMessage,
): Write<AdmittedMessage> {
  const { app } = session
  const { ids, files, now, isNew } = opening
  const { messageId, taskId, conversationId } = ids
  const inputs = parseTurnInputs(app, request, yield* findRequestConversation(session, request))
  const appKey = toAppKey(session)
  const maxConcurrent = app.maxConcurrentRequests
  if (context.isShared && maxConcurrent > 0 && (yield* countRunningMessages(appKey)) >= maxConcurrent)
    throw createTooManyRequests(app)
  const endUser = { ...appKey, userId: yield* ensureUser(appKey, request.user, now) }
  if (isNew) {
    const name = request.auto_generate_name ? createPlainTitle(request.query) : DEFAULT_NAME
    yield* insertConversation(endUser, { id: conversationId, name, inputs, now })
  }
  yield* alignVariables(app, endUser, conversationId, now)
  const message = {
    id: messageId,
    taskId,
    conversationId,
    query: request.query,
    inputs,
    gateway: context.instance,
    now,
  }
  yield* insertMessage(endUser, message)
  const expiredFile = yield* attachFiles(endUser, messageId, files, context.now())
  if (expiredFile !== undefined) throw createExpiredError(expiredFile)
  return { endUser, inputs }
}

function createTooManyRequests({ maxConcurrentRequests }: ChatApp): ChatError {
  return new ChatError(
    'too_many_requests',
    `Too many requests. The application answers at most ${maxConcurrentRequests} at once, please try again later.`,
  )
}

function assertAgent(context: EngineContext, app: ChatApp, request: ChatRequest): void {
  if (request.response_mode === 'blocking')
    throw invalidParamError('response_mode', 'Agent Chat App does not support blocking mode')
  if (getChatModel(context, app) === undefined)
    throw new ChatError('provider_not_initialize', 'an agent requires a model, and the application has no usable one')
}
