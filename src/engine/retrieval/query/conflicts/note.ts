import type { EvidenceItem } from '../../../../contract/gateway/queries.js'
import type { EvidenceVerdict } from '../answerability.js'

type ConflictNote = EvidenceItem['conflicts'][number]

/** Sentences that a conflict note compares; evidence does not list them. */
interface NotedSentences {
  /** sentences of the item and of the other */
  says: readonly [string, string]
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
    { item: one, other: two, says: [left, right] }: { item: number; other: number; says: [string, string] },
    note: (item: EvidenceItem, other: EvidenceItem, index: number) => object,
    newer?: number,
  ): void => {
    const [item, other] = [items[one], items[two]]
    if (item === undefined || other === undefined) return
    const order = (index: number) => (newer === undefined ? {} : { isNewer: newer === index })
    SENTENCES_BY_NOTE.set(note(item, other, one), { says: [left, right], ...order(one) })
    SENTENCES_BY_NOTE.set(note(other, item, two), { says: [right, left], ...order(two) })
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
