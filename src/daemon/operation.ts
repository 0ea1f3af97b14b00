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
import type { RequestTimes } from './metrics/requests.js'
import type { StatusReader } from './status.js'
import type { WatchControl } from './watch/control.js'

/** What handlers work with. */
export interface HandlerDeps {
  engine: Engine
  compilation: 'durable' | 'inline'
  status: StatusReader
  /** of both APIs */
  requests: RequestTimes
  watching: WatchControl
  visits: ChatVisits
  dataDir: string
  /** current files of this program, which no space may contain */
  ownFiles(): ProtectedFiles
  /** built at first use */
  openapi(): FixedJson
}

/** What a handler receives beside the route's own input. */
export interface CallContext {
  caller: Caller
  /** may manage the daemon itself */
  operator: boolean
  /** of the client, for limits by address */
  address: string
  /** the session of a console tab that the token belongs to */
  tab?: TabSession
}

/** Bytes that are sent as they are made. */
export interface ByteStream {
  bytes: AsyncIterable<Uint8Array>
  /** called once, however the answer ended */
  close(): void
}

/** Bytes as the answer. */
export interface Binary {
  bytes: Uint8Array
}

type OkBody<T> = T extends z.ZodType
  ? z.output<T> | FixedJson
  : T extends 'binary'
    ? Binary
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

type Several<T> = { [S in keyof T]: { status: S; body: OkBody<T[S]> } }[keyof T]
type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never

/** A route with one success answers with its body; one with several says which. */
export type HandlerReply<R extends RouteDefinition> = [StreamedBody<R>] extends [never]
  ? true extends IsUnion<keyof R['ok']>
    ? Several<R['ok']>
    : OkBody<R['ok'][keyof R['ok']]>
  : StreamedBody<R>

type UploadInput<R extends RouteDefinition> = R extends { multipart: { fields: infer F extends z.ZodObject } }
  ? { receive: ReceiveUpload<z.output<F>> }
  : object

/**
 * `signal` aborts when the client goes away before the answer is complete; `lastEventId` is the id of the last frame that
 * a client which reconnects has seen.
 */
type StreamInput<R extends RouteDefinition> = R extends { events: object }
  ? { signal: AbortSignal; lastEventId: string | undefined }
  : object

export type Handler<R extends RouteDefinition> = (
  input: RouteInput<R> & CallContext & UploadInput<R> & StreamInput<R>,
) => Promise<HandlerReply<R>> | HandlerReply<R>

/** One handler for each route, by the route's id: a missing one, or one of a wrong shape, does not compile. */
export type Handlers<Routes extends readonly RouteDefinition[]> = {
  [R in Routes[number] as R['id']]: Handler<R>
}

/** A handler whose route is not known to the compiler any more. */
export type AnyHandler = (input: never) => unknown
