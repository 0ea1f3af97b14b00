import type { QualityTraceSummary } from '../../../contract/gateway/quality.js'
import type { EvidenceBundle, TraceStep } from '../../../contract/gateway/queries.js'
import { isRecord } from '../../../lib/json/values.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { TraceSummaryRow } from '../rows/quality/traces.js'

type Profile = QualityTraceSummary['profile']
type Scores = QualityTraceSummary['scores']
type Model = NonNullable<Profile['embeddingModel']>

/**
 * Summarizes a trace: the scores of its best evidence, the models and settings it used, and the result of each stage.
 */
export function summarizeTrace(
  row: TraceSummaryRow,
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
    ...omitUndefined({
      evidenceBundleId: row.bundle_id ?? undefined,
      evidenceState: row.evidence_state ?? undefined,
      finalScore: best?.scores.final,
    }),
    scores: best === undefined ? {} : toScores(best.scores),
    profile: toProfile(steps),
    stages: steps.map((step) => {
      const candidateCount = countCandidates(step)
      return { name: step.name, status: step.status, ...omitUndefined({ candidateCount }) }
    }),
  }
}

function toScores({ retrieval, rerank, final }: EvidenceBundle['items'][number]['scores']): Scores {
  return { retrieval, ...omitUndefined({ rerank }), final }
}

/**
 * The models that a run used, not those that its profile names: a model that failed or was not called is left out.
 * Steps contain open objects, also from older versions: values of an unexpected form are left out.
 */
function toProfile(steps: TraceStep[]): Profile {
  const stage = (name: string) => steps.findLast((step) => step.name === name)?.metadata ?? {}
  const embed = stage('query.embed')
  const profile = getRecord(stage('query.retrieve'), 'retrievalProfile')
  const snapshot = getRecord(stage('query.retrieve'), 'projectionSnapshot')
  const route = stage('query.route')
  const answer = stage('query.answer')
  const vectorSpaceId = toText(embed.vectorSpaceId)
  const found: { [K in keyof Profile]: Profile[K] | undefined } = {
    embeddingModel: vectorSpaceId === undefined ? undefined : toModel(embed.model),
    embeddingVectorSpaceId: vectorSpaceId,
    reasoningModel:
      toModel(answer.reasoningModel) ?? (route.resolver === 'llm' ? toModel(route.reasoningModel) : undefined),
    rerankModel: toModel(getRecord(stage('query.retrieve'), 'metrics').rerankModel),
    retrievalProfileRevision: toCount(profile.revision),
    projectionPublicationId: toText(snapshot.publicationId),
    projectionVersion: toCount(snapshot.projectionVersion),
  }
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined))
}

/** Number of candidates of a stage: those of fusion, or the returned items in modes without fusion. */
function countCandidates({ metadata }: TraceStep): number | undefined {
  return toCount(getRecord(metadata, 'metrics').fusionCandidateCount) || toCount(metadata.itemCount)
}

function getRecord(value: Record<string, unknown>, key: string): Record<string, unknown> {
  const found = value[key]
  return isRecord(found) ? found : {}
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function toCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

function toModel(value: unknown): Model | undefined {
  if (!isRecord(value)) return undefined
  const { pluginId, provider, model } = value
  return typeof pluginId === 'string' && typeof provider === 'string' && typeof model === 'string'
    ? { pluginId, provider, model }
    : undefined
}
