import { KsError } from '../../contract/errors.js'
import type { Secret } from '../../lib/secret.js'
import { type Confinement, createStrictConfinement } from '../../local/confinement/confinement.js'
import type { ModelReference } from '../base/model-reference.js'
import type { ProviderConfig } from '../base/provider-config.js'
import {
  type BudgetAccount,
  type BudgetStore,
  createBudget,
  createMemoryBudgetStore,
  type ProviderBudgets,
} from './budget.js'
import { createCommandProvider } from './command/provider.js'
import type { GuardClock } from './guard.js'
import {
  createGuardedEmbedder,
  createGuardedGenerator,
  createGuardedReranker,
  createGuardedSpeaker,
  createGuardedTranscriber,
} from './guarded.js'
import { createLocalProvider, createLocalSettings } from './local/provider.js'
import { createOpenAiProvider } from './openai-compatible/provider.js'
import type { ModelProvider } from './provider.js'
import { getContextTokens, type ModelKind, type ProviderSettings, readProviderConfig } from './provider-config.js'
import {
  createRegistryEntry,
  describeProvider,
  findModelProblem,
  isListed,
  type ProviderDescription,
  quoteName,
  type RegistryEntry,
} from './registry-entry.js'
import type { Embedder, Generator, RerankModel, Speaker, Transcriber } from './types.js'
import type { ModelRecord } from './usage.js'

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

/** Whether the engine itself is the model; the registry does not create those. */
export function isBuiltin(reference: ModelReference): boolean {
  return isSameModel(reference, BUILTIN_EMBEDDING) || isSameModel(reference, BUILTIN_ANSWER)
}

/** Whether answers are quotations of the evidence. */
export function isBuiltinAnswer(reference: ModelReference): boolean {
  return isSameModel(reference, BUILTIN_ANSWER)
}

export function isSameModel(first: ModelReference, second: ModelReference): boolean {
  return first.pluginId === second.pluginId && first.provider === second.provider && first.model === second.model
}

/** A model that was used since the start of the daemon. */
export interface UsedModel extends ModelRecord {
  provider: string
  kind: ModelKind
  model: string
  /** its circuit is open after repeated failures */
  isLeftAlone: boolean
}

/** Creates models from references. Each model has one guard, shared by all its users. */
export interface ModelRegistry {
  /**
   * @param account that pays; absent = the deployment
   * @param dimension of existing vectors that the new ones are compared with, if there are any
   * @throws KsError `unavailable` when this daemon does not have the model
   */
  embedder(reference: ModelReference, account?: BudgetAccount, dimension?: number): Embedder
  generator(reference: ModelReference, account?: BudgetAccount): Generator
  reranker(reference: ModelReference, account?: BudgetAccount): RerankModel
  speaker(reference: ModelReference): Speaker
  transcriber(reference: ModelReference): Transcriber
  /** Whether the method for that kind would return a model; does not call the provider. */
  has(reference: ModelReference, kind: ModelKind): boolean
  describe(): ProviderDescription[]
  /** Usage and outcomes of each model since the start. */
  records(): UsedModel[]
  /** All credentials in use, which the log redacts by value. */
  secrets(): Secret[]
  /** Closes all connections; running calls fail. */
  close(): Promise<void>
}

export interface RegistryOptions {
  /** time in milliseconds since the epoch */
  now: () => number
  /** limits of the deployment's own account, for callers without an account */
  budgets?: () => ProviderBudgets
  /** absent = in memory */
  budgetStore?: BudgetStore
  /** folder of local models; absent = there are none */
  modelsFolder?: string
  /** confinement of programs; absent = required, without hidden paths */
  confinement?: Confinement
  env?: NodeJS.ProcessEnv
  /** random numbers, for tests */
  random?: () => number
}

const PLUGINS: Record<string, (settings: ProviderSettings, confinement: Confinement) => ModelProvider | undefined> = {
  'openai-compatible': ({ baseUrl, ...settings }) =>
    baseUrl === undefined ? undefined : createOpenAiProvider({ ...settings, baseUrl }),
  command: (settings, confinement) =>
    settings.speech === undefined && settings.transcription === undefined
      ? undefined
      : createCommandProvider(settings, confinement),
}

/** Required settings of each plugin. */
const REQUIRED_SETTINGS: Record<string, string> = {
  'openai-compatible': 'needs a baseUrl',
  command: 'needs speech or transcription, with the argv of a program',
}

/** @throws KsError `invalid-request` for an invalid entry */
export function createModelRegistry(configs: ProviderConfig[], options: RegistryOptions): ModelRegistry {
  const clock = { now: options.now, random: options.random ?? Math.random }
  const confinement = options.confinement ?? createStrictConfinement()
  const entries = readEntries(configs, options.env ?? process.env, clock, confinement)
  if (options.modelsFolder !== undefined) {
    const settings = createLocalSettings()
    entries.set(entryKey(settings), createRegistryEntry(settings, createLocalProvider(options.modelsFolder), clock))
  }
  const store = options.budgetStore ?? createMemoryBudgetStore()
  const deployment: BudgetAccount = { id: 'deployment', limits: options.budgets ?? (() => ({})) }
  const createAccountBudget = (account = deployment) => createBudget(account, store, clock.now)

  const findEntry = (reference: ModelReference, kind: ModelKind): RegistryEntry => {
    const entry = entries.get(entryKey(reference))
    const problem = entry ? findModelProblem(entry, reference, kind) : 'is not configured in this daemon'
    if (entry && !problem) return entry
    throw new KsError('unavailable', `provider ${quoteName(reference.provider)} ${problem}`)
  }

  return {
    embedder(reference, account, dimension) {
      const { raw, guard, model, use, settings } = findEntry(reference, 'embedding').embedder(reference.model)
      const maxBatch = model.maxBatch ?? settings.maxBatch
      return createGuardedEmbedder(
        { reference: { ...reference }, raw, guard, use, budget: createAccountBudget(account) },
        maxBatch,
        dimension,
      )
    },
    generator(reference, account) {
      const { raw, guard, use, settings } = findEntry(reference, 'generation').generator(reference.model)
      const model = { reference: { ...reference }, raw, guard, use, budget: createAccountBudget(account) }
      return createGuardedGenerator(model, getContextTokens(settings, reference.model))
    },
    reranker(reference, account) {
      const { raw, guard, use } = findEntry(reference, 'rerank').reranker(reference.model)
      return createGuardedReranker({
        reference: { ...reference },
        raw,
        guard,
        use,
        budget: createAccountBudget(account),
      })
    },
    speaker(reference) {
      const { raw, guard, use } = findEntry(reference, 'speech').speaker(reference.model)
      return createGuardedSpeaker({ reference: { ...reference }, raw, guard, use })
    },
    transcriber(reference) {
      const { raw, guard, use } = findEntry(reference, 'transcription').transcriber(reference.model)
      return createGuardedTranscriber({ reference: { ...reference }, raw, guard, use })
    },
    has(reference, kind) {
      const entry = entries.get(entryKey(reference))
      return entry !== undefined && findModelProblem(entry, reference, kind) === undefined
    },
    describe: () => [...entries.values()].filter(isListed).map(describeProvider),
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

function readEntries(
  configs: ProviderConfig[],
  env: NodeJS.ProcessEnv,
  clock: GuardClock,
  confinement: Confinement,
): Map<string, RegistryEntry> {
  const entries = new Map<string, RegistryEntry>()
  for (const config of configs) {
    const plugin = Object.hasOwn(PLUGINS, config.pluginId) ? PLUGINS[config.pluginId] : undefined
    const createError = (rule: string) =>
      new KsError('invalid-request', `provider ${quoteName(config.provider)}: ${rule}`)
    if (!plugin) {
      throw createError(
        `pluginId must be ${Object.keys(PLUGINS).map(quoteName).join(' or ')}, received ${quoteName(config.pluginId)}`,
      )
    }
    if (entries.has(entryKey(config))) throw createError('is configured twice')
    const settings = readProviderConfig(config, env)
    const provider = plugin(settings, confinement)
    if (!provider) throw createError(REQUIRED_SETTINGS[config.pluginId] ?? 'is not complete')
    entries.set(entryKey(config), createRegistryEntry(settings, provider, clock))
  }
  return entries
}

function entryKey({ pluginId, provider }: { pluginId: string; provider: string }): string {
  return JSON.stringify([pluginId, provider])
}
