import { isRecord, textOf } from '../../lib/json/values.js'
import { usageError } from '../cli-error.js'

/** A place in a document, named by its text so that it survives another cut into passages. */
export interface Anchor {
  /** filename, or the end of it */
  document: string
  /** titles of the section, innermost last; the outer ones may be left out */
  heading: string[]
  quote: string | undefined
}

/** A question with what its answer should rest on. */
export interface GoldenCase {
  id: string
  question: string
  anchors: Anchor[]
  /** passages named by id: they go with the next cut of their document */
  evidenceIds: string[]
  /** whether the space holds an answer; absent = nobody said */
  answerable: boolean | undefined
  tags: string[]
}

/** keys of a question, those that `ks golden export` writes included */
const KNOWN = new Set([
  'id',
  'question',
  'expect',
  'answerable',
  'tags',
  'expectedEvidenceIds',
  'metadata',
  'knowledgeSpaceId',
  'createdAt',
  'updatedAt',
])

/**
 * Reads one question of a file: `{question, expect?, answerable?, tags?, id?}`.
 *
 * @param where place of the entry, for messages
 * @throws CliError exit 2 naming the place and the rule
 */
export function readCase(value: unknown, where: string): GoldenCase {
  if (!isRecord(value)) throw usageError(`${where} must be an object with a question`)
  const stranger = Object.keys(value).find((key) => !KNOWN.has(key))
  if (stranger !== undefined) throw usageError(`${where} has an unknown key ${JSON.stringify(stranger)}`)
  const question = textOf(value.question)
  if (question === undefined) throw usageError(`${where} must have a question`)
  const metadata = isRecord(value.metadata) ? value.metadata : {}
  const anchors = readAnchors(value.expect ?? metadata.expect, where)
  const evidenceIds = strings(value.expectedEvidenceIds ?? [], `${where}: expectedEvidenceIds`)
  const answerable = answerableOf(value.answerable ?? metadata.answerable, metadata, where)
  const labelled = anchors.length + evidenceIds.length > 0
  return {
    id: textOf(value.id) ?? question,
    question,
    anchors,
    evidenceIds,
    // a question whose evidence is named has an answer, unless somebody says otherwise
    answerable: answerable ?? (labelled ? true : undefined),
    tags: strings(value.tags ?? [], `${where}: tags`),
  }
}

function answerableOf(value: unknown, metadata: Record<string, unknown>, where: string): boolean | undefined {
  if (typeof value === 'boolean') return value
  if (value !== undefined) throw usageError(`${where}: answerable must be true or false`)
  const { annotation } = metadata
  return isRecord(annotation) && annotation.answerCorrectness === 'not-answerable' ? false : undefined
}

function readAnchors(value: unknown, where: string): Anchor[] {
  if (value === undefined) return []
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.map((entry, index) => readAnchor(entry, `${where}: expect ${index + 1}`))
}

function readAnchor(value: unknown, where: string): Anchor {
  if (typeof value === 'string' && value !== '') return { document: value, heading: [], quote: undefined }
  if (!isRecord(value)) throw usageError(`${where} must be a document's path, or an object with document`)
  const stranger = Object.keys(value).find((key) => !['document', 'heading', 'quote'].includes(key))
  if (stranger !== undefined) throw usageError(`${where} has an unknown key ${JSON.stringify(stranger)}`)
  const document = textOf(value.document)
  if (document === undefined) throw usageError(`${where} must name a document`)
  if (value.quote !== undefined && textOf(value.quote) === undefined) throw usageError(`${where}: quote must be text`)
  const heading = typeof value.heading === 'string' ? [value.heading] : (value.heading ?? [])
  return { document, heading: strings(heading, `${where}: heading`), quote: textOf(value.quote) }
}

function strings(value: unknown, where: string): string[] {
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === 'string' && entry !== '')) {
    throw usageError(`${where} must be a list of texts`)
  }
  return value.map(String)
}

/** An anchor as people read it: `guide.md > Fees > "nine crowns"`. */
export function anchorText({ document, heading, quote }: Anchor): string {
  return [document, ...heading, ...(quote === undefined ? [] : [JSON.stringify(quote)])].join(' > ')
}
