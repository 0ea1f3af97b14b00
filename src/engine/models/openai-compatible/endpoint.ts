import { defined } from '../../../lib/defined.js'
import { isRecord, recordIn } from '../../../lib/json/values.js'
import type { Secret } from '../../../lib/secret.js'
import { ProviderFailure, type Refusal } from '../../base/provider-failure.js'
import { type Egress, type EgressAnswer, type EgressBody, readText } from '../egress-fetch.js'
import { recordAt } from './json.js'

/** Limit of an error body, which is read to recognise a rejected field and never shown. */
const MAX_ERROR_BYTES = 64 * 1024

/** How servers report that a request exceeds the model's context window: some with a code, most with a sentence. */
const TOO_LONG =
  /context_length_exceeded|exceed_context_size|string_above_max_length|(?:maximum|max|available) (?:model )?context|context (?:length|window|size)|maximum (?:input|prompt|sequence) length|(?:prompt|input|request|messages?) (?:is|are|was) too (?:long|large)|too many (?:input )?tokens|longer than the (?:model|maximum)/i

function isRefusal(status: number): boolean {
  return status === 400 || status === 422
}

export interface OpenAiSettings {
  baseUrl: URL
  apiKey?: Secret
  /** further headers, whose values may be credentials */
  headers: Record<string, Secret>
}

/** One server: sends requests to paths below its base address. */
export interface Endpoint {
  /**
   * @param onRefused receives status and body of a rejected request before it becomes a failure
   * @throws ProviderFailure `status` for anything but 2xx
   */
  post(
    path: string,
    body: unknown,
    signal: AbortSignal,
    onRefused?: (status: number, body: string) => void,
  ): Promise<EgressAnswer>
  /** The same with a form, or a body of any other type. */
  postForm(path: string, body: EgressBody & { model: string }, signal: AbortSignal): Promise<EgressAnswer>
}

type OnRefused = (status: number, body: string) => void

export function createEndpoint(egress: Egress, settings: OpenAiSettings): Endpoint {
  const send = async (
    path: string,
    { model, ...body }: EgressBody & { model: string },
    accept: string,
    signal: AbortSignal,
    onRefused?: OnRefused,
  ) => {
    const headers: Record<string, string> = { accept }
    if (settings.apiKey) headers.authorization = `Bearer ${settings.apiKey.reveal()}`
    for (const [name, value] of Object.entries(settings.headers)) headers[name.toLowerCase()] = value.reveal()
    const answer = await egress.send(apiUrl(settings.baseUrl, path), headers, body, signal)
    if (answer.status >= 200 && answer.status < 300) return answer
    // read rather than discarded, so that the connection can be reused
    const text = await readText(answer, MAX_ERROR_BYTES, signal).catch(() => '')
    signal.throwIfAborted()
    onRefused?.(answer.status, text)
    const { retryAfterMs } = answer
    const { status } = answer
    const refusal = refusalOf(status, text, model)
    const options = {
      status,
      ...defined({ retryAfterMs, refusal }),
    }
    if (isRefusal(status) && TOO_LONG.test(text))
      throw new ProviderFailure('context-too-long', `status ${status}`, options)
    throw new ProviderFailure('status', `status ${status}`, options)
  }
  return {
    post: (path, body, signal, onRefused) => {
      const json = { type: 'application/json', content: JSON.stringify(body) }
      return send(
        path,
        { ...json, model: modelOf(body) },
        'application/json, text/event-stream, audio/*',
        signal,
        onRefused,
      )
    },
    postForm: (path, body, signal) => send(path, body, 'application/json', signal),
  }
}

const QUOTA = 'insufficient_quota'
/** Codes of servers that answer an unknown model with a status other than 404. */
const UNKNOWN_MODEL = ['model_not_found', 'model_not_found_error', 'invalid_model']

/** Classifies a rejection by the code or type of its error, never by its text, which may contain a prompt. */
export function refusalOf(status: number, text: string, model: string): Refusal | undefined {
  const codes = codesOf(text)
  if (status === 402 || codes.includes(QUOTA)) return { kind: 'quota' }
  const isUnknown = status === 404 || UNKNOWN_MODEL.some((code) => codes.includes(code))
  return isUnknown && model !== '' ? { kind: 'unknown-model', model } : undefined
}

function codesOf(text: string): unknown[] {
  const json = recordIn(text)
  const error = recordAt(json, 'error')
  return [error.code, error.type, json?.code, json?.type]
}

function modelOf(body: unknown): string {
  return isRecord(body) && typeof body.model === 'string' ? body.model : ''
}

/**
 * The address of an API path below a base. A base with a version in its path (`/v1`, `/v1beta/openai`) is complete; any
 * other gets `/v1`. A query of the base is kept: some hosts select the API version there.
 */
export function apiUrl(base: URL, path: string): URL {
  const url = new URL(base)
  const root = url.pathname.replace(/\/+$/, '')
  const hasVersion = root.split('/').some((segment) => /^v\d/.test(segment))
  url.pathname = `${root}${hasVersion ? '' : '/v1'}/${path}`
  return url
}
