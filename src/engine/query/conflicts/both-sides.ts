import type { EvidenceBundle, EvidenceItem } from '../../../contract/gateway/queries.js'
import { sentencesOf } from './note.js'

/** What one of the documents says that contradict each other. */
export interface Side {
  /** the sentence */
  text: string
  /** place of its passage in the evidence, from 0 */
  evidenceIndex: number
  /** the document's name, and the day on which its version was stored */
  document: string
}

export interface BothSides {
  sides: Side[]
  /** the sides with their documents and citation marks, in lines */
  text: string
}

/** More than two documents seldom disagree; the rest stands in the evidence. */
const MOST_SIDES = 4
const OPENING = 'The documents contradict each other.'

/**
 * What evidence in conflict says, each side by its sentence, document and date, best first; undefined where the sentences
 * are not known, as for conflicts that others than the rules have noted.
 */
export function bothSides({ state, items }: Pick<EvidenceBundle, 'state' | 'items'>): BothSides | undefined {
  if (state !== 'conflict') return undefined
  const sides = new Map<number, Side>()
  for (const [index, item] of items.entries())
    for (const note of item.conflicts) {
      const other = items.findIndex(({ nodeId }) => nodeId === note.nodeId)
      const pair = items[other]
      if (other < index || pair === undefined) continue
      for (const [place, text] of sentencesOf(note)?.entries() ?? []) {
        const evidenceIndex = place === 0 ? index : other
        const of = place === 0 ? item : pair
        if (!sides.has(evidenceIndex))
          sides.set(evidenceIndex, { text: text.trim(), evidenceIndex, document: named(of) })
      }
    }
  if (sides.size < 2) return undefined
  const shown = [...sides.values()].sort((a, b) => a.evidenceIndex - b.evidenceIndex).slice(0, MOST_SIDES)
  const lines = shown.map(({ document, text, evidenceIndex }) => `- ${document}: ${text} [${evidenceIndex + 1}]`)
  return { sides: shown, text: [OPENING, ...lines].join('\n') }
}

function named({ metadata }: EvidenceItem): string {
  const name = String(metadata.filename ?? metadata.documentTitle ?? metadata.title ?? '')
  const day = String(metadata.storedAt ?? '').slice(0, 'yyyy-mm-dd'.length)
  return day === '' ? name : `${name} (${day})`
}
