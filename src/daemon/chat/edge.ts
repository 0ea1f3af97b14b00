import type { IncomingMessage } from 'node:http'
import type { Context } from 'hono'
import { z } from 'zod'
import { ChatError } from '../../contract/chat/errors.js'
import type { ChatRoute } from '../../contract/chat/routes.js'
import type { RouteDefinition } from '../../contract/route.js'
import type { AppSession } from '../../engine/chat/apps.js'
import type { ChatTurn } from '../../engine/chat/turn.js'
import { newId } from '../../lib/ids.js'
import { admitWrite } from '../full-disk.js'
import type { EdgeBindings, EdgeOptions } from '../handle.js'
import { type Frame, openEventStream } from '../http/event-stream.js'
import { allowOf, operationMethod, withoutBody } from '../http/head.js'
import { lingerBeforeClose } from '../http/linger.js'
import {
  type BaseHeaders,
  baseHeaders,
  emptyReply,
  eventsReply,
  jsonReply,
  type Reply,
  toResponse,
  traceIdOf,
} from '../http/reply.js'
import { fileResponse } from './file-response.js'
import { type FormRules, readForm } from './form.js'
import type { ChatAnswer } from './handlers.js'
import { checked, readChatInput, withoutBlanks } from './read.js'
import { chatErrorOf, chatErrorReply, chatPreflight, encodeChatFrame, openToBrowsers } from './reply.js'

type ChatContext = Context<{ Bindings: EdgeBindings }>

/** Everything that one path of the chat service serves, by method. */
export type ChatPath = ReadonlyMap<string, { route: ChatRoute; handler: AnyChatHandler }>

/** A handler whose route is not known to the compiler any more. */
export type AnyChatHandler = (session: AppSession, input: never) => ChatAnswer | Promise<ChatAnswer>

interface Exchange {
  options: EdgeOptions
  request: Request
  incoming: IncomingMessage | undefined
  base: BaseHeaders
  /** ends the count of this request as open work */
  release(): void
  streaming: boolean
}

const PING_MS = 10_000
/** with more requests than this under way, connections of streams are kept */
const MOST_CLOSED = 32

/** What needs no message that may be on its way to the disk. */
const AT_ONCE: ReadonlySet<ChatRoute['id']> = new Set(['sendChatMessage', 'stopChatMessage'])

/** What clients ask for, without a key, to see whether the service is there; they compare no field but the version. */
const WELCOME = jsonReply(200, { welcome: 'Dify OpenAPI', api_version: 'v1', server_version: '1.0.0' })

/** Answers one request below `/v1`; never throws. `path` is undefined where no route has the path. */
export function createChatEdge(options: EdgeOptions) {
  return async (context: ChatContext, path: ChatPath | 'root' | undefined): Promise<Response> => {
    const request = context.req.raw
    const base = baseHeaders(traceIdOf(request.headers, newId), options.identification)
    openToBrowsers(base, options.identification.version)
    const incoming = context.env?.incoming
    const exchange: Exchange = { options, request, incoming, base, streaming: false, release: options.work.begin() }
    const response = await answered(exchange, context, path)
    return request.method === 'HEAD' ? withoutBody(response) : response
  }
}

async function answered(exchange: Exchange, context: ChatContext, path: ChatPath | 'root' | undefined) {
  try {
    return await answer(exchange, context, path)
  } catch (error) {
    return refuse(exchange, error)
  } finally {
    if (!exchange.streaming) exchange.release()
  }
}

async function answer(exchange: Exchange, context: ChatContext, path: ChatPath | 'root' | undefined) {
  const { options, request, incoming, base } = exchange
  // Host keeps DNS rebinding out; the origin does not matter, since a key is never sent by a browser on its own.
  options.guard.checkHost(request.headers, incoming?.url ?? '/', context.env?.listener)
  if (request.method === 'OPTIONS') return toResponse(chatPreflight(), base)
  if (options.work.stopping()) throw new ChatError('service_unavailable', 'the service is stopping')
  const method = operationMethod(request)
  if (path === 'root') return toResponse(method === 'GET' ? WELCOME : wrongMethod(['GET']), base)
  const operation = path?.get(method)
  // who has no key is not told what is there
  const session = sessionOf(exchange, operation?.route, context.req.param('file_id'))
  if (path === undefined) throw new ChatError('not_found', 'The requested URL was not found.')
  if (operation === undefined) return toResponse(wrongMethod(path.keys()), base)
  // a stream opens before its message is stored; whoever asks about that message finds it
  if (!AT_ONCE.has(operation.route.id)) await options.deps.engine.chat.stored(session)
  await admitWrite(options.room, operation.route)
  const { multipart } = operation.route as RouteDefinition
  const input = {
    ...(await readChatInput(operation.route, context.req.param(), request, incoming)),
    receive: async (rules: FormRules) => {
      const fields = withoutBlanks(await readForm(request, incoming, rules))
      return multipart === undefined ? fields : checked(multipart.fields, fields)
    },
    get signal() {
      return request.signal
    },
    linkTo: (fileId: string) => options.previews.link(new URL(request.url).origin, fileId),
  }
  const reply = await operation.handler(session, input as never) // the schemas of its own route made the input
  if (reply === 'empty') return toResponse(emptyReply(204), base)
  if ('stream' in reply) return streamed(exchange, reply.stream)
  if ('file' in reply) {
    exchange.streaming = true
    return fileResponse(reply.file, { request, asAttachment: reply.asAttachment }, base, exchange.release)
  }
  if ('bytes' in reply) {
    const headers = { 'content-type': reply.mediaType, 'content-length': String(reply.bytes.byteLength) }
    return toResponse({ status: 200, body: reply.bytes, headers }, base)
  }
  const { json, status = 200 } = reply
  if (options.checkResponses) assertShape(operation.route, status, json)
  return toResponse(jsonReply(status, json), base)
}

function wrongMethod(methods: Iterable<string>): Reply {
  const allow = allowOf(methods)
  return chatErrorReply(new ChatError('method_not_allowed', `the method must be one of ${allow}`), { allow })
}

/** The application whose key the request carries. @throws ChatError `unauthorized`, `forbidden`, `too_many_requests` */
function sessionOf(
  { options, request }: Exchange,
  route: ChatRoute | undefined,
  fileId: string | undefined,
): AppSession {
  const header = request.headers.get('authorization')
  if (header === null && route?.id === 'previewChatFile' && fileId !== undefined) {
    const signed = sessionOfLink(options, request, fileId)
    if (signed !== undefined) return admitted(options, signed)
  }
  const [scheme, key, ...more] = header?.trim().split(/\s+/) ?? []
  if (scheme === undefined || key === undefined)
    throw new ChatError('unauthorized', "Authorization header must be provided and start with 'Bearer'")
  if (scheme.toLowerCase() !== 'bearer') throw new ChatError('unauthorized', "Authorization scheme must be 'Bearer'")
  const session = more.length > 0 ? undefined : options.deps.engine.chat.authenticate(key)
  if (session === undefined) throw new ChatError('unauthorized', 'Access token is invalid')
  return admitted(options, session)
}

function admitted(options: EdgeOptions, session: AppSession): AppSession {
  if (!session.app.enabled) throw new ChatError('forbidden', 'The application is disabled.')
  options.rateLimit(`chat:${session.app.id}`)
  return session
}

/** The application of a file whose address is signed. @throws ChatError `file_access_denied`, `file_not_found` */
function sessionOfLink({ deps, previews }: EdgeOptions, request: Request, fileId: string): AppSession | undefined {
  const holds = previews.holds(new URL(request.url).searchParams, fileId)
  if (holds === undefined) return undefined
  if (!holds) throw new ChatError('file_access_denied', 'The address of the file has expired or was changed.')
  const session = deps.engine.chat.files.sessionOf(fileId.toLowerCase())
  if (session === undefined) throw new ChatError('file_not_found', 'The file does not exist.')
  return session
}

/** Whoever reads may go away: the turn goes on without them. The first ping goes out at once. */
function streamed(exchange: Exchange, turn: ChatTurn): Response {
  const { options, base } = exchange
  const controls = { forget: () => {} }
  const interrupted = (reason: string): Frame => {
    const { task_id, message_id, conversation_id, created_at } = turn.ping()
    const ids = { task_id, message_id, conversation_id, created_at }
    const data = { event: 'error', ...ids, status: 503, code: 'service_unavailable', message: reason }
    return { event: 'error', data }
  }
  const open = openEventStream(
    { headers: {}, frames: framesOf(turn), interrupted },
    {
      abandon: () => {},
      closed: (error) => {
        controls.forget()
        exchange.release()
        if (error !== undefined) options.log.warn({ err: error }, 'a chat stream failed')
      },
      framing: {
        encode: ({ data }) => encodeChatFrame(data),
        ping: () => encodeChatFrame(turn.ping()),
        pingMs: PING_MS,
        steady: true,
      },
    },
  )
  controls.forget = options.work.track(open)
  exchange.streaming = true
  // a stream ends with its connection; under load that costs too much, and the end of the body says the same
  const closing: Record<string, string> = options.work.count() <= MOST_CLOSED ? { connection: 'close' } : {}
  return eventsReply(open.body, base, { 'cache-control': 'no-cache', ...closing })
}

async function* framesOf(turn: ChatTurn): AsyncGenerator<Frame> {
  const ping = turn.ping()
  yield { event: ping.event, data: ping }
  for await (const data of turn.frames()) yield { event: data.event, data }
}

function refuse({ options, base, incoming, request }: Exchange, error: unknown): Response {
  const known = chatErrorOf(error)
  if (known === undefined) options.log.error({ err: error, method: request.method }, 'chat request failed')
  const reply = chatErrorReply(known ?? new ChatError('internal_server_error', 'Internal Server Error'))
  if (incoming === undefined || incoming.complete) return toResponse(reply, base)
  lingerBeforeClose(incoming)
  return toResponse({ ...reply, headers: { ...reply.headers, connection: 'close' } }, base)
}

function assertShape(route: RouteDefinition, status: number, json: unknown): void {
  const schema = route.ok[status]
  if (!(schema instanceof z.ZodType)) return
  const result = schema.safeParse(JSON.parse(JSON.stringify(json)))
  if (!result.success) throw new Error(`${route.id} does not match its schema: ${result.error.message}`)
}
