import type { TriageReport } from '../../../contract/gateway/failed-queries.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import type { EngineContext } from '../../library/index.js'
import { listQuotes } from '../../store/rows/quotes.js'
import { findSpace } from '../../store/rows/spaces.js'
import { describeExpectedEvidence, splitQuestions } from '../query/question/expected-evidence.js'
import { type FailedQueryRow, listFailedQueriesToTriage, moveFailedQuery } from '../rows/quality/failed-queries.js'
import type { ComparedPassage } from './compare-passages.js'
import { listMoves, type TriageVerdict } from './moves.js'
import { findNonLexicalCauses } from './non-lexical-causes.js'
import type { TriageScope } from './open-hits.js'
import { computeTriageEvidence, findCauses, selectBest } from './triage-evidence.js'
import { createTriageModel, type TriageModel } from './triage-model.js'
import { isNear, judgeOpinion, judgeTriageEvidence } from './triage-rules.js'
import { readSampleTexts, searchWidely, type WideSearch } from './wide-search.js'

const TRIAGER = 'builtin-evidence'
/** Triager name when a model's opinion was used. */
const MODEL_TRIAGER = 'model-evidence'

/**
 * Triages pending failed queries, oldest first, by searching their terms in the current publication. Each is moved by a
 * conditional update: one that a person has decided meanwhile keeps that decision.
 */
export async function triageFailedQueries(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  { limit }: { limit: number },
): Promise<TriageReport> {
  const { db, log } = context
  const { space, model, waiting: pending } = await db.read(findPending(context, caller, spaceId, limit))
  const report: TriageReport = {
    triaged: 0,
    verdicts: { 'retrieval-miss': 0, 'coverage-gap': 0, irrelevant: 0, uncertain: 0 },
  }
  for (const { row, audience } of pending) {
    const scope = { space, audience }
    const { verdict, triage } = await triageQuery(context, scope, row, model)
    const event = verdict === 'uncertain' ? 'triage:uncertain' : 'triage:sure'
    const moved = await db.write(() =>
      moveFailedQuery(space, row.id, listMoves(event), { key: 'triage', value: triage }),
    )
    if (moved) {
      report.triaged++
      report.verdicts[verdict]++
    } else
      log.info({ failedQuery: row.id, event }, 'the status of a failed query was not changed: it was decided meanwhile')
  }
  return report
}

/** Pending failed queries, each with the sources that it quotes, and the model that may help. */
function* findPending(context: EngineContext, caller: Caller, spaceId: string, limit: number) {
  const space = yield* findSpace(caller.tenant, spaceId)
  const model = yield* createTriageModel(context, space)
  const pending: { row: FailedQueryRow; audience: string[] }[] = []
  for (const row of yield* listFailedQueriesToTriage(caller, space, limit))
    pending.push({ row, audience: yield* listQuotes({ tenant: space.tenant, id: row.id }) })
  return { space, model, waiting: pending }
}

/** Maximum passages for a model. */
const MAX_MODEL_PASSAGES = 8

interface TriageResult {
  verdict: TriageVerdict
  /** stored in the query's metadata */
  triage: Record<string, unknown>
}

/** Triages one failed query by the wide search, the non-lexical causes and, if the space has one, a model. */
async function triageQuery(
  context: EngineContext,
  scope: TriageScope,
  row: FailedQueryRow,
  model: TriageModel | undefined,
): Promise<TriageResult> {
  const sample = await context.db.read(readSampleTexts(scope))
  const parts = await searchParts(context, scope, row.query)
  const evidence = computeTriageEvidence(row.query, parts, sample)
  if (model !== undefined && !isNear(evidence)) {
    const words = await model.reword(row.query, sample)
    if (words !== '') parts.push(await searchWidely(context, scope, words))
  }
  const best = selectBest(parts)
  const queryTerms = parts.flatMap((part) => part.queryTerms)
  const ids = best.map(({ id }) => id)
  const otherCauses = await context.db.read(findNonLexicalCauses(scope, row, queryTerms, ids))
  const causes = findCauses(evidence, parts, otherCauses)
  const nearest = interleaveNearest(parts)
  const opinion = nearest.length === 0 ? undefined : await model?.judge(row.query, nearest)
  const verdict = opinion === undefined ? judgeTriageEvidence(evidence, causes) : judgeOpinion(opinion, evidence)
  const named = opinion?.passages.flatMap((index) => nearest[index]?.id ?? []) ?? []
  return {
    verdict,
    triage: {
      verdict,
      triager: opinion === undefined ? TRIAGER : MODEL_TRIAGER,
      triagedAt: new Date(context.now()).toISOString(),
      ...evidence,
      causes,
      ...omitUndefined({ model: opinion?.verdict }),
      ...(otherCauses.unpublished.length === 0 ? {} : { unpublished: otherCauses.unpublished }),
      ...(verdict === 'coverage-gap' ? { wanted: describeExpectedEvidence(row.query).map(({ text }) => text) } : {}),
      ...(verdict === 'retrieval-miss' ? { suggestedEvidenceIds: named.length > 0 ? named : ids } : {}),
    },
  }
}

async function searchParts(context: EngineContext, scope: TriageScope, query: string): Promise<WideSearch[]> {
  const parts: WideSearch[] = []
  for (const part of splitQuestions(query)) parts.push(await searchWidely(context, scope, part))
  return parts
}

/** Passages for a model: alternately the best by words and the nearest by vectors of each part. */
function interleaveNearest(parts: readonly WideSearch[]): ComparedPassage[] {
  const orders = parts.flatMap(({ compared }) => [
    compared,
    compared.filter(({ cosine }) => cosine !== undefined).sort((a, b) => (b.cosine ?? 0) - (a.cosine ?? 0)),
  ])
  const found = new Map<string, ComparedPassage>()
  for (let rank = 0; rank < MAX_MODEL_PASSAGES; rank++)
    for (const order of orders) {
      const one = order[rank]
      if (one !== undefined) found.set(one.id, one)
    }
  return [...found.values()].slice(0, MAX_MODEL_PASSAGES)
}
