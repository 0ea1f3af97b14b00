import { LRUCache } from 'lru-cache'
import { KsError } from '../../contract/errors.js'
import type { ModelReference } from '../base/model-reference.js'
import type { CircuitState } from './circuit.js'
import { createGuard, type Guard, type GuardClock, type ProviderGate } from './guard.js'
import type { Provider } from './provider.js'
import { MODEL_KINDS, type ModelKind, type ProviderSettings } from './provider-config.js'
import { createSlots } from './slots.js'
import { type ModelRecord, type ModelUse, noUse } from './use.js'

/**
 * Clients choose model names where a provider offers any; beyond this count, the least recently used one is dropped.
 */
const MAX_MODELS_KEPT = 256

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
export type Entry = ReturnType<typeof createEntry>

export function createEntry(settings: ProviderSettings, provider: Provider, clock: GuardClock) {
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
    quietUntil: 0,
  }
  const slots = createSlots(maxConcurrency)
  const answerSlots = maxAnswers === undefined ? slots : createSlots(maxAnswers)
  const guards = new LRUCache<string, { kind: ModelKind; model: string; guard: Guard; use: ModelRecord }>({
    max: MAX_MODELS_KEPT,
  })

  // cached by name, since an embedder remembers its dimension and a generator the server's dialect
  const kept = <M extends { name: string }, R>(
    kind: ModelKind,
    listed: M[] | undefined,
    make: (model: M) => R,
    unlisted: (name: string) => NoInfer<M>,
  ) => {
    const byName = new LRUCache<string, { raw: R; guard: Guard; model: M; use: ModelRecord }>({ max: MAX_MODELS_KEPT })
    return (name: string) => {
      const known = byName.get(name)
      if (known) return { ...known, settings }
      const model = listed?.find((candidate) => candidate.name === name) ?? unlisted(name)
      const guard = createGuard(gate, kind === 'generation' ? answerSlots : slots, clock)
      const use = noUse()
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
    kinds: kindsOf(provider),
    embedder: kept('embedding', models?.embedding, provider.embedder ?? none, named),
    generator: kept('generation', models?.generation, provider.generator ?? none, named),
    reranker: kept('rerank', models?.rerank, provider.reranker ?? none, named),
    speaker: kept('speech', models?.speech, provider.speaker ?? none, named),
    transcriber: kept('transcription', models?.transcription, provider.transcriber ?? none, named),
  }
}

function kindsOf(provider: Provider): ReadonlySet<ModelKind> {
  const { embedder, generator, reranker, speaker, transcriber } = provider
  const made = {
    embedding: embedder,
    generation: generator,
    rerank: reranker,
    speech: speaker,
    transcription: transcriber,
  }
  return new Set(MODEL_KINDS.filter((kind) => made[kind] !== undefined))
}

/** Stands for a kind that the provider lacks; `kinds` is checked before. */
function none(): never {
  throw new KsError('unavailable', 'the provider has no models of this kind')
}

/** Why a provider cannot serve a reference; undefined where it can. */
export function problemWith(
  { settings, provider, kinds }: Entry,
  reference: ModelReference,
  kind: ModelKind,
): string | undefined {
  if (!kinds.has(kind)) return `has no models for ${kind}`
  if (provider.offered?.(kind).includes(reference.model) === false)
    return `does not offer ${kind} model ${quote(reference.model)}: \`ks models pull\` fetches models to this machine`
  if (settings.missingKeyEnv) return `has no key: environment variable ${settings.missingKeyEnv} is not set`
  if (settings.models && !settings.models[kind].some(({ name }) => name === reference.model)) {
    return `does not offer ${kind} model ${quote(reference.model)}`
  }
  return undefined
}

/** Whether a provider is listed: the local provider is not, while no model is pulled. */
export function hasModels({ provider }: Entry): boolean {
  return provider.offered === undefined || MODEL_KINDS.some((kind) => provider.offered?.(kind).length !== 0)
}

export function describeEntry({ settings, guards }: Entry): ProviderDescription {
  const { pluginId, provider, baseUrl, models, timeoutMs, ingestTimeoutMs, contextTokens, maxConcurrency } = settings
  const names = (list: { name: string }[]) => list.map(({ name }) => name)
  return {
    pluginId,
    provider,
    ...(baseUrl ? { baseUrl: `${baseUrl.origin}${baseUrl.pathname}` } : {}),
    credential: settings.apiKey ? 'set' : settings.missingKeyEnv ? 'missing' : 'none',
    ...(models
      ? {
          models: {
            embedding: names(models.embedding),
            generation: names(models.generation),
            rerank: names(models.rerank),
            speech: names(models.speech),
            transcription: names(models.transcription),
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

function named(name: string): { name: string } {
  return { name }
}

/** Quotes a name for a message: names come from clients, so they are truncated and escaped. */
export function quote(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}
