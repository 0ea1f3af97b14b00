import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type * as Undici from 'undici'
import type { AddressRule } from './addresses.js'
import { checkedConnector, checkedLookup, codeOf, REFUSED_CODE, type Resolve } from './connect.js'

/** Limits of one fetch, redirects included (decisions.md section 3). Bytes are counted after decoding. */
const MAX_BYTES = 20 * 1024 * 1024
const TIMEOUT_MS = 30_000
const MAX_REDIRECTS = 5

const CONNECT_TIMEOUT_MS = 10_000
/** a crawl asks the same server again within this time */
const KEEP_ALIVE_MS = 4_000

export const USER_AGENT = 'knowledge-spaces'

export interface FetchOptions {
  /** sent to the origin of the first address only */
  credentials?: Record<string, string>
  signal?: AbortSignal
  maxBytes?: number
  timeoutMs?: number
}

export interface Fetched {
  /** where the body came from, after redirects */
  url: string
  status: number
  /** lower case, without parameters; '' when the server says none */
  mediaType: string
  body: Buffer
}

/** A fetch that failed. The message is one of a few fixed texts: nothing of the wire stands in it. */
export class EgressFailure extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'EgressFailure'
  }
}

/** GET requests to places that users name. */
export interface SafeFetch {
  /** @throws EgressFailure; the signal's reason when it aborted */
  get(url: string, options?: FetchOptions): Promise<Fetched>
  close(): Promise<void>
}

/** One pool of connections, each checked by the rule; no environment proxies. */
export function createSafeFetch(mayDial: AddressRule, resolve?: Resolve): SafeFetch {
  // undici takes a tenth of a second to load, which a daemon without sources never has to spend
  let pool: Promise<Pool> | undefined
  const open = async (): Promise<Pool> => {
    const { Agent, buildConnector, request } = await import('undici')
    const plain = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: checkedLookup(mayDial, resolve) })
    const agent = new Agent({
      connect: checkedConnector(plain, mayDial),
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // the whole fetch is timed
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    return { agent, request }
  }
  return {
    async get(url, options = {}) {
      const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
      const timer = new AbortController()
      const timeout = setTimeout(() => timer.abort(new EgressFailure(`no answer within ${timeoutMs} ms`)), timeoutMs)
      const leave = () => timer.abort(options.signal?.reason)
      if (options.signal?.aborted) leave()
      options.signal?.addEventListener('abort', leave, { once: true })
      try {
        timer.signal.throwIfAborted()
        pool ??= open()
        return await follow(await pool, new URL(checkedUrl(url)), options, timer.signal)
      } catch (error) {
        throw timer.signal.aborted ? timer.signal.reason : asFailure(error)
      } finally {
        clearTimeout(timeout)
        options.signal?.removeEventListener('abort', leave)
      }
    },
    close: async () => (await pool)?.agent.destroy(),
  }
}

interface Pool {
  agent: Undici.Agent
  request: typeof Undici.request
}

/** Follows redirects one by one, each hop checked like the first. */
async function follow(pool: Pool, start: URL, options: FetchOptions, signal: AbortSignal): Promise<Fetched> {
  let url = start
  for (let hop = 0; ; hop++) {
    const answer = await pool.request(url, {
      dispatcher: pool.agent,
      headers: {
        'user-agent': USER_AGENT,
        accept: '*/*',
        'accept-encoding': 'gzip, deflate, br',
        ...(url.origin === start.origin ? options.credentials : {}),
      },
      signal,
    })
    const location = single(answer.headers.location)
    if (answer.statusCode < 300 || answer.statusCode > 399 || location === undefined) {
      const encoding = single(answer.headers['content-encoding'])
      const body = await readBody(answer.body, encoding, options.maxBytes ?? MAX_BYTES, signal)
      const type = single(answer.headers['content-type'])
      const mediaType = type?.split(';')[0]?.trim().toLowerCase() ?? ''
      return { url: url.href, status: answer.statusCode, mediaType, body }
    }
    answer.body.on('error', () => undefined).destroy()
    if (hop === MAX_REDIRECTS) throw new EgressFailure(`more than ${MAX_REDIRECTS} redirects`)
    url = new URL(checkedUrl(location, url))
  }
}

/** @throws EgressFailure unless http or https, without a user name or password */
function checkedUrl(text: string, base?: URL): string {
  if (!URL.canParse(text, base?.href)) throw new EgressFailure('an address that is no URL')
  const url = new URL(text, base)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new EgressFailure('an address that is not http or https')
  if (url.username !== '' || url.password !== '') throw new EgressFailure('an address with credentials in it')
  return url.href
}

/** The body decoded, of at most `maxBytes`; one layer of compression, since honest servers use one. */
async function readBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Buffer> {
  const decoded = decode(body, encoding)
  const chunks: Buffer[] = []
  let bytes = 0
  const cut = () => body.destroy()
  signal.addEventListener('abort', cut, { once: true })
  try {
    for await (const chunk of decoded) {
      if (!(chunk instanceof Uint8Array)) continue
      bytes += chunk.length
      if (bytes > maxBytes) throw new EgressFailure(`more than ${maxBytes} bytes`)
      chunks.push(Buffer.from(chunk))
    }
    return Buffer.concat(chunks)
  } finally {
    signal.removeEventListener('abort', cut)
    decoded.destroy()
    body.on('error', () => undefined).destroy()
  }
}

function decode(body: Readable, encoding: string | undefined): Readable {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return body
  const decoder = decoderOf(name)
  if (decoder === undefined) {
    body.on('error', () => undefined).destroy()
    throw new EgressFailure('a content encoding that is not understood')
  }
  body.on('error', (error) => decoder.destroy(error))
  return body.pipe(decoder)
}

function decoderOf(name: string) {
  if (name === 'gzip' || name === 'x-gzip') return createGunzip()
  if (name === 'deflate') return createInflate()
  return name === 'br' ? createBrotliDecompress() : undefined
}

const TEXTS: Record<string, string> = {
  [REFUSED_CODE]: 'its address is not of the public internet and not listed in egressAllow',
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'name not found',
  EAI_AGAIN: 'name not found',
  EHOSTUNREACH: 'no route',
  ENETUNREACH: 'no route',
  ETIMEDOUT: 'connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'connection timed out',
  UND_ERR_HEADERS_OVERFLOW: 'more header fields than are read',
  HPE_HEADER_OVERFLOW: 'more header fields than are read',
}

function asFailure(error: unknown): EgressFailure {
  if (error instanceof EgressFailure) return error
  const code = codeOf(error)
  const known = TEXTS[code]
  if (known !== undefined) return new EgressFailure(known)
  if (code.startsWith('HPE_')) return new EgressFailure('an answer that is not HTTP')
  if (/CERT|SSL|TLS/.test(code)) return new EgressFailure('no trusted TLS connection')
  const undecodable = code.startsWith('Z_') || code.startsWith('ERR_')
  return new EgressFailure(undecodable ? 'a body that cannot be decoded' : 'the connection broke off')
}

function single(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
