import type { Readable } from 'node:stream'
import type * as Undici from 'undici'
import { linkAbort } from '../../../lib/abort.js'
import type { HostResolver } from '../../base/resolve.js'
import type { AddressRule } from './addresses.js'
import { createBoundedBody, discardBody } from './body.js'
import { createCheckedConnector, createCheckedLookup } from './connect.js'
import { EgressFailure, toEgressFailure } from './failure.js'

/** Limits of one fetch, including redirects (decisions.md section 3). Bytes are counted after decoding. */
const MAX_BYTES = 20 * 1024 * 1024
const TIMEOUT_MS = 30_000
const MAX_REDIRECTS = 5

/** Maximal duration of a streamed body, as long as data arrives every half minute. */
const STREAM_TIMEOUT_MS = 10 * 60_000
const MAX_IDLE_MS = 30_000

const CONNECT_TIMEOUT_MS = 10_000
/** A crawl requests the same server again within this time. */
const KEEP_ALIVE_MS = 4_000

export const USER_AGENT = 'knowledge-spaces'

export interface SafeFetchOptions {
  /** default GET */
  method?: 'GET' | 'HEAD' | 'POST' | 'PROPFIND'
  /** sent to every hop; names in lower case */
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** headers for the first address only: conditions on a previous response of that address */
  condition?: Record<string, string>
  /** headers for the origin of the first address only */
  credentials?: Record<string, string>
  signal?: AbortSignal
  maxBytes?: number
  timeoutMs?: number
  /**
   * default 5 for GET, 0 for other methods; after the limit, the redirect is an error; with 0 it is returned as it is
   */
  maxRedirects?: number
  /** false: the bytes as the server encodes them */
  decode?: boolean
}

export interface FetchResponse {
  /** final address, after redirects */
  url: string
  status: number
  /** lower case, without parameters; '' without a content type */
  mediaType: string
  /** by lower-case name; the first of several with one name */
  headers: Record<string, string>
}

export interface FetchedResource extends FetchResponse {
  body: Buffer
}

export interface OpenedResource extends FetchResponse {
  /** fails with EgressFailure or the signal's reason; must be read or destroyed */
  body: Readable
}

/** Requests to addresses that users choose. */
export interface SafeFetch {
  /** Reads the complete response into memory. @throws EgressFailure; the signal's reason when it aborted */
  get(url: string, options?: SafeFetchOptions): Promise<FetchedResource>
  /**
   * Returns the response as a stream, for which only the gaps between its chunks are limited tightly. @throws like
   * `get`
   */
  open(url: string, options?: SafeFetchOptions): Promise<OpenedResource>
  close(): Promise<void>
}

/** Creates a fetch with one pool of connections, each checked by the rule; environment proxies are ignored. */
export function createSafeFetch(mayDial: AddressRule, resolve?: HostResolver): SafeFetch {
  // undici takes a tenth of a second to load, so a daemon without sources never loads it
  let pool: Promise<ConnectionPool> | undefined
  const open = async (url: string, options: SafeFetchOptions, defaultMs: number): Promise<OpenedResource> => {
    const timeoutMs = options.timeoutMs ?? defaultMs
    const deadline = linkAbort(options.signal)
    const timer = setTimeout(() => deadline.abort(new EgressFailure(`no answer within ${timeoutMs} ms`)), timeoutMs)
    const onClose = () => {
      clearTimeout(timer)
      deadline.dispose()
    }
    try {
      deadline.signal.throwIfAborted()
      pool ??= openPool(mayDial, resolve)
      return await followRedirects(await pool, new URL(parseCheckedUrl(url)), options, {
        signal: deadline.signal,
        onClose,
      })
    } catch (error) {
      onClose()
      throw deadline.signal.aborted ? deadline.signal.reason : toEgressFailure(error)
    }
  }
  return {
    async get(url, options = {}) {
      const { body, ...response } = await open(url, options, TIMEOUT_MS)
      const chunks: Buffer[] = []
      for await (const chunk of body) chunks.push(chunk)
      return { ...response, body: Buffer.concat(chunks) }
    },
    open: (url, options = {}) => open(url, options, STREAM_TIMEOUT_MS),
    close: async () => (await pool)?.agent.destroy(),
  }
}

interface ConnectionPool {
  agent: Undici.Agent
  request: typeof Undici.request
}

async function openPool(mayDial: AddressRule, resolve: HostResolver | undefined): Promise<ConnectionPool> {
  const { Agent, buildConnector, request } = await import('undici')
  const plain = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: createCheckedLookup(mayDial, resolve) })
  const agent = new Agent({
    connect: createCheckedConnector(plain, mayDial),
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    headersTimeout: MAX_IDLE_MS,
    bodyTimeout: MAX_IDLE_MS,
  })
  return { agent, request }
}

/** Follows redirects one by one; each hop is checked like the first. */
async function followRedirects(
  pool: ConnectionPool,
  start: URL,
  options: SafeFetchOptions,
  { signal, onClose }: { signal: AbortSignal; onClose: () => void },
): Promise<OpenedResource> {
  const { method = 'GET', decode = true } = options
  const redirects = options.maxRedirects ?? (method === 'GET' ? MAX_REDIRECTS : 0)
  let url = start
  for (let hop = 0; ; hop++) {
    const response = await pool.request(url, {
      dispatcher: pool.agent,
      method,
      headers: {
        'user-agent': USER_AGENT,
        accept: '*/*',
        'accept-encoding': decode ? 'gzip, deflate, br' : 'identity',
        ...options.headers,
        ...(hop === 0 ? options.condition : {}),
        ...(url.origin === start.origin ? options.credentials : {}),
      },
      body: options.body ?? null,
      signal,
    })
    const headers = firstValues(response.headers)
    const { location } = headers
    if (!isRedirect(response.statusCode) || location === undefined || redirects === 0) {
      const encoding = decode ? headers['content-encoding'] : undefined
      const body = createBoundedBody(response.body, {
        encoding,
        maxBytes: options.maxBytes ?? MAX_BYTES,
        signal,
        onClose,
      })
      const mediaType = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? ''
      return { url: url.href, status: response.statusCode, mediaType, headers, body }
    }
    discardBody(response.body)
    if (hop === redirects) throw new EgressFailure(`more than ${redirects} redirects`)
    url = new URL(parseCheckedUrl(location, url))
  }
}

/** Whether a status is a redirect; 304 is not. */
function isRedirect(status: number): boolean {
  return status >= 300 && status <= 399 && status !== 304
}

/** @throws EgressFailure unless http or https, without a user name or password */
function parseCheckedUrl(text: string, base?: URL): string {
  if (!URL.canParse(text, base?.href)) throw new EgressFailure('an address that is not a URL')
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new EgressFailure('an address that is not http or https')
  if (url.username !== '' || url.password !== '') throw new EgressFailure('an address with credentials in it')
  return url.href
}

function firstValues(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const entries = Object.entries(headers).flatMap(([name, value]) => {
    const first = Array.isArray(value) ? value[0] : value
    return first === undefined ? [] : [[name.toLowerCase(), first] as const]
  })
  return Object.fromEntries(entries)
}
