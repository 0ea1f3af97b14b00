import type { Readable } from 'node:stream'
import type * as Undici from 'undici'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { parseRetryAfter } from '../../lib/retry.js'
import { ProviderFailure } from '../base/provider-failure.js'
import { isAllowedForOperator } from './egress/addresses.js'
import { createCheckedLookup, FORBIDDEN_ADDRESS_CODE, getNetworkErrorCode } from './egress/connect.js'

/** A model server accepts the connection at once or is not running. */
const CONNECT_TIMEOUT_MS = 10_000

/** Longer than the gap between a person's questions, shorter than the keep-alive of common servers (60 s and more). */
const KEEP_ALIVE_MS = 30_000

export interface EgressResponse {
  status: number
  /** lower case, without parameters */
  mediaType: string
  retryAfterMs?: number
  /** must be read to its end or destroyed */
  body: Readable
}

/** A serialized body with its media type. */
export interface EgressBody {
  type: string
  content: string | Buffer
}

/** The only connection to model providers: one keep-alive pool, no redirects, no environment proxies. */
export interface ModelEgress {
  /**
   * Posts a body. Aborting the signal cuts the connection, also while the body is read.
   *
   * @throws ProviderFailure `unreachable` or `reset`; the signal's reason when it aborted
   */
  send(url: URL, headers: Record<string, string>, body: EgressBody, signal: AbortSignal): Promise<EgressResponse>
  close(): Promise<void>
}

export function createModelEgress(): ModelEgress {
  // Loading undici takes a tenth of a second, so a daemon without providers never loads it.
  let pool: Promise<{ agent: Undici.Agent; request: typeof Undici.request }> | undefined
  const open = async () => {
    const { Agent, request } = await import('undici')
    const agent = new Agent({
      connect: { timeout: CONNECT_TIMEOUT_MS, lookup: createCheckedLookup(isAllowedForOperator) },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // the guard limits the duration of the complete call; timeouts here would compete with it
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return { agent, request }
  }
  return {
    async send(url, headers, body, signal) {
      pool ??= open()
      const { agent, request } = await pool
      try {
        const response = await request(url, {
          method: 'POST',
          dispatcher: agent,
          headers: { ...headers, 'content-type': body.type, 'user-agent': 'knowledge-spaces' },
          body: body.content,
          signal,
        })
        const retryAfterMs = parseRetryAfter(firstValue(response.headers['retry-after']), Date.now())
        return {
          status: response.statusCode,
          mediaType: firstValue(response.headers['content-type'])?.split(';')[0]?.trim().toLowerCase() ?? '',
          ...omitUndefined({ retryAfterMs }),
          body: response.body,
        }
      } catch (error) {
        throw toNetworkFailure(error, signal)
      }
    },
    close: async () => (await pool)?.agent.destroy(),
  }
}

/** Reads the chunks of a response; fails beyond `maxBytes`, and closes the connection when the reader stops early. */
export async function* readResponseChunks(
  response: EgressResponse,
  maxBytes: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0
  try {
    for await (const chunk of response.body) {
      if (!(chunk instanceof Uint8Array)) continue
      bytes += chunk.length
      if (bytes > maxBytes) throw new ProviderFailure('malformed', `more than ${maxBytes} bytes`)
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    }
  } catch (error) {
    throw toNetworkFailure(error, signal)
  } finally {
    response.body.destroy()
  }
}

/** Reads a complete response as text of at most `maxBytes`. */
export async function readResponseText(
  response: EgressResponse,
  maxBytes: number,
  signal: AbortSignal,
): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of readResponseChunks(response, maxBytes, signal)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const NETWORK_FAILURES: Record<string, { kind: 'unreachable' | 'reset'; detail: string }> = {
  ECONNREFUSED: { kind: 'unreachable', detail: 'connection refused' },
  ENOTFOUND: { kind: 'unreachable', detail: 'name not found' },
  EAI_AGAIN: { kind: 'unreachable', detail: 'name not found' },
  EHOSTUNREACH: { kind: 'unreachable', detail: 'no route' },
  ENETUNREACH: { kind: 'unreachable', detail: 'no route' },
  ETIMEDOUT: { kind: 'unreachable', detail: 'connection timed out' },
  UND_ERR_CONNECT_TIMEOUT: { kind: 'unreachable', detail: 'connection timed out' },
  ECONNRESET: { kind: 'reset', detail: 'reset' },
  EPIPE: { kind: 'reset', detail: 'reset' },
  UND_ERR_SOCKET: { kind: 'reset', detail: 'reset' },
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: { kind: 'reset', detail: 'shorter than announced' },
}

/** Hides the raw error: messages of network errors contain addresses, and those of parsers contain received data. */
function toNetworkFailure(error: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason
  if (error instanceof ProviderFailure) return error
  const code = getNetworkErrorCode(error)
  if (code === 'UND_ERR_DESTROYED') return new ProviderFailure('unexpected', 'the daemon is closing its connections')
  const known = NETWORK_FAILURES[code]
  if (known) return new ProviderFailure(known.kind, known.detail)
  if (code === FORBIDDEN_ADDRESS_CODE) return new ProviderFailure('unexpected', 'its address is in a forbidden range')
  if (code.startsWith('HPE_')) return new ProviderFailure('malformed', 'not HTTP')
  if (/CERT|SSL|TLS|ERR_OSSL/.test(code)) return new ProviderFailure('unexpected', 'no trusted TLS connection')
  return new ProviderFailure('unexpected', 'network error')
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
