import type { EvidenceItem } from '../../../contract/gateway/queries.js'
import type { Verdict } from '../answerability.js'

type Note = EvidenceItem['conflicts'][number]

/** Which sentences a note is about, its own item's first. Evidence does not tell them, and nobody looks for them again. */
const SENTENCES = new WeakMap<Note, readonly [string, string]>()

/** @returns nothing for a note that others than the rules have made */
export function sentencesOf(note: Note): readonly [string, string] | undefined {
  return SENTENCES.get(note)
}

/**
 * Writes into the items which of the others contradict them. What differs without contradicting, since it is of another
 * time, version or place, stands in `metadata.differs`: it is no conflict.
 */
export function noteConflicts(
  items: readonly EvidenceItem[],
  { conflicts, differences }: Pick<Verdict, 'conflicts' | 'differences'>,
): void {
  for (const {
    item: one,
    other: two,
    reason,
    says: [said, gainsaid],
  } of conflicts) {
    const item = items[one]
    const other = items[two]
    if (item === undefined || other === undefined) continue
    item.conflicts.push(noteOf(other, reason, [said, gainsaid]))
    other.conflicts.push(noteOf(item, reason, [gainsaid, said]))
  }
  for (const { item: one, other: two, kind, reason } of differences) {
    const item = items[one]
    const other = items[two]
    if (item === undefined || other === undefined) continue
    differ(item, { nodeId: other.nodeId, kind, reason })
    differ(other, { nodeId: item.nodeId, kind, reason })
  }
}

function noteOf({ nodeId }: EvidenceItem, reason: string, sentences: readonly [string, string]): Note {
  const note: Note = { nodeId, reason, severity: 'medium' }
  SENTENCES.set(note, sentences)
  return note
}

function differ(item: EvidenceItem, difference: { nodeId: string; kind: string; reason: string }): void {
  const known = Array.isArray(item.metadata.differs) ? item.metadata.differs : []
  item.metadata.differs = [...known, difference]
}
