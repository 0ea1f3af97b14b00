import type { z } from 'zod'
import type { JsonBody } from '../engine/base/json-body.js'
import { defined } from '../lib/defined.js'
import { isLongJson, stringifyInSlices } from '../lib/json/stringify.js'
import type { Exchange } from './edge.js'
import { openByteStream } from './http/byte-stream.js'
import { type EventStream, type Frame, type Framing, openEventStream } from './http/event-stream.js'
import {
  bytesReply,
  emptyReply,
  eventsReply,
  FixedJson,
  jsonBytesReply,
  jsonReply,
  type Reply,
  textReply,
} from './http/reply.js'
import type { AnyHandler, Binary, ByteStream } from './operation.js'
import type { Operation } from './routing.js'

/**
 * Runs an operation's handler. `input` was validated with the schemas of the operation's route, a type that the route
 * table erases.
 */
export function call(handler: AnyHandler, input: object): unknown {
  return handler(input as never)
}

/** The reply of a handler that does not stream. */
export async function plainReply(
  operation: Operation,
  input: object,
  request: Headers,
  checkResponses: boolean,
): Promise<Reply> {
  const result = await call(operation.handler, input)
  const { status, body, isJson } = told(operation, result)
  if (!isJson || !isLongJson(body)) return replyTo(operation, result, request, checkResponses)
  if (checkResponses) assertBody(operation, status, body)
  return jsonBytesReply(status, await stringifyInSlices(body))
}

/** The reply to the result of an operation. */
export function replyTo(operation: Operation, result: unknown, request: Headers, checkResponses = false): Reply {
  const { status, body, kind } = told(operation, result)
  if (kind === 'empty') return emptyReply(status)
  if (kind === 'text') return textReply(status, String(body), operation.route.text)
  if (kind === 'binary') return bytesReply(status, (body as Binary).bytes)
  if (body instanceof FixedJson) return body.reply(status, request)
  if (checkResponses) assertBody(operation, status, body)
  return jsonReply(status, body)
}

/** Status, body and kind of an operation's result. */
function told({ route, status: only }: Operation, result: unknown) {
  const { status, body } =
    only === undefined ? (result as { status: number; body: unknown }) : { status: only, body: result }
  const kind = route.ok[status]
  if (kind === undefined) throw new Error(`${route.id} answered with the undeclared status ${status}`)
  return {
    status,
    body,
    kind,
    isJson: kind !== 'empty' && kind !== 'binary' && kind !== 'text' && !(body instanceof FixedJson),
  }
}

/** @throws if the body does not match the schema of its route */
export function assertBody({ route, bodies }: Operation, status: number, body: unknown): void {
  const schema = bodies.get(status)
  if (schema !== undefined) assertShape(schema, body, `${route.id} ${status}`)
}

interface StreamHooks {
  /** The client disconnected: the producer of the frames should stop. */
  abandon(): void
  /** Called once, however the stream ended. */
  closed?(): void
  framing?: Framing
}

/** The response that streams events; its request counts as open work until the last event is sent. */
export function streamedResponse(
  exchange: Exchange,
  { route }: Operation,
  stream: EventStream,
  { abandon, closed, framing }: StreamHooks,
): Response {
  const { work, log, checkResponses } = exchange.options
  const check = ({ event, data }: Frame) => {
    const schema = route.events?.[event]
    if (schema === undefined) throw new Error(`${route.id} sent the undeclared event ${event}`)
    assertShape(schema, data, `${route.id} ${event}`)
  }
  let forget = () => {}
  const open = openEventStream(stream, {
    ...defined({ check: checkResponses ? check : undefined, framing }),
    abandon,
    closed: (error) => {
      forget()
      closed?.()
      exchange.release()
      if (error === undefined) return
      log.warn({ traceId: exchange.traceId, err: error, operation: route.id }, 'stream failed')
    },
  })
  forget = work.track(open)
  exchange.streaming = true
  return eventsReply(open.body, exchange.base, stream.headers)
}

/** The response of a streamed route: bytes, or JSON, which is sent at once if it is short. */
export async function sentStream(exchange: Exchange, operation: Operation, result: unknown): Promise<Reply | Response> {
  const isJson = operation.bodies.has(200)
  if (!isJson) return sentBytes(exchange, operation, result as ByteStream, ATTACHMENT)
  const body = result as JsonBody<unknown>
  if (exchange.options.checkResponses) assertBody(operation, 200, await body.value())
  if (body.kept !== undefined) return jsonBytesReply(200, body.kept)
  // The edge does not wait for streamed replies, and this one may show writes that are not durable yet.
  await exchange.options.deps.engine.durable()
  const bytes = body.pieces()
  return sentBytes(exchange, operation, { bytes, close: () => undefined }, { 'content-type': 'application/json' })
}

const ATTACHMENT = { 'cache-control': 'no-store', 'content-disposition': 'attachment' }

/** The response that sends bytes as they are produced; its request counts as open work until the last byte is sent. */
function sentBytes(
  exchange: Exchange,
  { route }: Operation,
  { bytes, close }: ByteStream,
  headers: Record<string, string>,
): Response {
  const { work, log } = exchange.options
  let forget = () => {}
  const open = openByteStream(bytes, (error) => {
    forget()
    close()
    exchange.release()
    if (error === undefined) return
    log.error({ traceId: exchange.traceId, err: error, operation: route.id }, 'a streamed response failed')
  })
  forget = work.track(open)
  exchange.streaming = true
  const [type = 'application/octet-stream'] = route.binary ?? []
  return new Response(open.body, { status: 200, headers: { ...exchange.base, 'content-type': type, ...headers } })
}

function assertShape(schema: z.ZodType, value: unknown, place: string): void {
  // Clients receive JSON, which has no undefined.
  const result = schema.safeParse(JSON.parse(JSON.stringify(value ?? null)))
  if (!result.success) throw new Error(`${place} does not match its schema: ${result.error.message}`)
}
