import type { GoldenQuestion } from '../../../contract/gateway/golden-questions.js'
import type { AnswerTrace, EvidenceItem } from '../../../contract/gateway/queries.js'
import { isRecord } from '../../api/session.js'

/** A place in a document, named by its text, as `ks golden run` reads it. */
export interface Anchor {
  document: string
  heading: readonly string[]
  quote: string | undefined
}

/** What an answer to a golden question should rest on. */
export interface Expected {
  anchors: readonly Anchor[]
  evidenceIds: readonly string[]
  /** whether the space holds an answer; absent = nobody said */
  answerable: boolean | undefined
}

export function expectedOf({ metadata, expectedEvidenceIds }: GoldenQuestion): Expected {
  const { expect, annotation } = metadata
  const anchors = (Array.isArray(expect) ? expect : expect === undefined ? [] : [expect]).flatMap(anchorOf)
  const isLabelled = anchors.length + expectedEvidenceIds.length > 0
  const said = typeof metadata.answerable === 'boolean' ? metadata.answerable : undefined
  const judged = isRecord(annotation) && annotation.answerCorrectness === 'not-answerable' ? false : undefined
  return { anchors, evidenceIds: expectedEvidenceIds, answerable: said ?? judged ?? (isLabelled ? true : undefined) }
}

function anchorOf(value: unknown): Anchor[] {
  if (typeof value === 'string') return [{ document: value, heading: [], quote: undefined }]
  if (!isRecord(value) || typeof value.document !== 'string') return []
  const heading =
    typeof value.heading === 'string' ? [value.heading] : Array.isArray(value.heading) ? value.heading : []
  return [
    {
      document: value.document,
      heading: heading.map(String),
      quote: typeof value.quote === 'string' ? value.quote : undefined,
    },
  ]
}

export type Outcome = 'passed' | 'partly' | 'failed'

/** How one asking of a golden question did. */
export interface Measured {
  traceId: string
  outcome: Outcome
  /** share of the expected places that the evidence holds; absent where none is named */
  recall: number | undefined
  answered: boolean
  items: readonly EvidenceItem[]
}

export function measure(trace: AnswerTrace, { anchors, evidenceIds, answerable }: Expected): Measured {
  const items = itemsOf(trace)
  const answered = trace.steps.some(({ metadata }) => metadata.finishReason === 'retrieval-evidence')
  const held = [
    ...anchors.map((anchor) => items.some((item) => holds(item, anchor))),
    ...evidenceIds.map((id) => items.some(({ nodeId }) => nodeId === id)),
  ]
  const recall = held.length === 0 ? undefined : held.filter(Boolean).length / held.length
  return { traceId: trace.id, outcome: outcomeOf(recall, answered, answerable), recall, answered, items }
}

function outcomeOf(recall: number | undefined, answered: boolean, answerable: boolean | undefined): Outcome {
  if (answerable === false) return answered ? 'failed' : 'passed'
  if (recall === undefined || recall === 1) return answered ? 'passed' : recall === undefined ? 'failed' : 'partly'
  return recall === 0 ? 'failed' : 'partly'
}

/** The evidence that a trace keeps. */
export function itemsOf({ steps }: AnswerTrace): readonly EvidenceItem[] {
  for (const { metadata } of steps) {
    const { evidenceBundle } = metadata
    // the contract of a bundle, which stands in the metadata of a step
    if (isRecord(evidenceBundle) && Array.isArray(evidenceBundle.items)) return evidenceBundle.items as EvidenceItem[]
  }
  return []
}

export function filenameOf({ metadata }: Pick<EvidenceItem, 'metadata'>): string {
  return typeof metadata.filename === 'string' ? metadata.filename : ''
}

function holds(item: EvidenceItem, { document, heading, quote }: Anchor): boolean {
  const filename = filenameOf(item)
  if (filename !== document && !filename.endsWith(`/${document}`)) return false
  const path = item.citations[0]?.sectionPath.map(plain) ?? []
  // a passage of a section below the named one counts, too
  const wanted = heading.map(plain)
  const isUnder =
    wanted.length === 0 || path.some((_, at) => wanted.every((title, index) => path[at + index] === title))
  if (!isUnder) return false
  if (quote === undefined) return true
  const text = letters(item.text)
  const said = letters(quote)
  return text.includes(said) || said.includes(text)
}

const plain = (title: string) =>
  title
    .toLowerCase()
    .replace(/^[\d.\s]+/, '')
    .trim()
const letters = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')
