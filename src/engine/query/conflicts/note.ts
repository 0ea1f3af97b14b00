import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import type { Verdict } from '../answerability.js'

/**
 * Writes into the items which of the others contradict them. What differs without contradicting, since it is of another
 * time, version or place, stands in `metadata.differs`: it is no conflict.
 */
export function noteConflicts(
  items: readonly EvidenceItem[],
  { conflicts, differences }: Pick<Verdict, 'conflicts' | 'differences'>,
): void {
  for (const { item: one, other: two, reason } of conflicts) {
    const item = items[one]
    const other = items[two]
    if (item === undefined || other === undefined) continue
    item.conflicts.push({ nodeId: other.nodeId, reason, severity: 'medium' })
    other.conflicts.push({ nodeId: item.nodeId, reason, severity: 'medium' })
  }
  for (const { item: one, other: two, kind, reason } of differences) {
    const item = items[one]
    const other = items[two]
    if (item === undefined || other === undefined) continue
    differ(item, { nodeId: other.nodeId, kind, reason })
    differ(other, { nodeId: item.nodeId, kind, reason })
  }
}

function differ(item: EvidenceItem, difference: { nodeId: string; kind: string; reason: string }): void {
  const known = Array.isArray(item.metadata.differs) ? item.metadata.differs : []
  item.metadata.differs = [...known, difference]
}
