import type { z } from 'zod'
import type { JsonBody } from '../engine/base/json-body.js'
import { isLongJson, stringifyInSlices } from '../lib/json/stringify.js'
import { omitUndefined } from '../lib/omit-undefined.js'
import type { RequestExchange } from './edge.js'
import { openByteStream } from './http/byte-stream.js'
import { type EventStream, openEventStream, type StreamFrame, type StreamFraming } from './http/event-stream.js'
import {
  createBytesReply,
  createEmptyReply,
  createEventsResponse,
  createJsonBytesReply,
  createJsonReply,
  createTextReply,
  FixedJson,
  type HttpReply,
} from './http/reply.js'
import type { AnyHandler, BinaryBody, ByteStream } from './operation.js'
import type { RoutedOperation } from './routing.js'

/**
 * Runs an operation's handler. `input` was validated with the schemas of the operation's route, a type that the route
 * table erases.
 */
export function callHandler(handler: AnyHandler, input: object): unknown {
  return handler(input as never)
}

interface ReplyOptions {
  requestHeaders: Headers
  /** whether the body is validated with the schema of its route */
  checkResponses?: boolean
}

/** The reply of a handler that does not stream. */
export async function createPlainReply(
  operation: RoutedOperation,
  input: object,
  options: ReplyOptions,
): Promise<HttpReply> {
  const result = await callHandler(operation.handler, input)
  const { status, body, isJson } = resolveResult(operation, result)
  if (!isJson || !isLongJson(body)) return toReply(operation, result, options)
  if (options.checkResponses === true) assertBody(operation, status, body)
  return createJsonBytesReply(status, await stringifyInSlices(body))
}

/** The reply to the result of an operation. */
export function toReply(
  operation: RoutedOperation,
  result: unknown,
  { requestHeaders, checkResponses = false }: ReplyOptions,
): HttpReply {
  const { status, body, kind } = resolveResult(operation, result)
  if (kind === 'empty') return createEmptyReply(status)
  if (kind === 'text') return createTextReply(status, String(body), operation.route.text)
  if (kind === 'binary') return createBytesReply(status, (body as BinaryBody).bytes)
  if (body instanceof FixedJson) return body.reply(status, requestHeaders)
  if (checkResponses) assertBody(operation, status, body)
  return createJsonReply(status, body)
}

/** Status, body and kind of an operation's result. */
function resolveResult({ route, status: onlyStatus }: RoutedOperation, result: unknown) {
  const { status, body } =
    onlyStatus === undefined ? (result as { status: number; body: unknown }) : { status: onlyStatus, body: result }
  const kind = route.ok[status]
  if (kind === undefined) throw new Error(`${route.id} returned the undeclared status ${status}`)
  return {
    status,
    body,
    kind,
    isJson: kind !== 'empty' && kind !== 'binary' && kind !== 'text' && !(body instanceof FixedJson),
  }
}

/** @throws if the body does not match the schema of its route */
export function assertBody({ route, bodies }: RoutedOperation, status: number, body: unknown): void {
  const schema = bodies.get(status)
  if (schema !== undefined) assertShape(schema, body, `${route.id} ${status}`)
}

interface StreamCallbacks {
  /** The client disconnected: the producer of the frames should stop. */
  abandon(): void
  /** Called once, however the stream ended. */
  closed?(): void
  framing?: StreamFraming
}

/** The response that streams events; its request counts as open work until the last event is sent. */
export function createEventStreamResponse(
  exchange: RequestExchange,
  { route }: RoutedOperation,
  stream: EventStream,
  { abandon, closed, framing }: StreamCallbacks,
): Response {
  const { work, log, checkResponses } = exchange.options
  const check = ({ event, data }: StreamFrame) => {
    const schema = route.events?.[event]
    if (schema === undefined) throw new Error(`${route.id} sent the undeclared event ${event}`)
    assertShape(schema, data, `${route.id} ${event}`)
  }
  let untrack = () => {}
  const openStream = openEventStream(stream, {
    ...omitUndefined({ check: checkResponses ? check : undefined, framing }),
    abandon,
    closed: (error) => {
      untrack()
      closed?.()
      exchange.release()
      if (error === undefined) return
      log.warn({ traceId: exchange.traceId, err: error, operation: route.id }, 'stream failed')
    },
  })
  untrack = work.track(openStream)
  exchange.isStreaming = true
  return createEventsResponse(openStream.body, exchange.base, stream.headers)
}

/** The response of a streamed route: bytes, or JSON, which is sent at once if it is short. */
export async function createStreamReply(
  exchange: RequestExchange,
  operation: RoutedOperation,
  result: unknown,
): Promise<HttpReply | Response> {
  const isJson = operation.bodies.has(200)
  if (!isJson) return streamBytes(exchange, operation, result as ByteStream, ATTACHMENT)
  const body = result as JsonBody<unknown>
  if (exchange.options.checkResponses) assertBody(operation, 200, await body.value())
  if (body.buffered !== undefined) return createJsonBytesReply(200, body.buffered)
  // The edge does not wait for streamed replies, and this one may show writes that are not durable yet.
  await exchange.options.deps.engine.durable()
  const bytes = body.pieces()
  return streamBytes(exchange, operation, { bytes, close: () => undefined }, { 'content-type': 'application/json' })
}

const ATTACHMENT = { 'cache-control': 'no-store', 'content-disposition': 'attachment' }

/** The response that sends bytes as they are produced; its request counts as open work until the last byte is sent. */
function streamBytes(
  exchange: RequestExchange,
  { route }: RoutedOperation,
  { bytes, close }: ByteStream,
  headers: Record<string, string>,
): Response {
  const { work, log } = exchange.options
  let untrack = () => {}
  const openStream = openByteStream(bytes, (error) => {
    untrack()
    close()
    exchange.release()
    if (error === undefined) return
    log.error({ traceId: exchange.traceId, err: error, operation: route.id }, 'a streamed response failed')
  })
  untrack = work.track(openStream)
  exchange.isStreaming = true
  const [type = 'application/octet-stream'] = route.binary ?? []
  return new Response(openStream.body, { status: 200, headers: { ...exchange.base, 'content-type': type, ...headers } })
}

function assertShape(schema: z.ZodType, value: unknown, description: string): void {
  // Clients receive JSON, which has no undefined.
  const result = schema.safeParse(JSON.parse(JSON.stringify(value ?? null)))
  if (!result.success) throw new Error(`${description} does not match its schema: ${result.error.message}`)
}
