import { isIP } from 'node:net'
import { KsError } from '../../contract/errors.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import { Secret } from '../../lib/secret.js'
import type { ProgramSetting } from '../../local/provider-setting.js'
import type { EmbeddingModel, GenerationModel, ProviderConfig, RerankingModel } from '../base/provider-config.js'
import { checkProgram } from './command/program.js'
import { isAllowedForOperator } from './egress/addresses.js'

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
const DEFAULT_MAX_ANSWERS = 64

/** [default, min, max] */
const SETTING_LIMITS = {
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
  const createError = (rule: string) =>
    new KsError('invalid-request', `provider ${JSON.stringify(config.provider)}: ${rule}`)
  if (config.provider.trim() === '') throw createError('its name must not be empty')
  const limit = (name: keyof typeof SETTING_LIMITS) => {
    const [fallback, min, max] = SETTING_LIMITS[name]
    const value = config[name] ?? fallback
    if (Number.isInteger(value) && value >= min && value <= max) return value
    throw createError(`${name} must be an integer from ${min} to ${max}, received ${value}`)
  }
  const key = (config.apiKey ?? (config.apiKeyEnv ? env[config.apiKeyEnv] : undefined))?.trim()
  for (const program of [config.speech, config.transcription])
    if (program !== undefined) checkProgram(program, createError)
  // the HTTP client would reject a header value with a line break at every call
  if (key && !isHeaderValue(key)) throw createError('its key contains characters that are invalid in a header')
  return {
    pluginId: config.pluginId,
    provider: config.provider,
    ...(config.baseUrl === undefined ? {} : { baseUrl: readBaseUrl(config.baseUrl, createError) }),
    ...omitUndefined({ speech: config.speech, transcription: config.transcription }),
    ...(key ? { apiKey: new Secret(key) } : {}),
    ...(!key && config.apiKeyEnv ? { missingKeyEnv: config.apiKeyEnv } : {}),
    headers: readHeaders(config.headers ?? {}, createError),
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
    contextTokens: readContextTokens(config.contextTokens ?? {}, createError),
    maxBatch: limit('maxBatch'),
    maxConcurrency: limit('maxConcurrency'),
    ...(config.maxConcurrency === undefined ? { maxAnswers: DEFAULT_MAX_ANSWERS } : {}),
  }
}

type ConfigErrorFactory = (rule: string) => KsError

function readBaseUrl(text: string, createError: ConfigErrorFactory): URL {
  if (!URL.canParse(text)) throw createError('baseUrl must be an absolute address')
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw createError('baseUrl must start with http:// or https://')
  if (url.username || url.password) throw createError('baseUrl must not contain credentials; use apiKey or apiKeyEnv')
  // host names are checked when they are resolved
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) && !isAllowedForOperator(url.hostname)) {
    throw createError('baseUrl must not be a link-local, multicast, unspecified or metadata-service address')
  }
  url.hash = ''
  return url
}

function readHeaders(headers: Record<string, string>, createError: ConfigErrorFactory): Record<string, Secret> {
  const secrets: Record<string, Secret> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) throw createError(`invalid header name ${JSON.stringify(name)}`)
    if (!isHeaderValue(value)) throw createError(`header ${name} contains invalid characters`)
    secrets[name.toLowerCase()] = new Secret(value)
  }
  return secrets
}

/** Context window of models without a configured one, as small local models have it. */
const DEFAULT_CONTEXT_TOKENS = 8192
/** A smaller window has no capacity for an answer and a passage; no model has a larger one. */
const MIN_CONTEXT_TOKENS = 1024
const MAX_CONTEXT_TOKENS = 10_000_000
const ANY_MODEL_KEY = '*'

function readContextTokens(windows: Record<string, number>, createError: ConfigErrorFactory): Record<string, number> {
  for (const [model, tokens] of Object.entries(windows))
    if (!Number.isInteger(tokens) || tokens < MIN_CONTEXT_TOKENS || tokens > MAX_CONTEXT_TOKENS)
      throw createError(
        `contextTokens of ${JSON.stringify(model)} must be an integer from ${MIN_CONTEXT_TOKENS} to ${MAX_CONTEXT_TOKENS}, received ${tokens}`,
      )
  return windows
}

/** The context window of a model, in tokens. */
export function getContextTokens({ contextTokens }: Pick<ProviderConfig, 'contextTokens'>, model: string): number {
  const configured = (name: string) =>
    contextTokens !== undefined && Object.hasOwn(contextTokens, name) ? contextTokens[name] : undefined
  return configured(model) ?? configured(ANY_MODEL_KEY) ?? DEFAULT_CONTEXT_TOKENS
}

function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value)
}

function readModels(models: NonNullable<ProviderConfig['models']>): NonNullable<ProviderSettings['models']> {
  const toModels = <T extends { name: string }>(list: (string | T)[] = []): (T | { name: string })[] =>
    list.map((entry) => (typeof entry === 'string' ? { name: entry } : entry))
  return {
    embedding: toModels(models.embedding),
    generation: toModels(models.generation),
    rerank: toModels(models.rerank),
    speech: toModels(models.speech),
    transcription: toModels(models.transcription),
  }
}
