import { defined } from '../../lib/defined.js'

/** Maximum length of a reply that is read, in characters. */
const MOST_BYTES = 4 * 1024 * 1024

/** A model server as a provider entry configures it. */
export interface Server {
  /** With or without a version at the end. */
  baseUrl: string
  headers: Readonly<Record<string, string>>
}

/** A reply of a server. `text` is bounded and untrusted: it is never shown. */
export interface ServerAnswer {
  status: number
  type: string
  text: string
}

export interface ServerRequest {
  json?: unknown
  form?: FormData
  timeoutMs: number
}

/**
 * Sends one request to a server; does not follow redirects.
 *
 * @throws Error with our own message on a timeout or an unreachable server
 */
export async function askServer(server: Server, url: string, request: ServerRequest): Promise<ServerAnswer> {
  const { json, form, timeoutMs } = request
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await fetch(url, {
      ...(json === undefined && form === undefined ? {} : { method: 'POST' }),
      headers: { ...server.headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      ...defined({ body: json === undefined ? form : JSON.stringify(json) }),
      redirect: 'manual',
      signal,
    })
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await readSome(answer) }
  } catch {
    // The error of fetch may contain addresses and headers.
    throw new Error(signal.aborted ? `no answer within ${timeoutMs} ms` : 'not reachable')
  }
}

async function readSome(answer: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  if (answer.body === null) return text
  for await (const chunk of answer.body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MOST_BYTES) break
  }
  return text
}

/** The address of an API path; adds `/v1` to a base without a version. */
export function apiAddress(baseUrl: string, path: string): string {
  const url = new URL(baseUrl)
  const root = url.pathname.replace(/\/+$/, '')
  const hasVersion = root.split('/').some((segment) => /^v\d/.test(segment))
  url.pathname = `${root}${hasVersion ? '' : '/v1'}/${path}`
  return url.href
}

/** The JSON of a successful reply; `undefined` for others. */
export function jsonOf({ status, text }: ServerAnswer): unknown {
  if (status < 200 || status > 299) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function fieldOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}

export function listOf(value: unknown, key: string): unknown[] {
  const list = fieldOf(value, key)
  return Array.isArray(list) ? list : []
}
