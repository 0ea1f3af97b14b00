import type { EvidenceBundle, EvidenceItem } from '../../../../contract/gateway/queries.js'
import { findRequestedTime, isWithin } from '../../../../lib/text/requested-time.js'
import type { EvidenceVerdict } from '../answerability.js'

/** The sentence of one of the documents that contradict each other. */
export interface QuotedSide {
  text: string
  /** index of its passage in the evidence, from 0 */
  evidenceIndex: number
  /** name of the document, with its day if it has one */
  document: string
  /** set when it is no longer valid, or not yet valid, at the time asked for */
  relation?: 'older' | 'newer'
}

export interface ConflictSides {
  sides: QuotedSide[]
  /**
   * a contradiction's sides with their documents and citation marks, one per line; empty for versions, which are quoted
   */
  text: string
  /** whether the first side is valid and the others were valid earlier */
  isSuperseded: boolean
}

/** More than two documents rarely contradict each other; the others stay in the evidence. */
const MAX_SIDES = 4
const OPENING = 'The documents contradict each other.'

/**
 * Finds the sides of evidence that differs in one fact, each with its sentence, document and day. Contradictions are
 * listed best first. When it is known which side is valid, that one is first and the others are marked as older; a side
 * of the year that the question asks for precedes all. Undefined when the sentences are unknown or nothing differs.
 */
export function findConflictSides({
  state,
  query,
  items,
}: Pick<EvidenceBundle, 'state' | 'query' | 'items'>): ConflictSides | undefined {
  const isSuperseded = state === 'answerable'
  if (!isSuperseded && state !== 'conflict') return undefined
  const sides = new Map<number, QuotedSide & { isNewer: boolean }>()
  for (const [index, item] of items.entries())
    for (const note of isSuperseded ? getDifferences(item) : item.conflicts) {
      const compared = getNotedSentences(note)
      const isOfOneFact = compared !== undefined && (compared.isNewer !== undefined) === isSuperseded
      if (!isOfOneFact || items.every(({ nodeId }) => nodeId !== note.nodeId) || sides.has(index)) continue
      const text = compared.sentences[0].trim()
      sides.set(index, {
        text,
        evidenceIndex: index,
        document: formatDocumentName(item),
        isNewer: compared.isNewer === true,
      })
    }
  if (sides.size < 2) return undefined
  const ordered = [...sides.values()].slice(0, MAX_SIDES)
  if (!isSuperseded) return formatContradiction(ordered)
  const requestedTime = findRequestedTime(query)
  const day = ({ evidenceIndex }: QuotedSide): string => String(items[evidenceIndex]?.metadata.documentDate ?? '')
  const isAsked = (side: QuotedSide & { isNewer: boolean }): boolean => {
    if (requestedTime === undefined) return false
    if ('order' in requestedTime) return requestedTime.order === 'earliest' && !side.isNewer
    return isWithin(day(side), requestedTime)
  }
  ordered.sort(
    (a, b) =>
      Number(isAsked(b)) - Number(isAsked(a)) || Number(b.isNewer) - Number(a.isNewer) || day(b).localeCompare(day(a)),
  )
  const [first] = ordered
  const versions = ordered.map(({ isNewer, ...side }, index): QuotedSide => {
    if (index === 0) return side
    return { ...side, relation: isNewer && first?.isNewer === false ? 'newer' : 'older' }
  })
  return { sides: versions, text: '', isSuperseded: true }
}

function getDifferences({ metadata }: EvidenceItem): { nodeId: string }[] {
  return Array.isArray(metadata.differs) ? metadata.differs : []
}

function formatContradiction(ordered: readonly (QuotedSide & { isNewer: boolean })[]): ConflictSides {
  const sides = ordered.map(({ isNewer: _, ...side }): QuotedSide => side)
  const lines = sides.map(({ document, text, evidenceIndex }) => `- ${document}: ${text} [${evidenceIndex + 1}]`)
  return { sides, text: [OPENING, ...lines].join('\n'), isSuperseded: false }
}

/** Uses the document's own day: the day of its ingestion does not show which document is valid. */
function formatDocumentName({ metadata }: EvidenceItem): string {
  const name = String(metadata.filename ?? metadata.documentTitle ?? metadata.title ?? '')
  const day = String(metadata.documentDate ?? '').slice(0, 'yyyy-mm-dd'.length)
  return day === '' ? name : `${name} (${day})`
}

type ConflictNote = EvidenceItem['conflicts'][number]

/** Sentences that a conflict note compares; evidence does not list them. */
interface NotedSentences {
  /** sentences of the item and of the other */
  sentences: readonly [string, string]
  /** whether the item is valid and the other was valid earlier; undefined when the two contradict each other */
  isNewer?: boolean
}

const SENTENCES_BY_NOTE = new WeakMap<object, NotedSentences>()

/** @returns undefined for a note that the rules did not make */
export function getNotedSentences(note: object): NotedSentences | undefined {
  return SENTENCES_BY_NOTE.get(note)
}

/**
 * Notes in each item which other items contradict it. Items that differ without contradicting, in time, version or
 * subject, are listed in `metadata.differs`: they are no conflict.
 */
export function noteConflicts(
  items: readonly EvidenceItem[],
  { conflicts, differences }: Pick<EvidenceVerdict, 'conflicts' | 'differences'>,
): void {
  const noteBothItems = (
    { item: one, other: two, sentences: [left, right] }: { item: number; other: number; sentences: [string, string] },
    note: (item: EvidenceItem, other: EvidenceItem, index: number) => object,
    newer?: number,
  ): void => {
    const [item, other] = [items[one], items[two]]
    if (item === undefined || other === undefined) return
    const order = (index: number) => (newer === undefined ? {} : { isNewer: newer === index })
    SENTENCES_BY_NOTE.set(note(item, other, one), { sentences: [left, right], ...order(one) })
    SENTENCES_BY_NOTE.set(note(other, item, two), { sentences: [right, left], ...order(two) })
  }
  for (const conflict of conflicts)
    noteBothItems(conflict, (item, other) => {
      const note: ConflictNote = { nodeId: other.nodeId, reason: conflict.reason, severity: 'medium' }
      item.conflicts.push(note)
      return note
    })
  for (const difference of differences) {
    const { kind, reason, newer } = difference
    noteBothItems(
      difference,
      (item, other) => {
        const known = Array.isArray(item.metadata.differs) ? item.metadata.differs : []
        const note = { nodeId: other.nodeId, kind, reason }
        item.metadata.differs = [...known, note]
        return note
      },
      newer,
    )
  }
}
