import type { z } from 'zod'

/** One operation as data: validation, types, OpenAPI and the conformance test all read it. */
export interface RouteDefinition {
  /** OpenAPI operationId; also the handler's name */
  id: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** path template with `{name}` parts; the last part may be `{name*}`, which takes the rest of the path */
  path: string
  /** `application`: a key of a chat application instead of a token */
  scope: 'read' | 'write' | 'public' | 'application'
  /** Callers with the scope who may call it; all if absent. */
  only?: 'every-scope' | 'operator' | 'operator-outside-tabs'
  /** Visitors of the page of an application may call it, not only keys of the application. */
  visitors?: true
  summary: string
  /** What a client must know beyond the summary. */
  description?: string
  /** Frames of an event stream, as sent. */
  streamExample?: string
  /** Headers of a success, with their descriptions. */
  headers?: Readonly<Record<string, string>>
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** The body may also be multipart/form-data or application/x-www-form-urlencoded. */
  forms?: true
  /** Body fields in which a blank text is a value; elsewhere it counts as absent. */
  blanks?: readonly string[]
  /** file parts and text fields, for operations that take multipart/form-data */
  multipart?: MultipartDefinition
  /** Success statuses and their bodies. */
  ok: Record<number, z.ZodType | 'empty' | 'binary' | 'text' | 'event-stream'>
  /** Keys of the response that hold a secret; stored and repeated responses have null there. */
  shownOnce?: readonly string[]
  /** Media types of a binary body; application/octet-stream if absent. */
  binary?: readonly string[]
  /** A long body, binary or JSON, is streamed. */
  streamed?: true
  /** media type of a text body */
  text?: string
  /** payloads of the frames of an event stream */
  events?: Record<string, z.ZodType>
  /** Statuses other than 401, 403 and 500. */
  errors: number[]
  /** Not in the API documents. */
  extension?: true
}

export interface MultipartDefinition {
  file: { name: string; many: boolean }
  fields: z.ZodObject
  /** Size limit for files that are not documents and may be larger. */
  maxBytes?: number
}

/** Keeps the literal types of a route. */
export function route<const R extends RouteDefinition>(definition: R): R {
  return definition
}

/** Whether a request needs a JSON body: false if all keys of the body are optional. */
export function needsBody({ body, forms }: RouteDefinition): boolean {
  return forms === true || (body !== undefined && !body.safeParse({}).success)
}

type ParsedInput<S> = S extends z.ZodType ? z.output<S> : undefined
type SentInput<S> = S extends z.ZodType ? z.input<S> : undefined

/** The validated input of a handler. */
export interface RouteInput<R extends RouteDefinition> {
  params: ParsedInput<R['params']>
  query: ParsedInput<R['query']>
  body: ParsedInput<R['body']>
}

/** What a client sends. */
export interface RouteRequest<R extends RouteDefinition> {
  path: SentInput<R['params']>
  query: SentInput<R['query']>
  body: SentInput<R['body']>
}

/** Union of the JSON success bodies of a route; `undefined` for an empty one. */
export type RouteResult<R extends RouteDefinition> = {
  [S in keyof R['ok']]: R['ok'][S] extends z.ZodType ? z.output<R['ok'][S]> : undefined
}[keyof R['ok']]
