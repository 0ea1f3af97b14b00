import { isIP } from 'node:net'
import { KsError } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import { Secret } from '../../lib/secret.js'
import type { ProgramSetting } from '../../local/provider-setting.js'
import type { EmbeddingModel, GenerationModel, ProviderConfig, RerankingModel } from '../base/provider-config.js'
import { operatorMayDial } from '../egress/addresses.js'
import { checkProgram } from './command/program.js'

export const MODEL_KINDS = ['embedding', 'generation', 'rerank', 'speech', 'transcription'] as const

export type ModelKind = (typeof MODEL_KINDS)[number]

/** The configuration with defaults and wrapped credentials, fully checked. */
export interface ProviderSettings {
  pluginId: string
  provider: string
  baseUrl?: URL
  speech?: ProgramSetting
  transcription?: ProgramSetting
  apiKey?: Secret
  /** name of the environment variable that should contain the key but is not set */
  missingKeyEnv?: string
  headers: Record<string, Secret>
  models?: {
    embedding: EmbeddingModel[]
    generation: GenerationModel[]
    rerank: RerankingModel[]
    speech: { name: string }[]
    transcription: { name: string }[]
  }
  timeoutMs: number
  firstTokenTimeoutMs: number
  ingestTimeoutMs: number
  contextTokens: Record<string, number>
  maxBatch: number
  maxConcurrency: number
  /** concurrent answers; absent = they count among the other calls */
  maxAnswers?: number
}

/**
 * Default of concurrent answers. An answer takes as long as its model writes while a user waits, so without a setting
 * the server's own queue decides.
 */
const USUAL_ANSWERS = 64

/** [default, min, max] */
const LIMITS = {
  timeoutMs: [60_000, 10, 3_600_000],
  firstTokenTimeoutMs: [30_000, 10, 3_600_000],
  // complete batches take minutes on a machine without a graphics card
  ingestTimeoutMs: [300_000, 10, 3_600_000],
  // common servers accept 64 passages of 500 tokens in one request
  maxBatch: [64, 1, 2048],
  maxConcurrency: [4, 1, 256],
} as const

/**
 * Checks an operator's entry and reads its key.
 *
 * @throws KsError `invalid-request` that names the provider and the field, never a value that may be a credential
 */
export function readProviderConfig(config: ProviderConfig, env: NodeJS.ProcessEnv): ProviderSettings {
  const refuse = (rule: string) =>
    new KsError('invalid-request', `provider ${JSON.stringify(config.provider)}: ${rule}`)
  if (config.provider.trim() === '') throw refuse('its name must not be empty')
  const limit = (name: keyof typeof LIMITS) => {
    const [fallback, least, most] = LIMITS[name]
    const value = config[name] ?? fallback
    if (Number.isInteger(value) && value >= least && value <= most) return value
    throw refuse(`${name} must be an integer from ${least} to ${most}, received ${value}`)
  }
  const key = (config.apiKey ?? (config.apiKeyEnv ? env[config.apiKeyEnv] : undefined))?.trim()
  // the HTTP client would reject a header value with a line break at every call
  if (key && !isHeaderValue(key)) throw refuse('its key contains characters that are invalid in a header')
  return {
    pluginId: config.pluginId,
    provider: config.provider,
    ...(config.baseUrl === undefined ? {} : { baseUrl: readBaseUrl(config.baseUrl, refuse) }),
    ...programsOf(config, refuse),
    ...(key ? { apiKey: new Secret(key) } : {}),
    ...(!key && config.apiKeyEnv ? { missingKeyEnv: config.apiKeyEnv } : {}),
    headers: readHeaders(config.headers ?? {}, refuse),
    ...(config.models ? { models: readModels(config.models) } : {}),
    timeoutMs: limit('timeoutMs'),
    // a longer timeout applies to the first token as well: loading a model is the longest silence
    firstTokenTimeoutMs:
      config.firstTokenTimeoutMs === undefined && config.timeoutMs !== undefined
        ? limit('timeoutMs')
        : limit('firstTokenTimeoutMs'),
    ingestTimeoutMs:
      config.ingestTimeoutMs === undefined && config.timeoutMs !== undefined
        ? limit('timeoutMs')
        : limit('ingestTimeoutMs'),
    contextTokens: readWindows(config.contextTokens ?? {}, refuse),
    maxBatch: limit('maxBatch'),
    maxConcurrency: limit('maxConcurrency'),
    ...(config.maxConcurrency === undefined ? { maxAnswers: USUAL_ANSWERS } : {}),
  }
}

type Refuse = (rule: string) => KsError

function programsOf({ speech, transcription }: ProviderConfig, refuse: Refuse) {
  for (const program of [speech, transcription]) if (program !== undefined) checkProgram(program, refuse)
  return { ...defined({ speech, transcription }) }
}

function readBaseUrl(text: string, refuse: Refuse): URL {
  if (!URL.canParse(text)) throw refuse('baseUrl must be an absolute address')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('baseUrl must start with http:// or https://')
  if (url.username || url.password) throw refuse('baseUrl must not contain credentials; use apiKey or apiKeyEnv')
  // host names are checked when they are resolved
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) && !operatorMayDial(url.hostname)) {
    throw refuse('baseUrl must not be a link-local, multicast, unspecified or metadata-service address')
  }
  url.hash = ''
  return url
}

function readHeaders(headers: Record<string, string>, refuse: Refuse): Record<string, Secret> {
  const secrets: Record<string, Secret> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw refuse(`invalid header name ${JSON.stringify(name)}`)
    if (!isHeaderValue(value)) throw refuse(`header ${name} contains invalid characters`)
    secrets[name.toLowerCase()] = new Secret(value)
  }
  return secrets
}

/** Context window of models without a configured one, as small local models have it. */
const USUAL_WINDOW = 8192
/** A smaller window has no capacity for an answer and a passage; no model has a larger one. */
const WINDOWS = { least: 1024, most: 10_000_000 }
const ANY_MODEL = '*'

function readWindows(windows: Record<string, number>, refuse: Refuse): Record<string, number> {
  for (const [model, tokens] of Object.entries(windows))
    if (!Number.isInteger(tokens) || tokens < WINDOWS.least || tokens > WINDOWS.most)
      throw refuse(
        `contextTokens of ${JSON.stringify(model)} must be an integer from ${WINDOWS.least} to ${WINDOWS.most}, received ${tokens}`,
      )
  return windows
}

/** The context window of a model, in tokens. */
export function windowOf({ contextTokens }: Pick<ProviderConfig, 'contextTokens'>, model: string): number {
  const own = (name: string) =>
    contextTokens !== undefined && Object.hasOwn(contextTokens, name) ? contextTokens[name] : undefined
  return own(model) ?? own(ANY_MODEL) ?? USUAL_WINDOW
}

function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

function readModels(models: NonNullable<ProviderConfig['models']>): NonNullable<ProviderSettings['models']> {
  const named = <T extends { name: string }>(list: (string | T)[] = []): (T | { name: string })[] =>
    list.map((entry) => (typeof entry === 'string' ? { name: entry } : entry))
  return {
    embedding: named(models.embedding),
    generation: named(models.generation),
    rerank: named(models.rerank),
    speech: named(models.speech),
    transcription: named(models.transcription),
  }
}
