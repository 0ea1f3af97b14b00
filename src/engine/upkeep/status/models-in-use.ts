import type { ModelUsage } from '../../../contract/gateway/system.js'
import type { ModelReference } from '../../base/model-reference.js'
import { asDeployment } from '../../base/tenant-scope.js'
import { type EngineContext, getQuotas } from '../../library/index.js'
import type { ModelCounter, UsedModel } from '../../models/index.js'
import type { Read } from '../../store/program.js'
import { listSpacesByUsage, listUsageOfDay } from '../../store/rows/budgets.js'

/** maximum number of spaces with listed budgets, highest use first */
const MAX_LISTED_SPACES = 100

const LIMITS = {
  embeddingTokens: 'maxEmbeddingTokensPerDay',
  llmTokens: 'maxLlmTokensPerDay',
  rerankRequests: 'maxRerankRequestsPerDay',
} as const

/** Operations on the use of models. */
export function createModelOperations(context: EngineContext) {
  return {
    /** Providers and their models, and the use of the spaces' daily budgets. */
    inUse: () => asDeployment(() => context.db.read(getModelsInUse(context))),
    /** Calls and results of each model since the start. */
    records: (): UsedModel[] => context.models.records(),
  }
}

function* getModelsInUse(context: EngineContext): Read<ModelUsage> {
  const { models, now } = context
  const day = new Date(now()).toISOString().slice(0, 10)
  const sums = yield* listUsageOfDay(day)
  const getUsed = (counter: ModelCounter) => sums.find((sum) => sum.counter === counter)?.used ?? 0
  const spaces = yield* listSpacesByUsage(day, MAX_LISTED_SPACES)
  return {
    defaults: defaultModels(context),
    today: {
      embeddingTokens: getUsed('embeddingTokens'),
      llmTokens: getUsed('llmTokens'),
      rerankRequests: getUsed('rerankRequests'),
    },
    budgets: spaces.flatMap(({ counter, used, ...space }) => {
      if (!isModelCounter(counter)) return []
      const limit = getQuotas(context, space).providerBudgets[LIMITS[counter]]
      return [
        {
          knowledgeSpaceId: space.id,
          slug: space.slug,
          counter,
          used,
          ...(typeof limit === 'number' ? { limit } : {}),
        },
      ]
    }),
    providers: models.describe().map(({ models: _, ...provider }) => provider),
  }
}

function defaultModels({ options }: EngineContext): ModelUsage['defaults'] {
  const { defaultEmbedding, defaultGenerator, visionModel, defaultSpeech, defaultTranscription } = options
  const entry = (task: ModelUsage['defaults'][number]['task'], reference: ModelReference | undefined) =>
    reference === undefined
      ? []
      : [{ task, pluginId: reference.pluginId, provider: reference.provider, model: reference.model }]
  return [
    ...entry('answers', defaultGenerator),
    ...entry('embedding', defaultEmbedding),
    ...entry('pictures', visionModel),
    ...entry('speech', defaultSpeech),
    ...entry('transcription', defaultTranscription),
  ]
}

function isModelCounter(counter: string): counter is ModelCounter {
  return Object.hasOwn(LIMITS, counter)
}
