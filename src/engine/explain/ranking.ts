import type { RetrievalProfile } from '../../contract/gateway/retrieval-profile.js'
import type { FastRecord } from '../query/fast.js'
import { fuse } from '../query/fuse.js'
import {
  type Compared,
  LEG_CANDIDATES,
  RANK_WEIGHTS,
  type Ranked,
  type RankWeights,
  RERANK_LIMIT,
} from '../query/rank.js'
import type { Passages } from './passages.js'
import { failed, missed, note, passed, round, type Stages } from './stages.js'

/** Ranking result of the selected passages. */
export interface Outcome {
  /** the passage with the best rank */
  best: Ranked
  /** keys of the evidence, in order */
  shown: number[]
}

/**
 * Explains the stages from candidates to evidence, for the passage with the best rank.
 *
 * @param shown keys of the evidence, in order
 */
export function explainRanking(
  record: FastRecord,
  passages: Passages,
  profile: RetrievalProfile,
  shown: number[],
  stages: Stages,
): Outcome | undefined {
  const { ranked } = record
  const kept = ranked.filter(({ final }) => final >= profile.scoreThreshold)
  const best = ranked.find(({ key }) => passages.meant.has(key))
  if (best === undefined) {
    failed(stages, 'deleted', {
      stage: 'fusion',
      reason: 'gone-meanwhile',
      text: 'its passages were candidates, but they were deleted before the comparison',
    })
    return undefined
  }
  const compared = record.compared.findIndex(({ key }) => key === best.key)
  explainFusion(record, best, compared >= 0, profile.rerank.enabled, stages)
  if (compared >= 0) explainRerank(record, compared, shown, profile.rerank.enabled, stages)
  const place = kept.findIndex(({ key }) => key === best.key)
  const isShown = shown.includes(best.key)
  if (place < 0) {
    failed(stages, 'below-threshold', {
      stage: 'threshold',
      reason: 'below-threshold',
      text: `its score ${round(best.final)} is below the profile's scoreThreshold ${profile.scoreThreshold}`,
      figures: { score: round(best.final), scoreThreshold: profile.scoreThreshold },
    })
  } else {
    passed(stages, 'threshold', 'kept', `its score ${round(best.final)} is not below ${profile.scoreThreshold}`, {
      score: round(best.final),
      scoreThreshold: profile.scoreThreshold,
    })
    const last = kept[profile.topK - 1]
    const figures = {
      rank: place + 1,
      topK: profile.topK,
      score: round(best.final),
      ...(last === undefined ? {} : { lastShown: round(last.final) }),
    }
    if (isShown) passed(stages, 'top-k', 'shown', `it is number ${place + 1} of the ${profile.topK} shown`, figures)
    else if (shown.includes(record.copyOf.get(best.key) ?? -1)) {
      const text =
        'an equal passage of another copy is shown: outside of folders for old files, and of the newest document'
      failed(stages, 'copy-shown', { stage: 'top-k', reason: 'copy-shown', text, figures })
    } else if (place < profile.topK) {
      const text = `it is number ${place + 1} of at most ${profile.topK}, and the evidence ends with ${shown.length}: it is far behind the best, and neither answers by itself nor covers more of the question`
      failed(stages, 'beyond-relevance', { stage: 'top-k', reason: 'beyond-relevance', text, figures })
    } else {
      const verdict = compared < 0 && profile.rerank.enabled ? 'beyond-rerank' : 'beyond-top-k'
      const text = `it is number ${place + 1}, the profile shows ${profile.topK}; the last one shown scores ${round(last?.final ?? 0)}, this one ${round(best.final)}`
      failed(stages, verdict, { stage: 'top-k', reason: verdict, text, figures })
    }
  }
  explainEvidence(shown, passages, stages, isShown)
  return { best, shown }
}

function explainFusion(record: FastRecord, best: Ranked, isCompared: boolean, reranks: boolean, stages: Stages): void {
  const fused = fuse(record.hits)
  const rank = 1 + fused.findIndex(({ key }) => key === best.key)
  const cut = fused[RERANK_LIMIT - 1]?.fused
  const figures = {
    rank,
    score: round(best.retrieval),
    candidates: fused.length,
    legLimit: LEG_CANDIDATES,
    ...(reranks ? { limit: RERANK_LIMIT } : {}),
    ...(cut === undefined || !reranks ? {} : { cut: round(cut) }),
  }
  const where = `both searches together put it at rank ${rank} of ${fused.length} candidates`
  if (!reranks) passed(stages, 'fusion', 'order-of-fusion', `${where}, which is the order that counts`, figures)
  else if (isCompared) passed(stages, 'fusion', 'compared', `${where}; the first ${RERANK_LIMIT} are compared`, figures)
  else
    missed(
      stages,
      'fusion',
      'beyond-rerank-limit',
      `${where}: only the texts of the first ${RERANK_LIMIT} are compared with the query, down to ${round(cut ?? 0)}`,
      figures,
    )
}

/** Explains the rank score part by part, compared with that of the last passage shown. */
function explainRerank(
  { compared, ranked, model }: FastRecord,
  place: number,
  shown: readonly number[],
  reranks: boolean,
  stages: Stages,
): void {
  const own = compared[place]
  if (own === undefined) return
  const other = compared.findLast(({ key }) => key !== own.key && shown.includes(key))
  const figures = {
    rank: place + 1,
    compared: compared.length,
    score: round(own.score),
    ...(other === undefined ? {} : { lastShown: round(other.score) }),
    parts: partsOf(own).map(({ name, weight, value }) => {
      const beside = other === undefined ? undefined : partsOf(other).find((part) => part.name === name)?.value
      return {
        name,
        weight,
        value: round(value),
        adds: round(weight * value),
        ...(beside === undefined ? {} : { lastShownAdds: round(weight * beside) }),
      }
    }),
    coverage: round(own.features.coverage),
  }
  if (!reranks) {
    note(stages, 'rerank', 'disabled', 'the profile does not rerank: the parts below do not count', figures)
    return
  }
  const beside = other === undefined ? '' : `; the last other one shown has ${round(other.score)}`
  const text = `compared with the query it is number ${place + 1} of ${compared.length}, rank score ${round(own.score)}${beside}`
  if (model === undefined) {
    passed(stages, 'rerank', 'compared', text, figures)
    return
  }
  const name = `${model.model.provider}/${model.model.model}`
  const modelRank = 1 + ranked.findIndex(({ key }) => key === own.key)
  const modelScore = round(ranked[modelRank - 1]?.rerank ?? 0)
  const byModel = `; then the rerank model ${name} gives it ${modelScore}, and it is number ${modelRank}`
  passed(stages, 'rerank', 'compared', `${text}${byModel}`, { ...figures, model: name, modelRank, modelScore })
}

function partsOf({ legs, features, likeness }: Compared): { name: keyof RankWeights; weight: number; value: number }[] {
  const values: Record<keyof RankWeights, number> = {
    text: legs.text,
    dense: legs.dense,
    titleCoverage: features.titleCoverage,
    pairs: features.pairs,
    sentenceCoverage: features.sentenceCoverage,
    earliness: features.earliness,
    likeness,
  }
  const names = ['text', 'dense', 'titleCoverage', 'pairs', 'sentenceCoverage', 'earliness', 'likeness'] as const
  return names.map((name) => ({ name, weight: RANK_WEIGHTS[name], value: values[name] }))
}

/** Whether the evidence contains the document, with any of its passages. */
export function explainEvidence(shown: readonly number[], passages: Passages, stages: Stages, isShown: boolean): void {
  const ranks = shown.flatMap((key, index) => (passages.all.has(key) ? [index + 1] : []))
  const meant = shown.flatMap((key, index) => (passages.meant.has(key) ? [index + 1] : []))
  const figures = { items: shown.length, ranks, ...(passages.meant.size === passages.all.size ? {} : { meant }) }
  if (isShown) {
    passed(stages, 'evidence', 'shown', `the evidence holds it as number ${meant.join(', ')}`, figures)
    stages.verdict ??= 'shown'
  } else if (ranks.length > 0) {
    const text = `another passage of the document is in the evidence, as number ${ranks.join(', ')}`
    note(stages, 'evidence', 'other-passage-shown', text, figures)
    stages.verdict = 'other-passage-shown'
  } else
    note(stages, 'evidence', 'not-shown', `the ${shown.length} items of the evidence are of other documents`, figures)
}
