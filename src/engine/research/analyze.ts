import type { EvidenceBundle, EvidenceItem, EvidenceState, MissingEvidence } from '../../contract/gateway/queries.js'
import type { ResearchStop } from '../../contract/gateway/research.js'
import { defined } from '../../lib/defined.js'
import { analyzeQuery } from '../../lib/text/analyze.js'
import { evidenceState } from '../query/answerability.js'
import { notRetrieved } from '../query/missing.js'
import { quote, toQuotable } from '../query/quotation/quote.js'
import { bundleOf } from './bundle.js'
import type { Part } from './parts.js'
import type { LookDone } from './retrieve.js'

/** Maximum items of the final bundle; items that no section of the report quotes are rarely read. */
const MOST_ITEMS = 60
/** Maximum items for one section of the report. */
const ITEMS_OF_A_SECTION = 10

/** Evidence of one question. */
export interface Answered {
  question: string
  part?: Part
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
export interface Analysis {
  sections: {
    question: string
    /** requested measure and name */
    part?: Part
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
 * @param place index of the question in the plan
 */
export function answerOf(question: string, place: number, found: readonly Found[]): Answered {
  const own = found.filter((look) => look.question === place)
  const items = merged(own.flatMap(({ bundle }) => bundle.items))
  const idf = new Map(own.flatMap((look) => look.idf))
  const searched = own[0]?.searched ?? question
  const judged = items.map(toQuotable)
  const weightOf = (term: string): number => idf.get(term) ?? 1
  const probability = quote({ query: question, passages: judged, idf: weightOf })?.probability
  const terms = analyzeQuery(searched)
  const verdict = evidenceState({ query: question, terms, idf: weightOf, items: judged, probability })
  // A later retrieval may cover more; evidence that the first one withheld stays withheld.
  const limited = own.some(({ bundle }) => bundle.state === 'permission-limited')
  const state = limited && verdict.state !== 'answerable' ? 'permission-limited' : verdict.state
  const missing = own.flatMap(({ bundle }) =>
    bundle.missingEvidence.filter(({ reason }) => reason !== 'not-retrieved' && reason !== 'conflict'),
  )
  const withheld = own.some((look) => look.withheld === true)
  return { question, searched, state, withheld, items, uncovered: verdict.uncovered, idf: [...idf], missing }
}

/** Merges equal passages, each with the best of its scores; best first. */
function merged(items: readonly EvidenceItem[]): EvidenceItem[] {
  const best = new Map<string, EvidenceItem>()
  for (const item of items) {
    const known = best.get(item.nodeId)
    const winner = known === undefined || item.score > known.score ? item : known
    const conflicts = [...(known?.conflicts ?? []), ...item.conflicts]
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
export function analyse(
  query: string,
  questions: readonly Answered[],
  found: readonly Found[],
  stoppedBy: ResearchStop | undefined,
): { analysis: Analysis; bundle: EvidenceBundle } {
  const sections = questions.map(({ question, part, searched, state, withheld, items, idf }) => ({
    question,
    searched,
    state,
    withheld,
    idf,
    ...defined({ part }),
    nodeIds: items.slice(0, ITEMS_OF_A_SECTION).map(({ nodeId }) => nodeId),
  }))
  const all = merged(found.flatMap(({ bundle }) => bundle.items))
  const quoted = new Set(sections.flatMap(({ nodeIds }) => nodeIds))
  const items = [...all.filter(({ nodeId }) => quoted.has(nodeId)), ...all.filter(({ nodeId }) => !quoted.has(nodeId))]
  const bundle = bundleOf({
    query,
    state: wholeState(
      questions.map(({ state }) => state),
      stoppedBy,
    ),
    items: items.slice(0, Math.max(MOST_ITEMS, quoted.size)).sort((a, b) => b.score - a.score),
    missingEvidence: missingOf(questions, found, stoppedBy),
  })
  return { analysis: { sections, bundleId: bundle.id }, bundle }
}

/** One contradiction makes the total a conflict; it is answerable when all its questions are. */
export function wholeState(states: readonly EvidenceState[], stoppedBy: ResearchStop | undefined): EvidenceState {
  if (states.includes('conflict')) return 'conflict'
  if (states.every((state) => state === 'answerable'))
    return stoppedBy?.limit === 'timeoutMs' ? 'partial' : 'answerable'
  if (states.some((state) => state === 'answerable' || state === 'partial')) return 'partial'
  return states.includes('permission-limited') ? 'permission-limited' : 'not-enough-evidence'
}

function missingOf(
  questions: readonly Answered[],
  found: readonly Found[],
  stoppedBy: ResearchStop | undefined,
): MissingEvidence[] {
  const open = questions.flatMap(({ question, state, uncovered }): MissingEvidence[] => {
    if (state === 'answerable') return []
    if (state === 'conflict')
      return [{ reason: 'conflict', text: `passages contradict each other: ${question}`, metadata: { question } }]
    return notRetrieved(question, uncovered).map((entry) => ({
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
export interface Found extends LookDone {
  bundle: EvidenceBundle
}
