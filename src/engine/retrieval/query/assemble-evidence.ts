import type { EvidenceBundle, MissingEvidence } from '../../../contract/gateway/queries.js'
import { newId } from '../../../lib/ids.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { replacesAnother } from '../../../lib/text/requested-time.js'
import { type EvidenceVerdict, judgeEvidence } from './answerability.js'
import { noteConflicts } from './conflicts/conflict-sides.js'
import { toEvidenceItem } from './evidence.js'
import type { FollowUp } from './follow-up.js'
import type { Freshness } from './freshness.js'
import { describeMissingEvidence } from './question/expected-evidence.js'
import { parseQuestionWords } from './question/words.js'
import { chooseQuotation, toQuotable } from './quotation/quote.js'
import { explainInclusion, selectRelevantPassages } from './relevance.js'
import type { RetrievalResult } from './retrieval.js'
import { WITHHELD_ENTRY } from './withheld.js'

/** Why a document is stale, by the state of its file. */
const STALE_TEXTS: Record<string, (filename: string) => string> = {
  changed: (filename) => `the file of ${filename} changed since it was ingested`,
  gone: (filename) => `the file of ${filename} is gone`,
}

/**
 * Turns retrieved passages into evidence: its state, contradictions, why each passage is included, and what is missing
 * and why. All passages are judged; with `topK`, only the relevant ones become evidence.
 */
export function assembleEvidence(
  request: {
    query: string
    traceId: string
    now: number
    freshness: ReadonlyMap<number, Freshness>
    /** whether two sentences are known not to contradict each other */
    agree?: (one: string, other: string) => boolean
    /** number of passages of the profile; absent = every passage becomes evidence */
    topK?: number
    /** absent: the question is complete */
    followUp?: FollowUp | undefined
  },
  retrieved: RetrievalResult,
): EvidenceBundle {
  const { ranked, statistics, idf } = retrieved
  const wordsOf = parseQuestionWords(request.query)
  const reasons = explainInclusion(ranked, wordsOf, statistics)
  const all = ranked.map((passage, index) =>
    toEvidenceItem(passage, request.freshness.get(passage.passage.doc_key), reasons[index]),
  )
  const judged = all.map((item, index) => {
    const one = ranked[index]
    const { features, containedTerms } = one ?? {}
    return {
      ...toQuotable(item),
      ...omitUndefined({
        features,
        containedTerms,
        matched: containedTerms,
        document: one?.passage.document_id,
        day: one?.passage.document_date ?? undefined,
      }),
      replaces: replacesAnother(String(item.metadata.title ?? ''), item.text),
    }
  })
  const { topK, query, followUp } = request
  const relevant = new Set(topK === undefined ? ranked : selectRelevantPassages(ranked, { idf, statistics, topK }))
  const isRelevant = (index: number): boolean => {
    const one = ranked[index]
    return one !== undefined && relevant.has(one)
  }
  const { rewordings } = retrieved
  const quotation = chooseQuotation({
    query,
    idf,
    rewordings,
    followUp,
    ...omitUndefined({ searchedFor: retrieved.searchedFor }),
    passages: judged.filter((_, index) => isRelevant(index)),
  })
  const verdict = judgeEvidence({
    query,
    terms: retrieved.terms,
    rewordings: rewordings ?? [],
    idf,
    statistics,
    wordsOf,
    items: judged,
    ...omitUndefined({ agree: request.agree, probability: quotation?.probability, hasFigures: retrieved.hasFigures }),
  })
  noteConflicts(all, verdict)
  // A passage stays when another one is compared with it.
  const items = all.filter(
    ({ conflicts, metadata }, index) => isRelevant(index) || conflicts.length > 0 || metadata.differs !== undefined,
  )
  const { withheld } = retrieved
  const limited = withheld !== undefined && (withheld.holdsMore || verdict.state !== 'answerable')
  const state = limited ? 'permission-limited' : verdict.state
  return {
    id: newId(),
    query: request.query,
    traceId: request.traceId,
    createdAt: new Date(request.now).toISOString(),
    state,
    items,
    missingEvidence: listMissingEvidence({ query, state, items }, verdict, retrieved),
  }
}

function listMissingEvidence(
  { query, state, items }: Pick<EvidenceBundle, 'query' | 'state' | 'items'>,
  { uncovered }: EvidenceVerdict,
  { degraded }: RetrievalResult,
): MissingEvidence[] {
  const missing: MissingEvidence[] = []
  if (state === 'not-enough-evidence' || state === 'partial') missing.push(...describeMissingEvidence(query, uncovered))
  if (state === 'permission-limited') missing.push(WITHHELD_ENTRY)
  for (const item of items) {
    if (item.freshness !== 'stale') continue
    const filename = String(item.metadata.filename ?? '')
    const text =
      STALE_TEXTS[String(item.metadata.file)]?.(filename) ?? `a newer version of ${filename} is not published yet`
    if (!missing.some((entry) => entry.text === text))
      missing.push({ reason: 'stale', text, metadata: { nodeId: item.nodeId } })
  }
  if (state === 'conflict')
    missing.push({
      reason: 'conflict',
      text: 'nothing was found that decides between passages that contradict each other',
      metadata: { nodeIds: items.filter(({ conflicts }) => conflicts.length > 0).map(({ nodeId }) => nodeId) },
    })
  if (degraded.length > 0 && state !== 'answerable')
    missing.push({
      reason: 'unknown',
      text: 'a part of the space could not be searched',
      metadata: { reasons: degraded.map(({ reason }) => reason) },
    })
  return missing
}
