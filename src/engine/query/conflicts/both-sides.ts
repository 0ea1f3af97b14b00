import type { EvidenceBundle, EvidenceItem } from '../../../contract/gateway/queries.js'
import { askedTime, isWithin } from '../question/asked-time.js'
import { comparedIn } from './note.js'

/** The sentence of one of the documents that differ. */
export interface Side {
  text: string
  /** index of its passage in the evidence, from 0 */
  evidenceIndex: number
  /** the document's name, with its day where it has one */
  document: string
  /** of what holds no more, or not yet, in the time that was asked for */
  relation?: 'older' | 'newer'
}

export interface BothSides {
  sides: Side[]
  /** the sides of a contradiction with their documents and citation marks, in lines; versions are quoted instead */
  text: string
  /** whether the first of the sides holds, and the others held before */
  isSuperseded: boolean
}

/** More than two documents rarely disagree; the rest remains in the evidence. */
const MAX_SIDES = 4
const OPENING = 'The documents contradict each other.'

/**
 * The sides of evidence that differs in one fact, each by its sentence, document and day. Contradictions: best first.
 * Where it is known which of them holds: that one first, the others as older; what the question asks of another year
 * first of all. Undefined where the sentences are not known, and where nothing differs.
 */
export function bothSides({
  state,
  query,
  items,
}: Pick<EvidenceBundle, 'state' | 'query' | 'items'>): BothSides | undefined {
  const isSuperseded = state === 'answerable'
  if (!isSuperseded && state !== 'conflict') return undefined
  const sides = new Map<number, Side & { isNewer: boolean }>()
  for (const [index, item] of items.entries())
    for (const note of isSuperseded ? differencesOf(item) : item.conflicts) {
      const compared = comparedIn(note)
      const isOfOneFact = compared !== undefined && (compared.isNewer !== undefined) === isSuperseded
      if (!isOfOneFact || items.every(({ nodeId }) => nodeId !== note.nodeId) || sides.has(index)) continue
      const text = compared.says[0].trim()
      sides.set(index, { text, evidenceIndex: index, document: documentName(item), isNewer: compared.isNewer === true })
    }
  if (sides.size < 2) return undefined
  const ordered = [...sides.values()].slice(0, MAX_SIDES)
  if (!isSuperseded) return contradiction(ordered)
  const asked = askedTime(query)
  const day = ({ evidenceIndex }: Side): string => String(items[evidenceIndex]?.metadata.documentDate ?? '')
  const isAsked = (side: Side & { isNewer: boolean }): boolean => {
    if (asked === undefined) return false
    if ('order' in asked) return asked.order === 'earliest' && !side.isNewer
    return isWithin(day(side), asked)
  }
  ordered.sort(
    (a, b) =>
      Number(isAsked(b)) - Number(isAsked(a)) || Number(b.isNewer) - Number(a.isNewer) || day(b).localeCompare(day(a)),
  )
  const [first] = ordered
  const versions = ordered.map(({ isNewer, ...side }, index): Side => {
    if (index === 0) return side
    return { ...side, relation: isNewer && first?.isNewer === false ? 'newer' : 'older' }
  })
  return { sides: versions, text: '', isSuperseded: true }
}

function differencesOf({ metadata }: EvidenceItem): { nodeId: string }[] {
  return Array.isArray(metadata.differs) ? metadata.differs : []
}

function contradiction(ordered: readonly (Side & { isNewer: boolean })[]): BothSides {
  const sides = ordered.map(({ isNewer: _, ...side }): Side => side)
  const lines = sides.map(({ document, text, evidenceIndex }) => `- ${document}: ${text} [${evidenceIndex + 1}]`)
  return { sides, text: [OPENING, ...lines].join('\n'), isSuperseded: false }
}

/** The day is the document's own: the day of its ingest shows nothing of which of two holds. */
function documentName({ metadata }: EvidenceItem): string {
  const name = String(metadata.filename ?? metadata.documentTitle ?? metadata.title ?? '')
  const day = String(metadata.documentDate ?? '').slice(0, 'yyyy-mm-dd'.length)
  return day === '' ? name : `${name} (${day})`
}
