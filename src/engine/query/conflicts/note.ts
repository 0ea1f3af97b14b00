import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import type { Verdict } from '../answerability.js'

type Note = EvidenceItem['conflicts'][number]

/** Sentences that a conflict note compares; evidence does not list them. */
interface Compared {
  /** sentences of the item and of the other */
  says: readonly [string, string]
  /** whether the item is valid and the other was valid earlier; undefined when the two contradict each other */
  isNewer?: boolean
}

const COMPARED = new WeakMap<object, Compared>()

/** @returns undefined for a note that the rules did not make */
export function comparedIn(note: object): Compared | undefined {
  return COMPARED.get(note)
}

/**
 * Notes in each item which other items contradict it. Items that differ without contradicting, in time, version or
 * subject, are listed in `metadata.differs`: they are no conflict.
 */
export function noteConflicts(
  items: readonly EvidenceItem[],
  { conflicts, differences }: Pick<Verdict, 'conflicts' | 'differences'>,
): void {
  const both = (
    { item: one, other: two, says: [left, right] }: { item: number; other: number; says: [string, string] },
    note: (item: EvidenceItem, other: EvidenceItem, index: number) => object,
    newer?: number,
  ): void => {
    const [item, other] = [items[one], items[two]]
    if (item === undefined || other === undefined) return
    const order = (index: number) => (newer === undefined ? {} : { isNewer: newer === index })
    COMPARED.set(note(item, other, one), { says: [left, right], ...order(one) })
    COMPARED.set(note(other, item, two), { says: [right, left], ...order(two) })
  }
  for (const conflict of conflicts)
    both(conflict, (item, other) => {
      const note: Note = { nodeId: other.nodeId, reason: conflict.reason, severity: 'medium' }
      item.conflicts.push(note)
      return note
    })
  for (const difference of differences) {
    const { kind, reason, newer } = difference
    both(
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
