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

/** Items of the final bundle: what no section of the report quotes is rarely read. */
const MOST_ITEMS = 60
/** Items that a section of the report may be made of. */
const ITEMS_OF_A_SECTION = 10

/** What one question came to. */
export interface Answered {
  question: string
  part?: Part
  /** with the words of the part that it points back at */
  searched: string
  state: EvidenceState
  /** whether the best passage is one that the asking subject may not read */
  withheld: boolean
  /** best first */
  items: EvidenceItem[]
  /** words of the question that nothing holds */
  uncovered: string[]
  /** how telling the question's terms are */
  idf: [term: string, weight: number][]
  /** other evidence that was left out, as the looks said it */
  missing: MissingEvidence[]
}

/** The evidence of a task, question by question and as one. */
export interface Analysis {
  sections: {
    question: string
    /** what it asks of whom */
    part?: Part
    searched: string
    state: EvidenceState
    /** whether the best passage is one that the asking subject may not read */
    withheld?: boolean
    nodeIds: string[]
    idf: [term: string, weight: number][]
  }[]
  bundleId: string
}

/**
 * Joins everything that was found for one question, and judges it anew.
 *
 * @param place of the question among those of the plan
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
  // a later look may find more of the rest; what was withheld from the first is withheld all the same
  const limited = own.some(({ bundle }) => bundle.state === 'permission-limited')
  const state = limited && verdict.state !== 'answerable' ? 'permission-limited' : verdict.state
  const missing = own.flatMap(({ bundle }) =>
    bundle.missingEvidence.filter(({ reason }) => reason !== 'not-retrieved' && reason !== 'conflict'),
  )
  const withheld = own.some((look) => look.withheld === true)
  return { question, searched, state, withheld, items, uncovered: verdict.uncovered, idf: [...idf], missing }
}

/** Every passage once, with the best of its scores, best first. */
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
 * The whole of a task's evidence: a bundle whose state follows from those of its questions, with what is missing.
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

/** One contradiction makes the whole a conflict; it is answerable when all its questions are. */
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

/** A look with its evidence. */
export interface Found extends LookDone {
  bundle: EvidenceBundle
}
