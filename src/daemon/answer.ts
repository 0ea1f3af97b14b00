import type { z } from 'zod'
import type { EventStream, Frame } from './http/event-stream.js'
import { openEventStream } from './http/event-stream.js'
import {
  type BaseHeaders,
  bytesReply,
  emptyReply,
  eventsReply,
  FixedJson,
  jsonReply,
  type Reply,
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
  return replyTo(operation, result, request, checkResponses)
}

/** The reply to what an operation gives back. */
export function replyTo(operation: Operation, result: unknown, request: Headers, checkResponses = false): Reply {
  const { status, body } =
    operation.status === undefined
      ? (result as { status: number; body: unknown })
      : { status: operation.status, body: result }
  const kind = operation.route.ok[status]
  if (kind === undefined) throw new Error(`${operation.route.id} answered with the undeclared status ${status}`)
  if (kind === 'empty') return emptyReply(status)
  if (kind === 'binary') return bytesReply(status, (body as Binary).bytes)
  if (body instanceof FixedJson) return body.reply(status, request)
  const schema = operation.bodies.get(status)
  if (checkResponses && schema !== undefined) assertShape(schema, body, `${operation.route.id} ${status}`)
  return jsonReply(status, body)
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
