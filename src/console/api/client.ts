import {
  type CallInput,
  type CallResult,
  type RouteKey,
  toRequestLine,
  type UntypedCallInput,
} from '../../client/routes.js'
import { markReachable, markUnreachable } from './connection.js'
import { getErrorMessage, getToken, onTokenRefused } from './session.js'

/** A request that the daemon refused; the message comes from the daemon. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly traceId: string | undefined,
  ) {
    super(message)
    this.name = 'RequestError'
  }
}

/** A request without a response: the daemon has stopped, or the network is down. */
export class UnreachableError extends Error {
  constructor(cause: unknown) {
    super('the daemon does not answer', { cause })
    this.name = 'UnreachableError'
  }
}

interface RequestOptions {
  signal?: AbortSignal | undefined
}

/**
 * Calls an operation of the contract by method and path: `call('GET /knowledge-spaces/{id}', { path: { id } })`.
 *
 * @throws RequestError, UnreachableErrorError
 */
export async function call<K extends RouteKey>(
  key: K,
  input: CallInput<K> & object,
  options: RequestOptions = {},
): Promise<CallResult<K>> {
  const response = await openResponse(key, input, options)
  const text = await response.text()
  // The contract gives the type; the service validates its responses in its own tests.
  return JSON.parse(text === '' ? 'null' : text)
}

/**
 * Calls an operation whose response is not JSON, such as a picture or a stream of events. Returns before the body is
 * read.
 */
export async function openResponse<K extends RouteKey>(
  key: K,
  input: CallInput<K> & object,
  { signal }: RequestOptions = {},
): Promise<Response> {
  const { body }: UntypedCallInput = input
  const { method, path } = toRequestLine(key, input)
  const init: RequestInit = { method, signal: signal ?? null }
  if (body !== undefined) {
    init.headers = { 'content-type': 'application/json' }
    init.body = JSON.stringify(body)
  }
  return await send(path, init)
}

/** Sends a request with the token of this tab's session. @throws RequestError, UnreachableError */
export async function send(url: string, init: RequestInit): Promise<Response> {
  const token = await getToken()
  const headers = new Headers(init.headers)
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`)
  const response = await fetch(url, { ...init, headers, cache: 'no-store' }).catch((error: unknown) => {
    if (init.signal?.aborted === true) throw error
    markUnreachable()
    throw new UnreachableError(error)
  })
  markReachable()
  if (response.ok) return response
  if (response.status === 401) onTokenRefused(token)
  throw await toRequestError(response)
}

/** Checks that the daemon accepts a token. @throws RequestError if not; UnreachableError */
export async function checkToken(token: string): Promise<void> {
  // characters that a header cannot hold are never part of a valid token
  const authorization = `Bearer ${token.replace(/[^\x21-\x7e]/g, '?')}`
  const response = await fetch('/knowledge-spaces?limit=1', { headers: { authorization }, cache: 'no-store' }).catch(
    (error: unknown) => {
      throw new UnreachableError(error)
    },
  )
  if (!response.ok) throw await toRequestError(response)
}

async function toRequestError(response: Response): Promise<RequestError> {
  const body: unknown = await response.json().catch(() => undefined)
  return new RequestError(
    response.status,
    response.headers.get('x-error-code') ?? 'internal',
    getErrorMessage(body) ?? `the service answered ${response.status}`,
    response.headers.get('x-trace-id') ?? undefined,
  )
}

/** Text of a thrown value, to display. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
