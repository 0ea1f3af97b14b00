import type { IncomingMessage } from 'node:http'
import { ChatError } from '../../contract/chat/errors.js'
import type { AppSession, ChatStream } from '../../engine/answers/index.js'
import type { ApiDialect, EdgeOptions, RequestExchange } from '../edge.js'
import { assertBody, callHandler, createEventStreamResponse } from '../handler-replies.js'
import type { StreamFrame } from '../http/event-stream.js'
import { createEmptyReply, createJsonReply, type HttpReply } from '../http/reply.js'
import type { RoutedOperation } from '../routing.js'
import { createFileResponse } from './file-response.js'
import { type ChatFormRules, readChatForm } from './form.js'
import type { ChatCallContext, ChatReply } from './handlers.js'
import { parseChatValue, readChatInput, withoutBlanks } from './read-input.js'
import { allowAllOrigins, chatErrorReply, createPreflightReply, encodeChatFrame, toKnownChatError } from './reply.js'
import { type ChatView, createView, toVisitorFailure } from './view.js'
import { type ChatVisit, checkVisitorInput } from './visits.js'

const PING_MS = 10_000
/** Above this number of open requests, connections of streams are kept open. */
const MAX_CLOSED_STREAMS = 32

/** Operations that do not need messages that are still being stored. */
const WITHOUT_STORED_MESSAGES: ReadonlySet<string> = new Set(['sendChatMessage', 'stopChatMessage'])

/** An application, and the visit that replaces its key in requests of a page. */
interface ChatSession extends AppSession {
  visit?: ChatVisit
  /** File of a signed address, which needs no key. */
  fileId?: string
}

/** The chat service below `/v1`: application keys, lenient requests, code and message for each failure. */
export const chatDialect: ApiDialect<ChatSession, ChatError> = {
  admitSource({ options, request, incoming, listener, base }) {
    allowAllOrigins(base, options.identification.version)
    // The Host check prevents DNS rebinding; the origin does not matter, since browsers never send a key on their own.
    options.guard.checkHost(request.headers, incoming?.url ?? '/', listener)
    return request.method === 'OPTIONS' ? createPreflightReply() : undefined
  },
  isGuarded: () => true,
  async authenticate(exchange, operation) {
    const session = await findSession(exchange, operation)
    exchange.isVisitor = session.visitor !== undefined
    if (!session.app.enabled) throw new ChatError('forbidden', 'The application is disabled.')
    countRequest(exchange, operation, session)
    return session
  },
  async admit({ options }, { route }, session) {
    // A stream opens before its message is stored, and the next request may refer to that message.
    if (!WITHOUT_STORED_MESSAGES.has(route.id)) await options.deps.engine.chat.stored(session)
  },
  respond,
  toFailure: toKnownChatError,
  createRefusal: (failure, headers, { isVisitor }) =>
    chatErrorReply(isVisitor ? toVisitorFailure(failure) : failure, headers),
  failures: {
    stopping: () => new ChatError('service_unavailable', 'the service is stopping'),
    noRoute: () => new ChatError('not_found', 'The requested URL was not found.'),
    wrongMethod: (allow) => new ChatError('method_not_allowed', `the method must be one of ${allow}`),
    unexpected: () => new ChatError('internal_server_error', 'Internal Server Error'),
  },
}

/** Counts a request. Keys of an application share a limit; visitors and signed addresses have separate ones. */
function countRequest(
  { options }: RequestExchange,
  operation: RoutedOperation | undefined,
  session: ChatSession,
): void {
  const { app, fileId, visit } = session
  if (visit !== undefined && !visit.isOwner) options.deps.visits.countRequest(visit, operation?.route)
  else options.rateLimit(fileId === undefined ? `chat:${app.id}` : `chat-file:${fileId}`)
}

/**
 * The application of the request's key.
 * @throws ChatError `unauthorized`
 */
async function findSession(
  { options, request, incoming, params }: RequestExchange,
  operation: RoutedOperation | undefined,
): Promise<ChatSession> {
  const header = request.headers.get('authorization')
  if (header === null && operation?.route.id === 'previewChatFile' && params.file_id !== undefined) {
    const sessionByLink = await findSessionByLink(options, request, params.file_id)
    if (sessionByLink !== undefined) return sessionByLink
  }
  const [scheme, key, ...more] = header?.trim().split(/\s+/) ?? []
  if (scheme === undefined || key === undefined)
    throw new ChatError('unauthorized', "Authorization header must be provided and start with 'Bearer'")
  if (scheme.toLowerCase() !== 'bearer') throw new ChatError('unauthorized', "Authorization scheme must be 'Bearer'")
  const session = more.length > 0 ? undefined : await findSessionByKey(options, key, incoming)
  if (session === undefined) throw new ChatError('unauthorized', 'Access token is invalid')
  return session
}

/** Tokens of visits contain dots, application keys do not. */
async function findSessionByKey(
  { deps, clientAddress }: EdgeOptions,
  key: string,
  incoming: IncomingMessage | undefined,
): Promise<ChatSession | undefined> {
  if (!key.includes('.')) return await deps.engine.chat.authenticate(key)
  const visit = await deps.visits.verify(key)
  const session = visit === undefined ? undefined : await deps.engine.chat.session(visit)
  if (session === undefined || visit === undefined) return undefined
  if (visit.isOwner) return session.owner === visit.user ? { ...session, visit } : undefined
  const countModelCall = () => deps.visits.countModelCall(visit, clientAddress(incoming))
  return { ...session, visit, visitor: { countModelCall } }
}

/**
 * The application of a file with a signed address.
 * @throws ChatError `file_access_denied`, `file_not_found`
 */
async function findSessionByLink(
  { deps, previews }: EdgeOptions,
  request: Request,
  fileId: string,
): Promise<ChatSession | undefined> {
  const isValid = previews.verify(new URL(request.url).searchParams, fileId)
  if (isValid === undefined) return undefined
  if (!isValid) throw new ChatError('file_access_denied', 'The address of the file has expired or was changed.')
  const session = await deps.engine.chat.files.sessionOf(fileId.toLowerCase())
  if (session === undefined) throw new ChatError('file_not_found', 'The file does not exist.')
  return { ...session, fileId: fileId.toLowerCase() }
}

async function respond(
  exchange: RequestExchange,
  operation: RoutedOperation,
  session: ChatSession | undefined,
): Promise<HttpReply | Response> {
  const { options, request, incoming, base } = exchange
  const { route } = operation
  const context: Omit<ChatCallContext<unknown>, 'session'> = {
    receive: async (rules: ChatFormRules) => {
      const fields = withoutBlanks(await readChatForm(request, incoming, rules))
      return route.multipart === undefined ? fields : parseChatValue(route.multipart.fields, fields)
    },
    get signal() {
      return request.signal
    },
    linkTo: (fileId) => options.previews.link(new URL(request.url).origin, fileId),
  }
  const input = await readChatInput(route, exchange.params, request, incoming)
  if (session?.visit !== undefined) checkVisitorInput(session.visit, input)
  const reply = (await callHandler(operation.handler, Object.assign(context, input, { session }))) as ChatReply
  if (reply === 'empty') return createEmptyReply(204)
  const view = createView({
    isVisitor: session?.visitor !== undefined,
    showsPassages: session?.app.retrieverResource ?? true,
  })
  if ('stream' in reply) return createStreamResponse(exchange, operation, reply.stream, view)
  if ('file' in reply) {
    exchange.isStreaming = true
    return createFileResponse(reply.file, { request, asAttachment: reply.asAttachment }, base, exchange.release)
  }
  if ('bytes' in reply) {
    const { bytes, mediaType } = reply
    const headers = { 'content-type': mediaType, 'content-length': String(bytes.byteLength) }
    return { status: 200, body: bytes, headers }
  }
  const { json, status = 200 } = reply
  if (options.checkResponses) assertBody(operation, status, json)
  return createJsonReply(status, view.body(route.id, json))
}

/** The response that streams a turn, which continues if the client disconnects. The first ping is sent at once. */
function createStreamResponse(
  exchange: RequestExchange,
  operation: RoutedOperation,
  turn: ChatStream,
  view: ChatView,
): Response {
  const interrupted = (reason: string): StreamFrame => {
    const { task_id, message_id, conversation_id, created_at } = turn.ping()
    const ids = { task_id, message_id, conversation_id, created_at }
    const data = { event: 'error', ...ids, status: 503, code: 'service_unavailable', message: reason }
    return { event: 'error', data }
  }
  // A stream closes its connection; under load that is too expensive, and the end of the body also ends the stream.
  const closing: Record<string, string> =
    exchange.options.work.count() <= MAX_CLOSED_STREAMS ? { connection: 'close' } : {}
  const headers = { 'cache-control': 'no-cache', ...closing }
  return createEventStreamResponse(
    exchange,
    operation,
    { headers, frames: toFrames(turn), interrupted },
    {
      abandon: () => {},
      framing: {
        encode: ({ data }) => encodeChatFrame(view.frame(data)),
        ping: () => encodeChatFrame(turn.ping()),
        pingMs: PING_MS,
        isSteady: true,
      },
    },
  )
}

async function* toFrames(turn: ChatStream): AsyncGenerator<StreamFrame> {
  const ping = turn.ping()
  yield { event: ping.event, data: ping }
  for await (const data of turn.frames()) yield { event: data.event, data }
}
