import type { TriageReport } from '../../contract/gateway/failed-queries.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { expectedEvidence } from '../query/question/expected-evidence.js'
import { partsOf } from '../query/question/parts.js'
import { type FailedRow, failedToTriage, moveFailed } from '../rows/quality/failed-queries.js'
import { quotesOf } from '../rows/quotes.js'
import { findSpace } from '../rows/spaces.js'
import { circumstancesOf } from './circumstances.js'
import { movesOf, type TriageVerdict } from './moves.js'
import type { Searched } from './open-hits.js'
import type { Compared } from './signs.js'
import { bestOf, causesOf, evidenceOf } from './triage-evidence.js'
import { type TriageModel, triageModel } from './triage-model.js'
import { isNear, judgeEvidence, judgeOpinion } from './triage-rules.js'
import { sampleTexts, searchWidely, type WideSearch } from './wide-search.js'

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
  limit: number,
): Promise<TriageReport> {
  const { db, log } = context
  const { space, model, waiting } = await db.read(toTriage(context, caller, spaceId, limit))
  const report: TriageReport = {
    triaged: 0,
    verdicts: { 'retrieval-miss': 0, 'coverage-gap': 0, irrelevant: 0, uncertain: 0 },
  }
  for (const { row, audience } of waiting) {
    const where = { space, audience }
    const { verdict, triage } = await triageOf(context, where, row, model)
    const event = verdict === 'uncertain' ? 'triage:uncertain' : 'triage:sure'
    const moved = await db.write(() => moveFailed(space, row.id, movesOf(event), { key: 'triage', value: triage }))
    if (moved) {
      report.triaged++
      report.verdicts[verdict]++
    } else log.info({ failedQuery: row.id, event }, 'the status of a failed query was not changed: it was decided meanwhile')
  }
  return report
}

/** Pending failed queries, each with the sources that it quotes, and the model that may help. */
function* toTriage(context: EngineContext, caller: Caller, spaceId: string, limit: number) {
  const space = yield* findSpace(caller.tenant, spaceId)
  const model = yield* triageModel(context, space)
  const waiting: { row: FailedRow; audience: string[] }[] = []
  for (const row of yield* failedToTriage(caller, space, limit))
    waiting.push({ row, audience: yield* quotesOf({ tenant: space.tenant, id: row.id }) })
  return { space, model, waiting }
}

/** Maximum passages for a model. */
const NEAREST = 8

interface Triage {
  verdict: TriageVerdict
  /** stored in the query's metadata */
  triage: Record<string, unknown>
}

/** Triages one failed query by the wide search, the non-lexical causes and, if the space has one, a model. */
async function triageOf(
  context: EngineContext,
  where: Searched,
  row: FailedRow,
  model: TriageModel | undefined,
): Promise<Triage> {
  const sample = await context.db.read(sampleTexts(where))
  const parts = await searchParts(context, where, row.query)
  const evidence = evidenceOf(row.query, parts, sample)
  if (model !== undefined && !isNear(evidence)) {
    const words = await model.reword(row.query, sample)
    if (words !== '') parts.push(await searchWidely(context, where, words))
  }
  const best = bestOf(parts)
  const asked = parts.flatMap((part) => part.asked)
  const ids = best.map(({ id }) => id)
  const circumstances = await context.db.read(circumstancesOf(where, row, asked, ids))
  const causes = causesOf(evidence, parts, circumstances)
  const nearest = nearestOf(parts)
  const opinion = nearest.length === 0 ? undefined : await model?.judge(row.query, nearest)
  const verdict = opinion === undefined ? judgeEvidence(evidence, causes) : judgeOpinion(opinion, evidence)
  const named = opinion?.passages.flatMap((place) => nearest[place]?.id ?? []) ?? []
  return {
    verdict,
    triage: {
      verdict,
      triager: opinion === undefined ? TRIAGER : MODEL_TRIAGER,
      triagedAt: new Date().toISOString(),
      ...evidence,
      causes,
      ...defined({ model: opinion?.says }),
      ...(circumstances.unpublished.length === 0 ? {} : { unpublished: circumstances.unpublished }),
      ...(verdict === 'coverage-gap' ? { wanted: expectedEvidence(row.query).map(({ text }) => text) } : {}),
      ...(verdict === 'retrieval-miss' ? { suggestedEvidenceIds: named.length > 0 ? named : ids } : {}),
    },
  }
}

async function searchParts(context: EngineContext, where: Searched, query: string): Promise<WideSearch[]> {
  const parts: WideSearch[] = []
  for (const part of partsOf(query)) parts.push(await searchWidely(context, where, part))
  return parts
}

/** Passages for a model: alternately the best by words and the nearest by vectors of each part. */
function nearestOf(parts: readonly WideSearch[]): Compared[] {
  const orders = parts.flatMap(({ compared }) => [
    compared,
    compared.filter(({ cosine }) => cosine !== undefined).sort((a, b) => (b.cosine ?? 0) - (a.cosine ?? 0)),
  ])
  const found = new Map<string, Compared>()
  for (let place = 0; place < NEAREST; place++)
    for (const order of orders) {
      const one = order[place]
      if (one !== undefined) found.set(one.id, one)
    }
  return [...found.values()].slice(0, NEAREST)
}
