import type { QualityTraceSummary } from '../../contract/gateway/quality.js'
import type { EvidenceBundle, TraceStep } from '../../contract/gateway/queries.js'
import { defined } from '../../lib/defined.js'
import { isRecord } from '../../lib/json/values.js'
import type { SummarisedRow } from '../rows/quality/traces.js'

type Profile = QualityTraceSummary['profile']
type Scores = QualityTraceSummary['scores']
type Model = NonNullable<Profile['embeddingModel']>

/**
 * Summarizes a trace: the scores of its best evidence, the models and settings it used, and the result of each stage.
 */
export function summarise(
  row: SummarisedRow,
  steps: TraceStep[],
  bundle: EvidenceBundle | undefined,
): QualityTraceSummary {
  const best = bundle?.items[0]
  return {
    id: row.id,
    query: row.query,
    mode: row.mode,
    createdAt: new Date(row.created_at).toISOString(),
    completed: row.completed === 1,
    ...defined({
      evidenceBundleId: row.bundle_id ?? undefined,
      evidenceState: row.evidence_state ?? undefined,
      finalScore: best?.scores.final,
    }),
    scores: best === undefined ? {} : scoresOf(best.scores),
    profile: profileOf(steps),
    stages: steps.map((step) => {
      const candidateCount = candidatesOf(step)
      return { name: step.name, status: step.status, ...defined({ candidateCount }) }
    }),
  }
}

function scoresOf({ retrieval, rerank, final }: EvidenceBundle['items'][number]['scores']): Scores {
  return { retrieval, ...defined({ rerank }), final }
}

/**
 * The models that a run used, not those that its profile names: a model that failed or was not called is left out.
 * Steps contain open objects, also from older versions: values of an unexpected form are left out.
 */
function profileOf(steps: TraceStep[]): Profile {
  const stage = (name: string) => steps.findLast((step) => step.name === name)?.metadata ?? {}
  const embed = stage('query.embed')
  const profile = at(stage('query.retrieve'), 'retrievalProfile')
  const snapshot = at(stage('query.retrieve'), 'projectionSnapshot')
  const route = stage('query.route')
  const answer = stage('query.answer')
  const vectorSpaceId = textOf(embed.vectorSpaceId)
  const found: { [K in keyof Profile]: Profile[K] | undefined } = {
    embeddingModel: vectorSpaceId === undefined ? undefined : modelOf(embed.model),
    embeddingVectorSpaceId: vectorSpaceId,
    reasoningModel:
      modelOf(answer.reasoningModel) ?? (route.resolver === 'llm' ? modelOf(route.reasoningModel) : undefined),
    rerankModel: modelOf(at(stage('query.retrieve'), 'metrics').rerankModel),
    retrievalProfileRevision: countOf(profile.revision),
    projectionPublicationId: textOf(snapshot.publicationId),
    projectionVersion: countOf(snapshot.projectionVersion),
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/** Number of candidates of a stage: those of fusion, or the returned items in modes without fusion. */
function candidatesOf({ metadata }: TraceStep): number | undefined {
  return countOf(at(metadata, 'metrics').fusionCandidateCount) || countOf(metadata.itemCount)
}

function at(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const found = value[key]
  return isRecord(found) ? found : {}
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

function modelOf(value: unknown): Model | undefined {
  if (!isRecord(value)) return undefined
  const { pluginId, provider, model } = value
  return typeof pluginId === 'string' && typeof provider === 'string' && typeof model === 'string'
    ? { pluginId, provider, model }
    : undefined
}
