import { EventSourceParserStream } from 'eventsource-parser/stream'
import { ApiError, codeOfStatus } from '../client/errors.js'
import {
  type CallInput,
  type CallResult,
  type RouteKey,
  toRequestLine,
  type UntypedCallInput,
} from '../client/routes.js'
import type { ServerEvent } from '../client/sse.js'
import { parseRecord, toNonEmptyString } from '../lib/json/values.js'
import type { GatewayApi, GatewayStream } from './api.js'

/** Handles a request as if it had arrived over the network. */
export type Dispatch = (request: Request) => Promise<Response>

/** Only its path and query are used: the request never leaves the process. */
const ORIGIN = 'http://in-process'

/** The routes of the gateway, called with a token: its scopes, limits and tenant apply. */
export function createInProcessApi(dispatch: Dispatch, token: string): GatewayApi {
  const call = async (key: RouteKey, input: object, accept: string): Promise<Response> => {
    const { body, signal }: UntypedCallInput = input
    const { method, path } = toRequestLine(key, input)
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, accept }
    if (body !== undefined) headers['content-type'] = 'application/json'
    const response = await dispatch(
      new Request(ORIGIN + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(signal === undefined ? {} : { signal }),
      }),
    )
    if (response.ok) return response
    throw await toApiError(response)
  }
  return {
    async request<K extends RouteKey>(key: K, input: CallInput<K> & object): Promise<CallResult<K>> {
      const response = await call(key, input, 'application/json')
      // The contract defines the type of the response.
      return JSON.parse((await response.text()) || 'null')
    },
    async stream<K extends RouteKey>(key: K, input: CallInput<K> & object): Promise<GatewayStream> {
      const response = await call(key, input, 'text/event-stream')
      return { headers: Object.fromEntries(response.headers), events: readEvents(response) }
    },
  }
}

async function* readEvents({ body }: Response): AsyncGenerator<ServerEvent> {
  if (body === null) return
  const frames = body.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream())
  for await (const { event = 'message', data, id } of frames) yield { event, data, ...(id === undefined ? {} : { id }) }
}

async function toApiError(response: Response): Promise<ApiError> {
  const { status, headers } = response
  const text = await response.text()
  const traceId = headers.get('x-trace-id')
  const retryAfter = headers.get('retry-after')
  return new ApiError({
    status,
    code: headers.get('x-error-code') ?? codeOfStatus(status),
    message: toNonEmptyString(parseRecord(text)?.error) ?? `the service returned status ${status}`,
    ...(traceId === null ? {} : { traceId }),
    ...(retryAfter === null ? {} : { retryAfter: Number(retryAfter) }),
  })
}
