import { z } from 'zod'
import { AnswerMetadata, MissingEvidence } from '../../contract/gateway/queries.js'
import { count, positive, slug } from '../../contract/primitives.js'
import { IngestRecord } from './documents.js'

/** A passage in the JSON of an answer: every key is always present. */
export const AnswerPassage = z
  .strictObject({
    number: positive.describe('number of its mark in the answer, such as 1 for [1]'),
    space: z.string().nullable().describe('slug of its space in an answer over several spaces, else null'),
    filename: z.string(),
    section: z.array(z.string()).describe('headings above the passage, outermost first'),
    page: positive.nullable(),
    quote: z.string().nullable().describe('quoted part; null if the answer quotes nothing of it'),
    text: z.string(),
    score: z.number().nullable(),
    freshness: z.string().nullable(),
    documentAssetId: z.string().nullable(),
    documentVersion: positive.nullable(),
    nodeId: z.string().nullable(),
    startOffset: count.nullable().describe('start of the passage in the text of the document'),
    endOffset: count.nullable(),
    link: z.string().nullable().describe('address of the document: of its web page, or in the console'),
  })
  .meta({ id: 'AnswerPassage' })
export type AnswerPassage = z.output<typeof AnswerPassage>

export const AnswerOutput = z.strictObject({
  answer: z.string(),
  finishReason: z.string(),
  requestedMode: z.string().nullable(),
  resolvedMode: z.string().nullable(),
  evidenceState: z.string().nullable(),
  citations: z.array(AnswerPassage).describe('passages that the answer cites'),
  evidence: z.array(AnswerPassage).describe('other passages that were found'),
  missingEvidence: z.array(MissingEvidence),
  traceId: z.string(),
  sessionId: z.string().nullable(),
  metadata: AnswerMetadata.omit({ evidenceBundle: true, citations: true }),
})
/** `missingEvidence` is passed on as the service returns it. */
export type AnswerOutput = Omit<z.output<typeof AnswerOutput>, 'missingEvidence'> & { missingEvidence: unknown[] }

export const QuickstartOutput = z.strictObject({
  space: slug,
  created: z.boolean(),
  files: z.array(IngestRecord),
  question: z.string(),
  ...AnswerOutput.shape,
})

export type QuickstartOutput = Omit<z.output<typeof QuickstartOutput>, 'missingEvidence'> &
  Pick<AnswerOutput, 'missingEvidence'>

/** A passage as `ks search` lists it. */
export const SearchRow = z.strictObject({
  score: z.number(),
  space: z.string().exactOptional().describe('slug of the space, in a search of several'),
  filename: z.string(),
  place: z.string().describe('sections and page'),
  text: z.string(),
  documentId: z.string(),
  nodeId: z.string(),
  documentVersion: positive,
  sectionPath: z.array(z.string()),
  pageNumber: positive.exactOptional(),
  startOffset: count.exactOptional(),
  endOffset: count.exactOptional(),
  freshness: z.string(),
  copies: positive.exactOptional().describe('number of other documents with the same passage'),
  alsoIn: z
    .array(z.strictObject({ documentId: z.string(), filename: z.string() }))
    .exactOptional()
    .describe('the first of these documents'),
})
export type SearchRow = z.output<typeof SearchRow>

/** A document with passages that match a search. */
export const SearchedFileRow = z.strictObject({
  space: z.string().exactOptional().describe('slug of the space, in a search of several'),
  filename: z.string(),
  documentId: z.string(),
  score: z.number().describe('score of its best passage'),
  passages: positive,
})
export type SearchedFileRow = z.output<typeof SearchedFileRow>
