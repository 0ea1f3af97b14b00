import type { Secret } from '../../../lib/secret.js'
import { type Egress, type EgressAnswer, type EgressBody, readText } from '../egress-fetch.js'
import { ProviderFailure } from '../failure.js'

/** An error body is read to recognise a refused field, never shown; more than this no server says about it. */
const MAX_ERROR_BYTES = 64 * 1024

export interface OpenAiSettings {
  baseUrl: URL
  apiKey?: Secret
  /** further headers, whose values may be credentials too */
  headers: Record<string, Secret>
}

/** One server: posts to a path below its base. */
export interface Endpoint {
  /**
   * @param onRefused sees the status and body of any other answer before it becomes a failure
   * @throws ProviderFailure `status` for anything but 2xx
   */
  post(
    path: string,
    body: unknown,
    signal: AbortSignal,
    onRefused?: (status: number, body: string) => void,
  ): Promise<EgressAnswer>
  /** The same with a form, or a body of any other type. */
  postForm(path: string, body: EgressBody, signal: AbortSignal): Promise<EgressAnswer>
}

type OnRefused = (status: number, body: string) => void

export function createEndpoint(egress: Egress, settings: OpenAiSettings): Endpoint {
  const send = async (path: string, body: EgressBody, accept: string, signal: AbortSignal, onRefused?: OnRefused) => {
    const headers: Record<string, string> = { accept }
    if (settings.apiKey) headers.authorization = `Bearer ${settings.apiKey.reveal()}`
    for (const [name, value] of Object.entries(settings.headers)) headers[name.toLowerCase()] = value.reveal()
    const answer = await egress.send(apiUrl(settings.baseUrl, path), headers, body, signal)
    if (answer.status >= 200 && answer.status < 300) return answer
    // read rather than dropped, so that the connection can be used again
    const text = await readText(answer, MAX_ERROR_BYTES, signal).catch(() => '')
    signal.throwIfAborted()
    onRefused?.(answer.status, text)
    const { retryAfterMs } = answer
    // a quota that is used up comes as 429 too, but asking again does not help: it is what 402 says
    const status = answer.status === 429 && text.includes('insufficient_quota') ? 402 : answer.status
    const options = retryAfterMs === undefined ? { status } : { status, retryAfterMs }
    throw new ProviderFailure('status', `status ${status}`, options)
  }
  return {
    post: (path, body, signal, onRefused) => {
      const json = { type: 'application/json', content: JSON.stringify(body) }
      return send(path, json, 'application/json, text/event-stream, audio/*', signal, onRefused)
    },
    postForm: (path, body, signal) => send(path, body, 'application/json', signal),
  }
}

/**
 * The address of an API path below a base. A base that has a version in its path (`/v1`, `/v1beta/openai`) is complete;
 * any other gets `/v1`. A query of the base is kept: some hosts select the API version there.
 */
export function apiUrl(base: URL, path: string): URL {
  const url = new URL(base)
  const root = url.pathname.replace(/\/+$/, '')
  const hasVersion = root.split('/').some((segment) => /^v\d/.test(segment))
  url.pathname = `${root}${hasVersion ? '' : '/v1'}/${path}`
  return url
}
