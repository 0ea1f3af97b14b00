import http, { type IncomingMessage } from 'node:http'
import { createProxyAgent, findProxy } from '../../../client/proxy.js'
import { EXIT } from '../../../contract/errors.js'
import { CliError } from '../../cli-error.js'

const MAX_REDIRECTS = 5
/** Timeout of a connection without received bytes. */
const SILENCE_TIMEOUT_MS = 60_000

/** A response after redirects. */
export interface WebResponse {
  status: number
  body: IncomingMessage
  headers: http.IncomingHttpHeaders
  /** SHA-256 and size of the file from the hub's own response, before its redirect. */
  linked: { sha256?: string; bytes?: number }
}

/** A network failure; a retry may succeed. */
export class NetworkError extends Error {}

/**
 * Sends a request, through the proxy of the environment, and follows redirects.
 *
 * @param isEnough whether the headers so far suffice, so that no further redirect is followed
 * @throws NetworkError if the server cannot be reached; CliError for a redirect that must not be followed
 */
export async function fetchWithRedirects(
  method: 'GET' | 'HEAD',
  address: string,
  headers: Record<string, string>,
  isEnough: (linked: WebResponse['linked']) => boolean = () => false,
): Promise<WebResponse> {
  let url = address
  let linked: WebResponse['linked'] = {}
  for (let hops = 0; ; hops++) {
    const body = await sendOnce(method, url, headers)
    const { statusCode: status = 0, headers: responseHeaders } = body
    linked = { ...parseLinkedHeaders(responseHeaders), ...linked }
    const { location } = responseHeaders
    if (status < 300 || status >= 400 || status === 304 || location === undefined || isEnough(linked))
      return { status, body, headers: responseHeaders, linked }
    body.resume()
    if (hops === MAX_REDIRECTS) throw toRedirectError(`${getHost(address)} redirects more than ${MAX_REDIRECTS} times`)
    if (!URL.canParse(location, url)) throw toRedirectError(`${getHost(url)} redirects to an invalid address`)
    const next = new URL(location, url)
    if (next.protocol !== 'https:' && next.protocol !== new URL(url).protocol)
      throw toRedirectError(`${getHost(url)} redirects to an address without TLS`)
    url = next.href
  }
}

function parseLinkedHeaders(headers: http.IncomingHttpHeaders): WebResponse['linked'] {
  const readHeader = (name: string) => String(headers[name] ?? '').replace(/^W\/|"/g, '')
  const sha256 = readHeader('x-linked-etag')
  const bytes = readHeader('x-linked-size')
  return {
    ...(/^[0-9a-f]{64}$/.test(sha256) ? { sha256 } : {}),
    ...(/^\d{1,15}$/.test(bytes) ? { bytes: Number(bytes) } : {}),
  }
}

async function sendOnce(method: string, address: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const isSecure = new URL(address).protocol === 'https:'
  const proxy = findProxy(address)
  const agent = proxy === undefined ? undefined : await createProxyAgent(proxy, { isTunnel: isSecure, options: {} })
  const request = isSecure ? (await import('node:https')).request : http.request
  return await new Promise((resolve, reject) => {
    const options = { method, headers: { 'user-agent': 'knowledge-spaces', ...headers }, timeout: SILENCE_TIMEOUT_MS }
    const clientRequest = request(address, agent === undefined ? options : { ...options, agent })
    clientRequest.once('response', resolve)
    clientRequest.once('timeout', () => clientRequest.destroy(new Error(`silent for ${SILENCE_TIMEOUT_MS / 1000} s`)))
    clientRequest.once('connect', ({ statusCode }) =>
      clientRequest.destroy(new Error(`the proxy answered ${statusCode}`)),
    )
    clientRequest.on('error', (error) => reject(toNetworkError(address, proxy, error)))
    clientRequest.end()
  })
}

function toNetworkError(address: string, proxy: URL | undefined, error: Error): NetworkError {
  const detail = 'code' in error && typeof error.code === 'string' ? error.code : error.message
  const route = proxy === undefined ? '' : ` through the proxy ${proxy.origin}`
  return new NetworkError(`cannot reach ${getHost(address)}${route} (${detail})`, { cause: error })
}

function toRedirectError(message: string): CliError {
  return new CliError(message, { code: 'unavailable', exit: EXIT.unavailable })
}

export function getHost(address: string): string {
  return new URL(address).host
}
