import { isRecord, parseRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Secret } from '../../../lib/secret.js'
import { ProviderFailure, type ProviderRejection } from '../../base/provider-failure.js'
import { type EgressBody, type EgressResponse, type ModelEgress, readResponseText } from '../egress-fetch.js'
import { getRecord } from './json.js'

/** Limit of an error body, which is read to recognise a rejected field and never shown. */
const MAX_ERROR_BYTES = 64 * 1024

/** How servers report that a request exceeds the model's context window: some with a code, most with a sentence. */
const CONTEXT_TOO_LONG =
  /context_length_exceeded|exceed_context_size|string_above_max_length|(?:maximum|max|available) (?:model )?context|context (?:length|window|size)|maximum (?:input|prompt|sequence) length|(?:prompt|input|request|messages?) (?:is|are|was) too (?:long|large)|too many (?:input )?tokens|longer than the (?:model|maximum)/i

export interface OpenAiSettings {
  baseUrl: URL
  apiKey?: Secret
  /** further headers, whose values may be credentials */
  headers: Record<string, Secret>
}

type RejectionListener = (status: number, body: string) => void

/** One server: sends requests to paths below its base address. */
export interface OpenAiEndpoint {
  /**
   * @param onRefused receives status and body of a rejected request before it becomes a failure
   * @throws ProviderFailure `status` for anything but 2xx
   */
  post(path: string, body: unknown, signal: AbortSignal, onRefused?: RejectionListener): Promise<EgressResponse>
  /** The same with a form, or a body of any other type. */
  postForm(path: string, body: EgressBody & { model: string }, signal: AbortSignal): Promise<EgressResponse>
}

export function createOpenAiEndpoint(egress: ModelEgress, settings: OpenAiSettings): OpenAiEndpoint {
  const send = async (
    path: string,
    { model, accept, ...body }: EgressBody & { model: string; accept: string },
    signal: AbortSignal,
    onRefused?: RejectionListener,
  ) => {
    const headers: Record<string, string> = { accept }
    if (settings.apiKey) headers.authorization = `Bearer ${settings.apiKey.reveal()}`
    for (const [name, value] of Object.entries(settings.headers)) headers[name.toLowerCase()] = value.reveal()
    const response = await egress.send(toApiUrl(settings.baseUrl, path), headers, body, signal)
    if (response.status >= 200 && response.status < 300) return response
    // read rather than discarded, so that the connection can be reused
    const text = await readResponseText(response, MAX_ERROR_BYTES, signal).catch(() => '')
    signal.throwIfAborted()
    onRefused?.(response.status, text)
    const { status, retryAfterMs } = response
    const refusal = parseRefusal(status, text, model)
    const options = { status, ...omitUndefined({ retryAfterMs, refusal }) }
    if ((status === 400 || status === 422) && CONTEXT_TOO_LONG.test(text))
      throw new ProviderFailure('context-too-long', `status ${status}`, options)
    throw new ProviderFailure('status', `status ${status}`, options)
  }
  return {
    post: (path, body, signal, onRefused) => {
      const accept = 'application/json, text/event-stream, audio/*'
      const json = { type: 'application/json', content: JSON.stringify(body) }
      return send(path, { ...json, model: getModel(body), accept }, signal, onRefused)
    },
    postForm: (path, body, signal) => send(path, { ...body, accept: 'application/json' }, signal),
  }
}

const QUOTA_CODE = 'insufficient_quota'
/** Codes of servers that answer an unknown model with a status other than 404. */
const UNKNOWN_MODEL_CODES = ['model_not_found', 'model_not_found_error', 'invalid_model']

/** Classifies a rejection by the code or type of its error, never by its text, which may contain a prompt. */
export function parseRefusal(status: number, text: string, model: string): ProviderRejection | undefined {
  const codes = parseErrorCodes(text)
  if (status === 402 || codes.includes(QUOTA_CODE)) return { kind: 'quota' }
  const isUnknown = status === 404 || UNKNOWN_MODEL_CODES.some((code) => codes.includes(code))
  return isUnknown && model !== '' ? { kind: 'unknown-model', model } : undefined
}

function parseErrorCodes(text: string): unknown[] {
  const json = parseRecord(text)
  const error = getRecord(json, 'error')
  return [error.code, error.type, json?.code, json?.type]
}

function getModel(body: unknown): string {
  return isRecord(body) && typeof body.model === 'string' ? body.model : ''
}

/**
 * The address of an API path below a base. A base with a version in its path (`/v1`, `/v1beta/openai`) is complete; any
 * other gets `/v1`. A query of the base is kept: some hosts select the API version there.
 */
export function toApiUrl(base: URL, path: string): URL {
  const url = new URL(base)
  const root = url.pathname.replace(/\/+$/, '')
  const hasVersion = root.split('/').some((segment) => /^v\d/.test(segment))
  url.pathname = `${root}${hasVersion ? '' : '/v1'}/${path}`
  return url
}
