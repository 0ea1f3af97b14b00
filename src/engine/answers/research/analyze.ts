import type { EvidenceBundle, EvidenceItem, EvidenceState, MissingEvidence } from '../../../contract/gateway/queries.js'
import type { ReachedResearchLimit } from '../../../contract/gateway/research.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { analyzeQuery } from '../../../lib/text/analyze.js'
import { chooseQuotation, describeMissingEvidence, judgeEvidence, toQuotable } from '../../retrieval/index.js'
import { createBundle } from './bundle.js'
import type { QuestionPart } from './comparison-parts.js'
import type { CompletedRetrieval } from './retrieve.js'

/** Maximum items of the final bundle; items that no section of the report quotes are rarely read. */
const MAX_BUNDLE_ITEMS = 60
/** Maximum items for one section of the report. */
const MAX_SECTION_ITEMS = 10

/** Evidence of one question. */
export interface QuestionEvidence {
  question: string
  part?: QuestionPart
  /** the question, extended by the words of the part that it refers to */
  searched: string
  state: EvidenceState
  /** whether the caller may not read the best passage */
  withheld: boolean
  /** best first */
  items: EvidenceItem[]
  /** words of the question that no item contains */
  uncovered: string[]
  /** weights of the question's terms */
  idf: [term: string, weight: number][]
  /** other missing evidence that the retrievals reported */
  missing: MissingEvidence[]
}

/** The evidence of a task, by question and in total. */
export interface ResearchAnalysis {
  sections: {
    question: string
    /** requested measure and name */
    part?: QuestionPart
    searched: string
    state: EvidenceState
    /** whether the caller may not read the best passage */
    withheld?: boolean
    nodeIds: string[]
    idf: [term: string, weight: number][]
  }[]
  bundleId: string
}

/**
 * Merges all retrievals of one question and judges their evidence again.
 *
 * @param index index of the question in the plan
 */
export function assessQuestion(
  question: string,
  index: number,
  found: readonly RetrievalWithEvidence[],
): QuestionEvidence {
  const own = found.filter((retrieval) => retrieval.question === index)
  const items = mergeItems(own.flatMap(({ bundle }) => bundle.items))
  const idf = new Map(own.flatMap((retrieval) => retrieval.idf))
  const searched = own[0]?.searched ?? question
  const judged = items.map(toQuotable)
  const getWeight = (term: string): number => idf.get(term) ?? 1
  const probability = chooseQuotation({ query: question, passages: judged, idf: getWeight })?.probability
  const terms = analyzeQuery(searched)
  const verdict = judgeEvidence({ query: question, terms, idf: getWeight, items: judged, probability })
  // A later retrieval may cover more; evidence that the first one withheld stays withheld.
  const limited = own.some(({ bundle }) => bundle.state === 'permission-limited')
  const state = limited && verdict.state !== 'answerable' ? 'permission-limited' : verdict.state
  const missing = own.flatMap(({ bundle }) =>
    bundle.missingEvidence.filter(({ reason }) => reason !== 'not-retrieved' && reason !== 'conflict'),
  )
  const withheld = own.some((retrieval) => retrieval.withheld === true)
  return { question, searched, state, withheld, items, uncovered: verdict.uncovered, idf: [...idf], missing }
}

/** Merges equal passages, each with the best of its scores; best first. */
function mergeItems(items: readonly EvidenceItem[]): EvidenceItem[] {
  const best = new Map<string, EvidenceItem>()
  for (const item of items) {
    const existing = best.get(item.nodeId)
    const winner = existing === undefined || item.score > existing.score ? item : existing
    const conflicts = [...(existing?.conflicts ?? []), ...item.conflicts]
    const distinct = [
      ...new Map(conflicts.map((conflict) => [`${conflict.nodeId} ${conflict.reason}`, conflict])).values(),
    ]
    best.set(item.nodeId, { ...winner, conflicts: distinct })
  }
  return [...best.values()].sort((a, b) => b.score - a.score || (a.nodeId < b.nodeId ? -1 : 1))
}

/**
 * Merges the evidence of a task to a bundle. Its state follows from those of the questions; it lists what is missing.
 *
 * @param questions the sections of the report
 */
export function mergeEvidence(
  { query, now }: { query: string; now: number },
  questions: readonly QuestionEvidence[],
  found: readonly RetrievalWithEvidence[],
  stoppedBy: ReachedResearchLimit | undefined,
): { analysis: ResearchAnalysis; bundle: EvidenceBundle } {
  const sections = questions.map(({ question, part, searched, state, withheld, items, idf }) => ({
    question,
    searched,
    state,
    withheld,
    idf,
    ...omitUndefined({ part }),
    nodeIds: items.slice(0, MAX_SECTION_ITEMS).map(({ nodeId }) => nodeId),
  }))
  const all = mergeItems(found.flatMap(({ bundle }) => bundle.items))
  const quoted = new Set(sections.flatMap(({ nodeIds }) => nodeIds))
  const items = [...all.filter(({ nodeId }) => quoted.has(nodeId)), ...all.filter(({ nodeId }) => !quoted.has(nodeId))]
  const bundle = createBundle(
    {
      query,
      state: combineStates(
        questions.map(({ state }) => state),
        stoppedBy,
      ),
      items: items.slice(0, Math.max(MAX_BUNDLE_ITEMS, quoted.size)).sort((a, b) => b.score - a.score),
      missingEvidence: collectMissing(questions, found, stoppedBy),
    },
    now,
  )
  return { analysis: { sections, bundleId: bundle.id }, bundle }
}

/** One contradiction makes the total a conflict; it is answerable when all its questions are. */
export function combineStates(
  states: readonly EvidenceState[],
  stoppedBy: ReachedResearchLimit | undefined,
): EvidenceState {
  if (states.includes('conflict')) return 'conflict'
  if (states.every((state) => state === 'answerable'))
    return stoppedBy?.limit === 'timeoutMs' ? 'partial' : 'answerable'
  if (states.some((state) => state === 'answerable' || state === 'partial')) return 'partial'
  return states.includes('permission-limited') ? 'permission-limited' : 'not-enough-evidence'
}

function collectMissing(
  questions: readonly QuestionEvidence[],
  found: readonly RetrievalWithEvidence[],
  stoppedBy: ReachedResearchLimit | undefined,
): MissingEvidence[] {
  const open = questions.flatMap(({ question, state, uncovered }): MissingEvidence[] => {
    if (state === 'answerable') return []
    if (state === 'conflict')
      return [{ reason: 'conflict', text: `passages contradict each other: ${question}`, metadata: { question } }]
    return describeMissingEvidence(question, uncovered).map((entry) => ({
      ...entry,
      metadata: { ...entry.metadata, question },
    }))
  })
  const others = new Map(questions.flatMap(({ missing }) => missing.map((entry) => [entry.text, entry])))
  if (stoppedBy === undefined) return [...open, ...others.values()]
  const { limit, limitValue } = stoppedBy
  const text = `${limit} of ${limitValue} ended the search after ${found.length} retrievals`
  return [{ reason: 'unknown', text, metadata: { limit, limitValue } }, ...open, ...others.values()]
}

/** A retrieval with its evidence. */
export interface RetrievalWithEvidence extends CompletedRetrieval {
  bundle: EvidenceBundle
}
