import { LRUCache } from 'lru-cache'
import { KsError } from '../../contract/errors.js'
import type { ModelReference } from '../base/model-reference.js'
import type { CircuitState } from './circuit.js'
import { createModelGuard, type GuardClock, type ModelGuard, type ProviderGate } from './guard.js'
import type { ModelProvider } from './provider.js'
import { MODEL_KINDS, type ModelKind, type ProviderSettings } from './provider-config.js'
import { createProviderSlots } from './slots.js'
import { createModelRecord, type ModelRecord, type ModelUse } from './usage.js'

/**
 * Clients choose model names where a provider offers any; beyond this count, the least recently used one is dropped.
 */
const MAX_CACHED_MODELS = 256

/** A provider as `ks doctor` shows it: no credential, no header value, no query of the address. */
export interface ProviderDescription {
  pluginId: string
  provider: string
  /** absent for local programs */
  baseUrl?: string
  /** `missing` = its environment variable is not set, so its models cannot be used */
  credential: 'set' | 'missing' | 'none'
  /** names by kind; absent = any model of any kind */
  models?: Record<ModelKind, string[]>
  timeoutMs: number
  ingestTimeoutMs: number
  /** context windows by model; `*` for models without a separate one */
  contextTokens: Record<string, number>
  maxConcurrency: number
  /** models used since the start, with the states of their circuits */
  circuits: ({ kind: ModelKind; model: string; state: CircuitState } & ModelUse)[]
}

/** A provider of the registry with its guarded models. */
export type RegistryEntry = ReturnType<typeof createRegistryEntry>

export function createRegistryEntry(settings: ProviderSettings, provider: ModelProvider, clock: GuardClock) {
  const {
    provider: name,
    timeoutMs,
    ingestTimeoutMs,
    firstTokenTimeoutMs,
    maxConcurrency,
    maxAnswers,
    models,
  } = settings
  const gate: ProviderGate = {
    provider: name,
    timeoutMs,
    ingestTimeoutMs,
    firstTokenTimeoutMs,
    blockedUntil: 0,
  }
  const slots = createProviderSlots(maxConcurrency)
  const answerSlots = maxAnswers === undefined ? slots : createProviderSlots(maxAnswers)
  const guards = new LRUCache<string, { kind: ModelKind; model: string; guard: ModelGuard; use: ModelRecord }>({
    max: MAX_CACHED_MODELS,
  })

  // cached by name, since an embedder remembers its dimension and a generator the server's dialect
  const createCachedFactory = <M extends { name: string }, R>(
    kind: ModelKind,
    listed: M[] | undefined,
    make: (model: M) => R,
    unlisted: (name: string) => NoInfer<M>,
  ) => {
    const byName = new LRUCache<string, { raw: R; guard: ModelGuard; model: M; use: ModelRecord }>({
      max: MAX_CACHED_MODELS,
    })
    return (name: string) => {
      const cached = byName.get(name)
      if (cached) return { ...cached, settings }
      const model = listed?.find((candidate) => candidate.name === name) ?? unlisted(name)
      const guard = createModelGuard(gate, kind === 'generation' ? answerSlots : slots, clock)
      const use = createModelRecord()
      guards.set(`${kind} ${name}`, { kind, model: name, guard, use })
      const fresh = { raw: make(model), guard, model, use }
      byName.set(name, fresh)
      return { ...fresh, settings }
    }
  }

  return {
    settings,
    provider,
    guards: () => [...guards.values()],
    kinds: listSupportedKinds(provider),
    embedder: createCachedFactory('embedding', models?.embedding, provider.embedder ?? throwUnsupported, toModel),
    generator: createCachedFactory('generation', models?.generation, provider.generator ?? throwUnsupported, toModel),
    reranker: createCachedFactory('rerank', models?.rerank, provider.reranker ?? throwUnsupported, toModel),
    speaker: createCachedFactory('speech', models?.speech, provider.speaker ?? throwUnsupported, toModel),
    transcriber: createCachedFactory(
      'transcription',
      models?.transcription,
      provider.transcriber ?? throwUnsupported,
      toModel,
    ),
  }
}

function listSupportedKinds(provider: ModelProvider): ReadonlySet<ModelKind> {
  const { embedder, generator, reranker, speaker, transcriber } = provider
  const factories = {
    embedding: embedder,
    generation: generator,
    rerank: reranker,
    speech: speaker,
    transcription: transcriber,
  }
  return new Set(MODEL_KINDS.filter((kind) => factories[kind] !== undefined))
}

/** Stands for a kind that the provider lacks; `kinds` is checked before. */
function throwUnsupported(): never {
  throw new KsError('unavailable', 'the provider has no models of this kind')
}

/** Why a provider cannot serve a reference; undefined where it can. */
export function findModelProblem(
  { settings, provider, kinds }: RegistryEntry,
  reference: ModelReference,
  kind: ModelKind,
): string | undefined {
  if (!kinds.has(kind)) return `has no models for ${kind}`
  if (provider.listOffered?.(kind).includes(reference.model) === false)
    return `does not offer ${kind} model ${quoteName(reference.model)}: \`ks models pull\` fetches models to this machine`
  if (settings.missingKeyEnv) return `has no key: environment variable ${settings.missingKeyEnv} is not set`
  if (settings.models && !settings.models[kind].some(({ name }) => name === reference.model)) {
    return `does not offer ${kind} model ${quoteName(reference.model)}`
  }
  return undefined
}

/** Whether a provider is listed: the local provider is not, while no model is pulled. */
export function isListed({ provider }: RegistryEntry): boolean {
  return provider.listOffered === undefined || MODEL_KINDS.some((kind) => provider.listOffered?.(kind).length !== 0)
}

export function describeProvider({ settings, guards }: RegistryEntry): ProviderDescription {
  const { pluginId, provider, baseUrl, models, timeoutMs, ingestTimeoutMs, contextTokens, maxConcurrency } = settings
  const listNames = (list: { name: string }[]) => list.map(({ name }) => name)
  return {
    pluginId,
    provider,
    ...(baseUrl ? { baseUrl: `${baseUrl.origin}${baseUrl.pathname}` } : {}),
    credential: settings.apiKey ? 'set' : settings.missingKeyEnv ? 'missing' : 'none',
    ...(models
      ? {
          models: {
            embedding: listNames(models.embedding),
            generation: listNames(models.generation),
            rerank: listNames(models.rerank),
            speech: listNames(models.speech),
            transcription: listNames(models.transcription),
          },
        }
      : {}),
    timeoutMs,
    ingestTimeoutMs,
    contextTokens,
    maxConcurrency,
    circuits: guards().map(({ kind, model, guard, use: { failures: _, durations: __, ...use } }) => {
      return { kind, model, state: guard.circuit(), ...use }
    }),
  }
}

function toModel(name: string): { name: string } {
  return { name }
}

/** Quotes a name for a message: names come from clients, so they are truncated and escaped. */
export function quoteName(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}
