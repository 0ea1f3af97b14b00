import {
  type CallInput,
  type CallResult,
  type RouteKey,
  toRequestLine,
  type UntypedCallInput,
} from '../../client/routes.js'
import { markReachable, markUnreachable } from './connection.js'
import { errorMessageIn, getToken, onTokenRefused } from './session.js'

/** A request that the daemon refused; the message is the daemon's. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly traceId: string | undefined,
  ) {
    super(message)
    this.name = 'ApiError'
  }
}

/** No response came. */
export class Unreachable extends Error {
  constructor(cause: unknown) {
    super('the daemon does not answer', { cause })
    this.name = 'Unreachable'
  }
}

export interface CallOptions {
  signal?: AbortSignal | undefined
}

/**
 * Calls an operation of the contract by method and path: `call('GET /knowledge-spaces/{id}', { path: { id } })`.
 *
 * @throws RequestError, Unreachable
 */
export async function call<K extends RouteKey>(
  key: K,
  input: CallInput<K> & object,
  options: CallOptions = {},
): Promise<CallResult<K>> {
  const response = await open(key, input, options)
  const text = await response.text()
  // The contract gives the type; the service validates its responses in its own tests.
  return JSON.parse(text === '' ? 'null' : text)
}

/** Calls an operation and returns the open response: bytes of a picture, a stream of events. */
export async function open<K extends RouteKey>(
  key: K,
  input: CallInput<K> & object,
  { signal }: CallOptions = {},
): Promise<Response> {
  const { body }: UntypedCallInput = input
  const { method, path } = toRequestLine(key, input)
  const headers: Record<string, string> = {}
  const init: RequestInit = { method, headers, signal: signal ?? null }
  if (body !== undefined) {
    headers['content-type'] = 'application/json'
    init.body = JSON.stringify(body)
  }
  return await send(path, init)
}

/** Sends a request with the token of this tab's session. */
export async function send(target: string, init: RequestInit): Promise<Response> {
  const token = await getToken()
  const headers = new Headers(init.headers)
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  const response = await fetch(target, { ...init, headers, cache: 'no-store' }).catch((error: unknown) => {
    if (init.signal?.aborted === true) throw error
    markUnreachable()
    throw new Unreachable(error)
  })
  markReachable()
  if (response.ok) return response
  if (response.status === 401) onTokenRefused(token)
  throw await toApiError(response)
}

/** Sends a request with a token that is not stored yet. @throws RequestError, Unreachable */
export async function checkToken(token: string): Promise<void> {
  // characters that a header cannot hold are never part of a valid token
  const authorization = `Bearer ${token.replace(/[^\x21-\x7e]/g, '?')}`
  const response = await fetch('/knowledge-spaces?limit=1', { headers: { authorization }, cache: 'no-store' }).catch(
    (error: unknown) => {
      throw new Unreachable(error)
    },
  )
  if (!response.ok) throw await toApiError(response)
}

async function toApiError(response: Response): Promise<RequestError> {
  const answer: unknown = await response.json().catch(() => undefined)
  return new RequestError(
    response.status,
    response.headers.get('x-error-code') ?? 'internal',
    errorMessageIn(answer) ?? `the service answered ${response.status}`,
    response.headers.get('x-trace-id') ?? undefined,
  )
}

/** Text of an error for the page. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
