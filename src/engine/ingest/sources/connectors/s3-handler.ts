import { Readable } from 'node:stream'
import { EgressFailure, type OpenedResource, type SafeFetch } from '../../../models/index.js'
import { callReadingThread } from '../reading.js'
import { copyBytes } from '../thread.js'

const LIST_TIMEOUT_MS = 30_000

/** A request of the SDK, as far as it is used. */
interface SdkRequest {
  method: string
  protocol: string
  hostname: string
  port?: number
  path: string
  query?: Record<string, string | string[] | null>
  headers: Record<string, string>
}

interface SdkOptions {
  abortSignal?: AbortSignal
}

/**
 * The request handler of the S3 client: every request uses the guarded fetch. Redirects are returned unchanged, bodies
 * as they are stored.
 */
export function guardedHandler(fetch: SafeFetch, limits: { signal: AbortSignal; maxBytes: number }) {
  return {
    async handle(request: SdkRequest, { abortSignal }: SdkOptions = {}) {
      if (request.method !== 'GET' && request.method !== 'HEAD') throw new EgressFailure('a request that only reads')
      const port = request.port === undefined ? '' : `:${request.port}`
      const query = formatQuery(request.query ?? {})
      const address = `${request.protocol}//${request.hostname}${port}${request.path}${query}`
      // a URL resolves dots in a key, which would address another object
      if (!URL.canParse(address) || new URL(address).pathname !== request.path)
        throw new EgressFailure('a key that no URL can contain')
      const { host: _host, 'content-length': _length, ...headers } = request.headers
      const isObject = request.query?.['x-id'] === 'GetObject'
      const answer = await fetch.open(address, {
        method: request.method,
        headers,
        maxRedirects: 0,
        decode: false,
        // lists have the limits of any other page
        ...(isObject ? { maxBytes: limits.maxBytes } : { timeoutMs: LIST_TIMEOUT_MS }),
        signal: abortSignal ?? limits.signal,
      })
      const body = isObject && answer.status < 300 ? answer.body : await reduceBody(answer)
      return { response: { statusCode: answer.status, headers: answer.headers, body } }
    },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
    destroy: () => undefined,
  }
}

/** Another thread reduces the XML before the client parses it on the event loop. */
async function reduceBody({ body, headers }: OpenedResource): Promise<Readable> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  const bytes = copyBytes(Buffer.concat(chunks))
  if (bytes.byteLength === 0) return Readable.from([])
  const text = await callReadingThread((thread) => thread.call('s3Answer', bytes))
  delete headers['content-length']
  return Readable.from([Buffer.from(text)])
}

/** RFC 3986, in the order of the signed request. */
function formatQuery(query: Record<string, string | string[] | null>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((item) =>
      item === null ? escapeQuery(name) : `${escapeQuery(name)}=${escapeQuery(item)}`,
    ),
  )
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function escapeQuery(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
