import { pluralize } from '../../../lib/text/pluralize.js'
import { fuse } from '../query/fuse.js'
import {
  type ComparedCandidate,
  MAX_INDEX_CANDIDATES,
  MAX_RERANK_CANDIDATES,
  RANK_WEIGHTS,
  type RankedCandidate,
  type RankWeights,
} from '../query/rank.js'
import type { ObservedSearch } from './index-stages.js'
import { roundScore, type Stages } from './stages.js'

/**
 * Explains the stages from candidates to evidence, for the passage with the best rank.
 *
 * @returns that passage
 */
export function explainRanking(search: ObservedSearch, stages: Stages): RankedCandidate | undefined {
  const { record, passages, shown } = search
  const { profile } = search.admitted
  const { ranked } = record
  const aboveThreshold = ranked.filter(({ final }) => final >= profile.scoreThreshold)
  const best = ranked.find(({ key }) => passages.selected.has(key))
  if (best === undefined) {
    stages.addFailed('deleted', {
      stage: 'fusion',
      reason: 'gone-meanwhile',
      text: 'its passages were candidates, but they were deleted before the comparison',
    })
    return undefined
  }
  const compared = record.compared.findIndex(({ key }) => key === best.key)
  explainFusion(search, best, compared >= 0, stages)
  if (compared >= 0) explainRerank(search, compared, stages)
  const index = aboveThreshold.findIndex(({ key }) => key === best.key)
  const isShown = shown.includes(best.key)
  if (index < 0) {
    stages.addFailed('below-threshold', {
      stage: 'threshold',
      reason: 'below-threshold',
      text: `its score ${roundScore(best.final)} is below the profile's scoreThreshold ${profile.scoreThreshold}`,
      figures: { score: roundScore(best.final), scoreThreshold: profile.scoreThreshold },
    })
  } else {
    stages.addPassed(
      'threshold',
      'kept',
      `its score ${roundScore(best.final)} is not below ${profile.scoreThreshold}`,
      {
        score: roundScore(best.final),
        scoreThreshold: profile.scoreThreshold,
      },
    )
    const last = aboveThreshold[profile.topK - 1]
    const figures = {
      rank: index + 1,
      topK: profile.topK,
      score: roundScore(best.final),
      ...(last === undefined ? {} : { lastShown: roundScore(last.final) }),
    }
    if (isShown) stages.addPassed('top-k', 'shown', `it is number ${index + 1} of the ${profile.topK} shown`, figures)
    else if (shown.includes(record.copyOf.get(best.key) ?? -1)) {
      const text =
        'an equal passage of another document is shown: outside of folders for old files, and of the newest document'
      stages.addFailed('copy-shown', { stage: 'top-k', reason: 'copy-shown', text, figures })
    } else if (index < profile.topK) {
      const text = `it is number ${index + 1} of at most ${profile.topK}, and the evidence ends with ${shown.length}: it is far behind the best, and neither answers by itself nor covers more of the question`
      stages.addFailed('beyond-relevance', { stage: 'top-k', reason: 'beyond-relevance', text, figures })
    } else {
      const verdict = compared < 0 && profile.rerank.enabled ? 'beyond-rerank' : 'beyond-top-k'
      const text = `it is number ${index + 1}, the profile shows ${profile.topK}; the last one shown scores ${roundScore(last?.final ?? 0)}, this one ${roundScore(best.final)}`
      stages.addFailed(verdict, { stage: 'top-k', reason: verdict, text, figures })
    }
  }
  explainEvidence(search, isShown, stages)
  return best
}

function explainFusion(
  { record, admitted: { profile } }: ObservedSearch,
  best: RankedCandidate,
  isCompared: boolean,
  stages: Stages,
): void {
  const reranks = profile.rerank.enabled
  const fused = fuse(record.hits)
  const rank = 1 + fused.findIndex(({ key }) => key === best.key)
  const cut = fused[MAX_RERANK_CANDIDATES - 1]?.fused
  const figures = {
    rank,
    score: roundScore(best.retrieval),
    candidates: fused.length,
    legLimit: MAX_INDEX_CANDIDATES,
    ...(reranks ? { limit: MAX_RERANK_CANDIDATES } : {}),
    ...(cut === undefined || !reranks ? {} : { cut: roundScore(cut) }),
  }
  const where = `both searches together put it at rank ${rank} of ${fused.length} candidates`
  if (!reranks) stages.addPassed('fusion', 'order-of-fusion', `${where}, which is the order that counts`, figures)
  else if (isCompared)
    stages.addPassed('fusion', 'compared', `${where}; the first ${MAX_RERANK_CANDIDATES} are compared`, figures)
  else
    stages.addMissed(
      'fusion',
      'beyond-rerank-limit',
      `${where}: only the texts of the first ${MAX_RERANK_CANDIDATES} are compared with the query, down to ${roundScore(cut ?? 0)}`,
      figures,
    )
}

/** Explains the rank score part by part, compared with that of the last passage shown. */
function explainRerank({ record, shown, admitted }: ObservedSearch, index: number, stages: Stages): void {
  const { compared, ranked, model } = record
  const own = compared[index]
  if (own === undefined) return
  const other = compared.findLast(({ key }) => key !== own.key && shown.includes(key))
  const figures = {
    rank: index + 1,
    compared: compared.length,
    score: roundScore(own.score),
    ...(other === undefined ? {} : { lastShown: roundScore(other.score) }),
    parts: listScoreParts(own).map(({ name, weight, value }) => {
      const lastShown =
        other === undefined ? undefined : listScoreParts(other).find((part) => part.name === name)?.value
      return {
        name,
        weight,
        value: roundScore(value),
        adds: roundScore(weight * value),
        ...(lastShown === undefined ? {} : { lastShownAdds: roundScore(weight * lastShown) }),
      }
    }),
    coverage: roundScore(own.features.coverage),
  }
  if (!admitted.profile.rerank.enabled) {
    stages.addNote('rerank', 'disabled', 'the profile does not rerank: the parts below do not count', figures)
    return
  }
  const lastShown = other === undefined ? '' : `; the last other one shown has ${roundScore(other.score)}`
  const text = `compared with the query it is number ${index + 1} of ${compared.length}, rank score ${roundScore(own.score)}${lastShown}`
  if (model === undefined) {
    stages.addPassed('rerank', 'compared', text, figures)
    return
  }
  const name = `${model.model.provider}/${model.model.model}`
  const modelRank = 1 + ranked.findIndex(({ key }) => key === own.key)
  const modelScore = roundScore(ranked[modelRank - 1]?.rerank ?? 0)
  const byModel = `; then the rerank model ${name} gives it ${modelScore}, and it is number ${modelRank}`
  stages.addPassed('rerank', 'compared', `${text}${byModel}`, { ...figures, model: name, modelRank, modelScore })
}

function listScoreParts({
  indexScores,
  features,
  likeness,
}: ComparedCandidate): { name: keyof RankWeights; weight: number; value: number }[] {
  const values: Record<keyof RankWeights, number> = {
    text: indexScores.text,
    dense: indexScores.dense,
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
export function explainEvidence({ shown, passages }: ObservedSearch, isShown: boolean, stages: Stages): void {
  const ranks = shown.flatMap((key, index) => (passages.all.has(key) ? [index + 1] : []))
  const selectedRanks = shown.flatMap((key, index) => (passages.selected.has(key) ? [index + 1] : []))
  const areAllSelected = passages.selected.size === passages.all.size
  const figures = { items: shown.length, ranks, ...(areAllSelected ? {} : { meant: selectedRanks }) }
  if (isShown) {
    stages.addPassed('evidence', 'shown', `the evidence holds it as number ${selectedRanks.join(', ')}`, figures)
    stages.verdict ??= 'shown'
  } else if (ranks.length > 0) {
    const text = `another passage of the document is in the evidence, as number ${ranks.join(', ')}`
    stages.addNote('evidence', 'other-passage-shown', text, figures)
    stages.verdict = 'other-passage-shown'
  } else
    stages.addNote(
      'evidence',
      'not-shown',
      `the evidence is of other documents: ${pluralize(shown.length, 'passage')}`,
      figures,
    )
}
