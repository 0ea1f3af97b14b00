import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import type { Verdict } from '../answerability.js'

type Note = EvidenceItem['conflicts'][number]

/** What an item's note of another is about; evidence does not list it. */
interface Compared {
  /** sentences of the item and of the other */
  says: readonly [string, string]
  /** whether the item holds, and the other held before; undefined where the two contradict each other */
  isNewer?: boolean
}

const COMPARED = new WeakMap<object, Compared>()

/** @returns undefined for a note that others than the rules have made */
export function comparedIn(note: object): Compared | undefined {
  return COMPARED.get(note)
}

/**
 * Writes into the items which of the others contradict them. What differs without contradicting, since it is of another
 * time, version or thing, goes to `metadata.differs`: it is no conflict.
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
