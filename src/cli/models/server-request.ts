import { omitUndefined } from '../../lib/omit-undefined.js'

/** Maximum length of a reply that is read, in characters. */
const MAX_REPLY_CHARACTERS = 4 * 1024 * 1024

/** A model server as a provider entry configures it. */
export interface ModelServer {
  /** Address of the API, with or without a version at the end. */
  baseUrl: string
  headers: Readonly<Record<string, string>>
}

/** A reply of a server. `text` is bounded and untrusted: it is never shown. */
export interface ModelServerReply {
  status: number
  /** Content type. */
  type: string
  text: string
}

export interface ModelServerRequest {
  json?: unknown
  form?: FormData
  timeoutMs: number
}

/**
 * Sends one request to a server; does not follow redirects.
 *
 * @throws Error with our own message on a timeout or an unreachable server
 */
export async function requestServer(
  server: ModelServer,
  url: string,
  request: ModelServerRequest,
): Promise<ModelServerReply> {
  const { json, form, timeoutMs } = request
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      ...(json === undefined && form === undefined ? {} : { method: 'POST' }),
      headers: { ...server.headers, ...(json === undefined ? {} : { 'content-type': 'application/json' }) },
      ...omitUndefined({ body: json === undefined ? form : JSON.stringify(json) }),
      redirect: 'manual',
      signal,
    })
    return {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text: await readBounded(response),
    }
  } catch {
    // The error of fetch may contain addresses and headers.
    throw new Error(signal.aborted ? `no answer within ${timeoutMs} ms` : 'not reachable')
  }
}

async function readBounded(response: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  if (response.body === null) return text
  for await (const chunk of response.body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length > MAX_REPLY_CHARACTERS) break
  }
  return text
}

/** The address of an API path; adds `/v1` to a base without a version. */
export function toApiAddress(baseUrl: string, path: string): string {
  const url = new URL(baseUrl)
  const root = url.pathname.replace(/\/+$/, '')
  const hasVersion = root.split('/').some((segment) => /^v\d/.test(segment))
  url.pathname = `${root}${hasVersion ? '' : '/v1'}/${path}`
  return url.href
}

/** The JSON of a successful reply; `undefined` for others. */
export function parseReplyJson({ status, text }: ModelServerReply): unknown {
  if (status < 200 || status > 299) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function getField(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}

export function getList(value: unknown, key: string): unknown[] {
  const list = getField(value, key)
  return Array.isArray(list) ? list : []
}
