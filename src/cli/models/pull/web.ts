import http, { type IncomingMessage } from 'node:http'
import { proxyAgent, proxyFor } from '../../../client/proxy.js'
import { EXIT } from '../../../contract/errors.js'
import { CliError } from '../../cli-error.js'

const MAX_REDIRECTS = 5
/** Timeout of a connection without received bytes. */
const SILENT_MS = 60_000

/** A response after redirects. */
export interface WebAnswer {
  status: number
  body: IncomingMessage
  headers: http.IncomingHttpHeaders
  /** SHA-256 and size of the file from the hub's own response, before its redirect. */
  linked: { sha256?: string; bytes?: number }
}

/** A network failure; a retry may succeed. */
export class NetworkFault extends Error {}

/**
 * Sends a request, through the proxy of the environment, and follows redirects.
 *
 * @param isEnough whether the headers so far suffice, so that no further redirect is followed
 * @throws NetworkError if the server cannot be reached; CliError for a redirect that must not be followed
 */
export async function ask(
  method: 'GET' | 'HEAD',
  address: string,
  headers: Record<string, string>,
  isEnough: (linked: WebAnswer['linked']) => boolean = () => false,
): Promise<WebAnswer> {
  let url = address
  let linked: WebAnswer['linked'] = {}
  for (let hops = 0; ; hops++) {
    const body = await send(method, url, headers)
    const { statusCode: status = 0, headers: answered } = body
    linked = { ...linkedOf(answered), ...linked }
    const { location } = answered
    if (status < 300 || status >= 400 || status === 304 || location === undefined || isEnough(linked))
      return { status, body, headers: answered, linked }
    body.resume()
    if (hops === MAX_REDIRECTS) throw refused(`${hostOf(address)} redirects more than ${MAX_REDIRECTS} times`)
    if (!URL.canParse(location, url)) throw refused(`${hostOf(url)} redirects to an invalid address`)
    const next = new URL(location, url)
    if (next.protocol !== 'https:' && next.protocol !== new URL(url).protocol)
      throw refused(`${hostOf(url)} redirects to an address without TLS`)
    url = next.href
  }
}

function linkedOf(headers: http.IncomingHttpHeaders): WebAnswer['linked'] {
  const text = (name: string) => String(headers[name] ?? '').replace(/^W\/|"/g, '')
  const sha256 = text('x-linked-etag')
  const bytes = text('x-linked-size')
  return {
    ...(/^[0-9a-f]{64}$/.test(sha256) ? { sha256 } : {}),
    ...(/^\d{1,15}$/.test(bytes) ? { bytes: Number(bytes) } : {}),
  }
}

async function send(method: string, address: string, headers: Record<string, string>): Promise<IncomingMessage> {
  const secure = new URL(address).protocol === 'https:'
  const proxy = proxyFor(address)
  const agent = proxy === undefined ? undefined : await proxyAgent(proxy, secure, {})
  const request = secure ? (await import('node:https')).request : http.request
  return await new Promise((resolve, reject) => {
    const options = { method, headers: { 'user-agent': 'knowledge-spaces', ...headers }, timeout: SILENT_MS }
    const sent = request(address, agent === undefined ? options : { ...options, agent })
    sent.once('response', resolve)
    sent.once('timeout', () => sent.destroy(new Error(`silent for ${SILENT_MS / 1000} s`)))
    sent.once('connect', (answer) => sent.destroy(new Error(`the proxy answered ${answer.statusCode}`)))
    sent.on('error', (error) => reject(unreachable(address, proxy, error)))
    sent.end()
  })
}

function unreachable(address: string, proxy: URL | undefined, error: Error): NetworkFault {
  const detail = 'code' in error && typeof error.code === 'string' ? error.code : error.message
  const way = proxy === undefined ? '' : ` through the proxy ${proxy.origin}`
  return new NetworkFault(`cannot reach ${hostOf(address)}${way} (${detail})`, { cause: error })
}

function refused(message: string): CliError {
  return new CliError(message, { code: 'unavailable', exit: EXIT.unavailable })
}

export function hostOf(address: string): string {
  return new URL(address).host
}
