import type { z } from 'zod'

/** One operation as data: validation, types, OpenAPI and the conformance test all read this value. */
export interface RouteDefinition {
  /** OpenAPI operationId; also the handler's name */
  id: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** path template with `{name}` parts; the last part may be `{name*}`, which takes the rest of the path */
  path: string
  /** `application`: a key of a chat application instead of a token */
  scope: 'read' | 'write' | 'public' | 'application'
  /** which callers with the scope may call it; all if absent */
  only?: 'every-scope' | 'operator' | 'operator-outside-tabs'
  /** a visitor of the page of an application may call it, as a key of the application may */
  visitors?: true
  summary: string
  /** what a client has to know beyond the summary */
  description?: string
  /** frames of an event stream as they are sent */
  streamExample?: string
  /** headers of a success, with what they hold */
  headers?: Readonly<Record<string, string>>
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /** the body may come as multipart/form-data or application/x-www-form-urlencoded too */
  forms?: true
  /** fields of the body of which a blank text is a value, where it otherwise counts as absent */
  blanks?: readonly string[]
  /** file parts and text fields, for operations that take multipart/form-data */
  multipart?: MultipartDefinition
  /** success statuses and their bodies */
  ok: Record<number, z.ZodType | 'empty' | 'binary' | 'text' | 'event-stream'>
  /** keys of the answer that hold a secret: they are null where the answer is kept and repeated */
  shownOnce?: readonly string[]
  /** media types of a binary body; application/octet-stream where absent */
  binary?: readonly string[]
  /** the body, binary or JSON, is streamed if it is long */
  streamed?: true
  /** media type of a text body */
  text?: string
  /** payloads of the frames of an event stream */
  events?: Record<string, z.ZodType>
  /** statuses beside 401, 403 and 500 */
  errors: number[]
  /** not in the API documents */
  extension?: true
}

export interface MultipartDefinition {
  file: { name: string; many: boolean }
  fields: z.ZodObject
  /** of a file that is no document: it may be larger than those */
  maxBytes?: number
}

/** Keeps the literal types of a route. */
export function route<const R extends RouteDefinition>(definition: R): R {
  return definition
}

/** A JSON body whose keys are all optional may be left out. */
export function needsBody({ body, forms }: RouteDefinition): boolean {
  return forms === true || (body !== undefined && !body.safeParse({}).success)
}

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined
type Sent<S> = S extends z.ZodType ? z.input<S> : undefined

/** What a handler receives of a route, after validation. */
export interface RouteInput<R extends RouteDefinition> {
  params: Parsed<R['params']>
  query: Parsed<R['query']>
  body: Parsed<R['body']>
}

/** What a client sends. */
export interface RouteRequest<R extends RouteDefinition> {
  path: Sent<R['params']>
  query: Sent<R['query']>
  body: Sent<R['body']>
}

/** Union of a route's JSON success bodies; `undefined` for an empty one. */
export type RouteResult<R extends RouteDefinition> = {
  [S in keyof R['ok']]: R['ok'][S] extends z.ZodType ? z.output<R['ok'][S]> : undefined
}[keyof R['ok']]
