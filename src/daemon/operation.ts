import type { z } from 'zod'
import type { RouteDefinition, RouteInput } from '../contract/route.js'
import type { Engine } from '../engine/api.js'
import type { Caller } from '../engine/base/caller.js'
import type { JsonBody } from '../engine/base/json-body.js'
import type { TabSession } from '../local/keys.js'
import type { ProtectedFiles } from '../local/protected-files.js'
import type { ChatVisits } from './chat/visits.js'
import type { ReceiveUpload } from './gateway/upload-form.js'
import type { EventStream } from './http/event-stream.js'
import type { FixedJson } from './http/reply.js'
import type { RequestMetrics } from './metrics/requests.js'
import type { StatusReader } from './status.js'
import type { WatchControl } from './watch/control.js'

export interface HandlerDeps {
  engine: Engine
  compilation: 'durable' | 'inline'
  status: StatusReader
  /** Metrics of both APIs. */
  requestMetrics: RequestMetrics
  watching: WatchControl
  visits: ChatVisits
  dataDir: string
  /** Current files of this program, which no space may contain. */
  findProtectedFiles(): ProtectedFiles
  /** Created at first use. */
  openapi(): FixedJson
}

/** Input of a handler in addition to that of the route. */
export interface HandlerContext {
  caller: Caller
  /** May manage the daemon itself. */
  operator: boolean
  /** Address of the client, for limits by address. */
  address: string
  /** The session of a console tab that the token belongs to. */
  tab?: TabSession
}

/** Bytes that are sent as they are produced. */
export interface ByteStream {
  bytes: AsyncIterable<Uint8Array>
  /** Called once, however the response ended. */
  close(): void
}

export interface BinaryBody {
  bytes: Uint8Array
}

type OkBody<T> = T extends z.ZodType
  ? z.output<T> | FixedJson
  : T extends 'binary'
    ? BinaryBody
    : T extends 'text'
      ? string
      : T extends 'event-stream'
        ? EventStream
        : undefined

type StreamedBody<R extends RouteDefinition> = R extends { streamed: true }
  ? R['ok'][keyof R['ok']] extends infer T extends z.ZodType
    ? JsonBody<z.output<T>>
    : ByteStream
  : never

type ReplyWithStatus<T> = { [S in keyof T]: { status: S; body: OkBody<T[S]> } }[keyof T]
type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never

/** A route with one success status returns its body; one with several returns the status, too. */
export type HandlerReply<R extends RouteDefinition> = [StreamedBody<R>] extends [never]
  ? true extends IsUnion<keyof R['ok']>
    ? ReplyWithStatus<R['ok']>
    : OkBody<R['ok'][keyof R['ok']]>
  : StreamedBody<R>

/** An operation without a reply may return nothing. */
type HandlerResult<R extends RouteDefinition> =
  | HandlerReply<R>
  | ([HandlerReply<R>] extends [undefined] ? Promise<void> : Promise<HandlerReply<R>>)

type UploadInput<R extends RouteDefinition> = R extends { multipart: { fields: infer F extends z.ZodObject } }
  ? { receive: ReceiveUpload<z.output<F>> }
  : object

/**
 * `signal` aborts when the client disconnects before the response is complete; `lastEventId` is the id of the last
 * frame that a reconnecting client received.
 */
type StreamInput<R extends RouteDefinition> = R extends { events: object }
  ? { signal: AbortSignal; lastEventId: string | undefined }
  : object

export type RouteHandler<R extends RouteDefinition> = (
  input: RouteInput<R> & HandlerContext & UploadInput<R> & StreamInput<R>,
) => HandlerResult<R>

/** One handler for each route, by the route's id: a missing or mistyped one does not compile. */
export type RouteHandlers<Routes extends readonly RouteDefinition[]> = {
  [R in Routes[number] as R['id']]: RouteHandler<R>
}

/** A handler with its route type erased. */
export type AnyHandler = (input: never) => unknown

type PathParameters<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [Name, ...PathParameters<Rest>]
  : []

type PathValues<R extends RouteDefinition, Names extends string[] = PathParameters<R['path']>> = {
  [K in keyof Names]: R extends { params: infer P extends z.ZodObject } ? z.output<P>[Names[K]] : never
}

type SentValue<R extends RouteDefinition> = R extends { query: infer S extends z.ZodType }
  ? [query: z.output<S>]
  : R extends { body: infer S extends z.ZodType }
    ? [body: z.output<S>]
    : []

/** An operation of the engine as a route needs it: the path's parameters in their order, then the query or the body. */
type EngineOperation<R extends RouteDefinition> = (
  caller: Caller,
  ...rest: [...PathValues<R>, ...SentValue<R>]
) => HandlerResult<R>

/** One operation of the engine for each route, by the route's id. */
export type EngineOperations<Routes extends readonly RouteDefinition[]> = {
  [R in Routes[number] as R['id']]: EngineOperation<R>
}

/** An operation with its route type erased. */
type AnyOperation = (...args: never[]) => unknown

/** The handlers of the routes that have an operation of the engine. */
export function toHandlers(
  routes: readonly RouteDefinition[],
  operations: Readonly<Record<string, AnyOperation>>,
): Record<string, AnyHandler> {
  const handlers: Record<string, AnyHandler> = {}
  for (const route of routes) {
    const operation = operations[route.id]
    if (operation !== undefined) handlers[route.id] = toHandler(route, operation)
  }
  return handlers
}

type ForwardedInput = HandlerContext & { params?: Record<string, unknown>; query: unknown; body: unknown }

function toHandler({ path, query, body }: RouteDefinition, operation: AnyOperation): AnyHandler {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const sentPart = query !== undefined ? 'query' : body !== undefined ? 'body' : undefined
  return (input: ForwardedInput) => {
    const values = names.map((name) => input.params?.[name])
    const sentValues = sentPart === undefined ? [] : [input[sentPart]]
    return Reflect.apply(operation, undefined, [input.caller, ...values, ...sentValues])
  }
}
