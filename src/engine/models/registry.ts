import { LRUCache } from 'lru-cache'
import { KsError } from '../../contract/errors.js'
import type { Secret } from '../../lib/secret.js'
import { type Confinement, confinedOnly } from '../../local/confinement/confinement.js'
import type { ModelReference } from '../base/model-reference.js'
import type { ProviderConfig } from '../base/provider-config.js'
import {
  type BudgetAccount,
  type BudgetStore,
  createBudget,
  memoryBudgetStore,
  type ProviderBudgets,
} from './budget.js'
import type { CircuitState } from './circuit.js'
import { commandProvider } from './command/provider.js'
import { createGuard, type Guard, type GuardClock, type ProviderGate } from './guard.js'
import { guardedEmbedder, guardedGenerator, guardedReranker, guardedSpeaker, guardedTranscriber } from './guarded.js'
import { openAiCompatible } from './openai-compatible/provider.js'
import type { Provider } from './provider.js'
import { MODEL_KINDS, type ModelKind, type ProviderSettings, readProviderConfig, windowOf } from './provider-config.js'
import { createSlots } from './slots.js'
import type { Embedder, Generator, RerankModel, Speaker, Transcriber } from './types.js'
import { type ModelRecord, type ModelUse, noUse } from './use.js'

/** Embeddings without network or account, trained on the space's own text. */
export const BUILTIN_EMBEDDING: ModelReference = Object.freeze({
  pluginId: 'builtin',
  provider: 'lsa',
  model: 'lsa-200',
})

/** Answers that are quotations of the evidence. */
export const BUILTIN_ANSWER: ModelReference = Object.freeze({
  pluginId: 'builtin',
  provider: 'extractive',
  model: 'extractive',
})

/** Whether the engine itself is the model; the registry does not make those. */
export function isBuiltin(reference: ModelReference): boolean {
  return isSame(reference, BUILTIN_EMBEDDING) || isSame(reference, BUILTIN_ANSWER)
}

/** Whether answers are quotations of the evidence. */
export function isBuiltinAnswer(reference: ModelReference): boolean {
  return isSame(reference, BUILTIN_ANSWER)
}

function isSame(one: ModelReference, other: ModelReference): boolean {
  return one.pluginId === other.pluginId && one.provider === other.provider && one.model === other.model
}

/** A provider as `ks doctor` shows it: no credential, no header value, no query of the address. */
export interface ProviderDescription {
  pluginId: string
  provider: string
  /** absent for programs of this machine */
  baseUrl?: string
  /** `missing` = its environment variable is not set, so its models cannot be used */
  credential: 'set' | 'missing' | 'none'
  /** names by kind; absent = any model of any kind */
  models?: Record<ModelKind, string[]>
  timeoutMs: number
  ingestTimeoutMs: number
  /** windows by model, `*` of those without one of their own */
  contextTokens: Record<string, number>
  maxConcurrency: number
  /** models used since the start, and whether they are being asked */
  circuits: ({ kind: ModelKind; model: string; state: CircuitState } & ModelUse)[]
}

/** A model that was used since the start of the daemon. */
export interface UsedModel extends ModelRecord {
  provider: string
  kind: ModelKind
  model: string
  /** it failed so often that it is left alone */
  isLeftAlone: boolean
}

/** From a model reference to a model. Models are guarded once each, however many ask for them. */
export interface ModelRegistry {
  /**
   * @param account who pays; the deployment where absent
   * @param dimension of the vectors that an embedder's are to be compared with, where there are some
   * @throws KsError `unavailable` when this daemon does not have the model
   */
  embedder(reference: ModelReference, account?: BudgetAccount, dimension?: number): Embedder
  generator(reference: ModelReference, account?: BudgetAccount): Generator
  reranker(reference: ModelReference, account?: BudgetAccount): RerankModel
  speaker(reference: ModelReference): Speaker
  transcriber(reference: ModelReference): Transcriber
  /** Whether the method for that kind would return a model. Does not ask the provider. */
  has(reference: ModelReference, kind: ModelKind): boolean
  describe(): ProviderDescription[]
  /** What each model was used for since the start, and how it went. */
  records(): UsedModel[]
  /** Every credential in use, for the log's redaction by value. */
  secrets(): Secret[]
  /** Closes all connections; running calls fail. */
  close(): Promise<void>
}

export interface RegistryOptions {
  /** limits of the deployment's own account, used by callers that name none */
  budgets?: () => ProviderBudgets
  /** in memory where absent */
  budgetStore?: BudgetStore
  /** of programs; absent = they run confined only, and no path is hidden besides */
  confinement?: Confinement
  env?: NodeJS.ProcessEnv
  /** clock and chance, for tests */
  now?: () => number
  random?: () => number
}

const PLUGINS: Record<string, (settings: ProviderSettings, confinement: Confinement) => Provider | undefined> = {
  'openai-compatible': ({ baseUrl, ...settings }) =>
    baseUrl === undefined ? undefined : openAiCompatible({ ...settings, baseUrl }),
  command: (settings, confinement) =>
    settings.speech === undefined && settings.transcription === undefined
      ? undefined
      : commandProvider(settings, confinement),
}

/** What an entry of a plugin cannot do without. */
const NEEDS: Record<string, string> = {
  'openai-compatible': 'needs a baseUrl',
  command: 'needs speech or transcription, with the argv of a program',
}

/** Model names come from clients where a provider offers any; beyond this many, the longest unused is forgotten. */
const MAX_MODELS_KEPT = 256

/** @throws KsError `invalid-request` when an entry cannot be used as it is written */
export function createModelRegistry(configs: ProviderConfig[], options: RegistryOptions = {}): ModelRegistry {
  const clock = { now: options.now ?? Date.now, random: options.random ?? Math.random }
  const confinement = options.confinement ?? confinedOnly()
  const entries = readEntries(configs, options.env ?? process.env, clock, confinement)
  const store = options.budgetStore ?? memoryBudgetStore()
  const deployment: BudgetAccount = { id: 'deployment', limits: options.budgets ?? (() => ({})) }
  const budgetOf = (account = deployment) => createBudget(account, store, clock.now)

  const find = (reference: ModelReference, kind: ModelKind): Entry => {
    const entry = entries.get(entryKey(reference))
    const problem = entry ? problemWith(entry, reference, kind) : 'is not configured in this daemon'
    if (entry && !problem) return entry
    throw new KsError('unavailable', `provider ${quote(reference.provider)} ${problem}`)
  }

  return {
    embedder(reference, account, dimension) {
      const { raw, guard, model, use, settings } = find(reference, 'embedding').embedder(reference.model)
      const maxBatch = model.maxBatch ?? settings.maxBatch
      return guardedEmbedder(
        { reference: { ...reference }, raw, guard, use, budget: budgetOf(account) },
        maxBatch,
        dimension,
      )
    },
    generator(reference, account) {
      const { raw, guard, use, settings } = find(reference, 'generation').generator(reference.model)
      const model = { reference: { ...reference }, raw, guard, use, budget: budgetOf(account) }
      return guardedGenerator(model, windowOf(settings, reference.model))
    },
    reranker(reference, account) {
      const { raw, guard, use } = find(reference, 'rerank').reranker(reference.model)
      return guardedReranker({ reference: { ...reference }, raw, guard, use, budget: budgetOf(account) })
    },
    speaker(reference) {
      const { raw, guard, use } = find(reference, 'speech').speaker(reference.model)
      return guardedSpeaker({ reference: { ...reference }, raw, guard, use })
    },
    transcriber(reference) {
      const { raw, guard, use } = find(reference, 'transcription').transcriber(reference.model)
      return guardedTranscriber({ reference: { ...reference }, raw, guard, use })
    },
    has(reference, kind) {
      const entry = entries.get(entryKey(reference))
      return entry !== undefined && problemWith(entry, reference, kind) === undefined
    },
    describe: () => [...entries.values()].map(describeEntry),
    records: () =>
      [...entries.values()].flatMap(({ settings: { provider }, guards }) =>
        guards().map(({ kind, model, guard, use }) => {
          return { provider, kind, model, isLeftAlone: guard.circuit() === 'open', ...use }
        }),
      ),
    secrets: () =>
      [...entries.values()].flatMap(({ settings }) => [
        ...(settings.apiKey ? [settings.apiKey] : []),
        ...Object.values(settings.headers),
      ]),
    async close() {
      await Promise.all([...entries.values()].map(({ provider }) => provider.close()))
    },
  }
}

type Entry = ReturnType<typeof createEntry>

function createEntry(settings: ProviderSettings, provider: Provider, clock: GuardClock) {
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

  // kept by name, since an embedder remembers its dimension and a generator what its server understands
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

/** In place of what a provider does not have; nobody gets here past `kinds`. */
function none(): never {
  throw new KsError('unavailable', 'the provider has no models of this kind')
}

function readEntries(
  configs: ProviderConfig[],
  env: NodeJS.ProcessEnv,
  clock: GuardClock,
  confinement: Confinement,
): Map<string, Entry> {
  const entries = new Map<string, Entry>()
  for (const config of configs) {
    const plugin = Object.hasOwn(PLUGINS, config.pluginId) ? PLUGINS[config.pluginId] : undefined
    const refuse = (rule: string) => new KsError('invalid-request', `provider ${quote(config.provider)}: ${rule}`)
    if (!plugin) {
      throw refuse(
        `pluginId must be ${Object.keys(PLUGINS).map(quote).join(' or ')}, received ${quote(config.pluginId)}`,
      )
    }
    if (entries.has(entryKey(config))) throw refuse('is configured twice')
    const settings = readProviderConfig(config, env)
    const provider = plugin(settings, confinement)
    if (!provider) throw refuse(NEEDS[config.pluginId] ?? 'is not complete')
    entries.set(entryKey(config), createEntry(settings, provider, clock))
  }
  return entries
}

/** Why a provider cannot serve a reference; undefined where it can. */
function problemWith({ settings, kinds }: Entry, reference: ModelReference, kind: ModelKind): string | undefined {
  if (!kinds.has(kind)) return `has no models for ${kind}`
  if (settings.missingKeyEnv) return `has no key: environment variable ${settings.missingKeyEnv} is not set`
  if (settings.models && !settings.models[kind].some(({ name }) => name === reference.model)) {
    return `does not offer ${kind} model ${quote(reference.model)}`
  }
  return undefined
}

function describeEntry({ settings, guards }: Entry): ProviderDescription {
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

function entryKey({ pluginId, provider }: { pluginId: string; provider: string }): string {
  return JSON.stringify([pluginId, provider])
}

function named(name: string): { name: string } {
  return { name }
}

/** A name in a message: names come from clients, so they are cut and escaped. */
function quote(name: string): string {
  return JSON.stringify(name.slice(0, 100))
}
