import { defined } from '../../lib/defined.js'

/** Longest answer that is read of a server. */
const MOST_BYTES = 4 * 1024 * 1024

/** A server that is asked, as a provider's entry has it. */
export interface Server {
  /** with or without a version at its end */
  baseUrl: string
  headers: Readonly<Record<string, string>>
}

/** What a server answered. `text` is bounded, and may quote anything: it is never shown. */
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
 * One request to a server; redirects are not followed.
 *
 * @throws Error with a phrase of our own: no answer in time, cannot be reached, too long an answer
 */
export async function askServer(server: Server, url: string, request: ServerRequest): Promise<ServerAnswer> {
  const { json, form, timeoutMs } = request
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const answer = await fetch(url, {
      ...(json === undefined && form === undefined ? {} : { method: 'POST' }),
      headers: { ...server.headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...defined({ body: form }),
      redirect: 'manual',
      signal,
    })
    return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await readSome(answer) }
  } catch {
    // the error of fetch may quote addresses and headers
    throw new Error(signal.aborted ? `no answer within ${timeoutMs} ms` : 'it cannot be reached')
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

/** The address of an API path: a base without a version in its path gets `/v1`. */
export function apiAddress(baseUrl: string, path: string): string {
  const url = new URL(baseUrl)
  const root = url.pathname.replace(/\/+$/, '')
  const hasVersion = root.split('/').some((segment) => /^v\d/.test(segment))
  url.pathname = `${root}${hasVersion ? '' : '/v1'}/${path}`
  return url.href
}

/** JSON of an answer; undefined where it is none, or the answer is no success. */
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
