import type { z } from 'zod'
import { isLongJson, stringifyInSlices } from '../lib/json/stringify.js'
import type { EventStream, Frame } from './http/event-stream.js'
import { openEventStream } from './http/event-stream.js'
import {
  type BaseHeaders,
  bytesReply,
  emptyReply,
  eventsReply,
  FixedJson,
  jsonBytesReply,
  jsonReply,
  type Reply,
  textReply,
} from './http/reply.js'
import type { OpenWork } from './open-work.js'
import type { AnyHandler, Binary } from './operation.js'
import type { Operation } from './routing.js'

/** Runs an operation's handler. The schemas of its own route made `input`; the table of routes hides that. */
export function call(handler: AnyHandler, input: object): unknown {
  return handler(input as never)
}

/** The reply of a handler that answers at once. */
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

/** The reply to what an operation gives back. */
export function replyTo(operation: Operation, result: unknown, request: Headers, checkResponses = false): Reply {
  const { status, body, kind } = told(operation, result)
  if (kind === 'empty') return emptyReply(status)
  if (kind === 'text') return textReply(status, String(body), operation.route.text)
  if (kind === 'binary') return bytesReply(status, (body as Binary).bytes)
  if (body instanceof FixedJson) return body.reply(status, request)
  if (checkResponses) assertBody(operation, status, body)
  return jsonReply(status, body)
}

/** What the result of an operation says. */
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

function assertBody({ route, bodies }: Operation, status: number, body: unknown): void {
  const schema = bodies.get(status)
  if (schema !== undefined) assertShape(schema, body, `${route.id} ${status}`)
}

interface StreamSurroundings {
  base: BaseHeaders
  work: OpenWork
  checkResponses: boolean
  /** the client went away: the handler's signal must abort */
  abandon(): void
  closed(error?: unknown): void
}

/** The response of a handler that streams: sent once the handler has admitted the request. */
export async function streamedResponse(
  operation: Operation,
  input: object,
  { base, work, checkResponses, abandon, closed }: StreamSurroundings,
): Promise<Response> {
  const { id, events = {} } = operation.route
  const stream = (await call(operation.handler, input)) as EventStream
  const check = ({ event, data }: Frame) => {
    const schema = events[event]
    if (schema === undefined) throw new Error(`${id} sent the undeclared event ${event}`)
    assertShape(schema, data, `${id} ${event}`)
  }
  let forget = () => {}
  const open = openEventStream(stream, {
    ...(checkResponses ? { check } : {}),
    abandon,
    closed: (error) => {
      forget()
      closed(error)
    },
  })
  forget = work.track(open)
  return eventsReply(open.body, base, stream.headers)
}

function assertShape(schema: z.ZodType, value: unknown, place: string): void {
  // what a client sees: JSON has no undefined
  const result = schema.safeParse(JSON.parse(JSON.stringify(value ?? null)))
  if (!result.success) throw new Error(`${place} does not match its schema: ${result.error.message}`)
}
