import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  boundedLimit,
  ConcreteMode,
  count,
  isoDateTime,
  metadata,
  opaqueCursor,
  positive,
  QueryMode,
  requestedMode,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { EVIDENCE_STATES } from '../values.js'
import { DocumentFilter } from './document-filter.js'
import { BoundingBox } from './document-parts.js'
import { VirtualItem } from './fs.js'
import { searchedSpacesFields } from './searched-space.js'

export const TraceStep = z
  .strictObject({
    name: z.string(),
    status: z.enum(['ok', 'error', 'skipped']),
    startedAt: isoDateTime,
    endedAt: isoDateTime.optional(),
    metadata,
  })
  .meta({ id: 'TraceStep' })
export type TraceStep = z.output<typeof TraceStep>

export const AnswerTrace = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    query: z.string(),
    mode: QueryMode,
    createdAt: isoDateTime,
    evidenceBundleId: uuid.optional(),
    steps: z.array(TraceStep),
  })
  .meta({ id: 'AnswerTrace' })
export type AnswerTrace = z.output<typeof AnswerTrace>

export const EvidenceState = z.enum(EVIDENCE_STATES)
export type EvidenceState = z.output<typeof EvidenceState>

export const Citation = z
  .strictObject({
    documentAssetId: uuid,
    documentVersion: positive,
    artifactHash: z.string().optional(),
    pageNumber: positive.optional(),
    sectionPath: z.array(z.string()),
    startOffset: count.optional(),
    endOffset: count.optional(),
    /** Extension: address of the web page that the document was made from. */
    sourceUrl: z.string().optional(),
    /** Extension: space of the document, in answers over several spaces. */
    knowledgeSpaceId: uuid.optional().describe('id of the space, in answers over several spaces'),
    knowledgeSpaceSlug: z.string().optional().describe('slug of that space'),
    /** Extension: the tables, pictures and code blocks of the passage, with their positions on the page. */
    items: z
      .array(
        z.strictObject({
          id: z.string(),
          modality: z.enum(['code', 'image', 'table']),
          pageNumber: positive.optional(),
          boundingBox: BoundingBox.optional(),
        }),
      )
      .optional(),
  })
  .meta({ id: 'Citation' })
export type Citation = z.output<typeof Citation>

const fraction = z.number().min(0).max(1)

export const EvidenceConflict = z.strictObject({
  nodeId: uuid,
  reason: z.string(),
  severity: z.enum(['low', 'medium', 'high']),
})
export type EvidenceConflict = z.output<typeof EvidenceConflict>

export const EvidenceItem = z
  .strictObject({
    nodeId: uuid,
    text: z.string(),
    score: fraction,
    scores: z.strictObject({
      retrieval: fraction,
      rerank: fraction.optional(),
      freshness: fraction.optional(),
      final: fraction,
    }),
    freshness: z.enum(['fresh', 'stale', 'unknown']),
    citations: z.array(Citation),
    conflicts: z.array(EvidenceConflict),
    metadata,
  })
  .meta({ id: 'EvidenceItem' })
export type EvidenceItem = z.output<typeof EvidenceItem>

export const MissingEvidence = z
  .strictObject({
    expectedEvidenceId: uuid.optional(),
    reason: z.enum(['not-retrieved', 'permission-filtered', 'stale', 'conflict', 'unknown']),
    text: z.string(),
    metadata,
  })
  .meta({ id: 'MissingEvidence' })
export type MissingEvidence = z.output<typeof MissingEvidence>

export const EvidenceBundle = z
  .strictObject({
    id: uuid,
    query: z.string(),
    traceId: uuid.optional(),
    createdAt: isoDateTime,
    state: EvidenceState,
    items: z.array(EvidenceItem),
    missingEvidence: z.array(MissingEvidence),
  })
  .meta({ id: 'EvidenceBundle' })
export type EvidenceBundle = z.output<typeof EvidenceBundle>

export const QueryBody = z.strictObject({
  knowledgeSpaceId: uuid,
  query: z.string().min(1).max(LIMITS.queryText),
  mode: requestedMode,
  activeDocumentIds: z.array(uuid).max(LIMITS.activeIds).default([]),
  activeEntityIds: z.array(z.string().min(1).max(LIMITS.activeEntityId)).max(LIMITS.activeIds).default([]),
  sessionId: uuid.optional(),
  /** Extension: dates, authors and language of the documents to search. */
  filter: DocumentFilter.optional(),
})
export type QueryBody = z.output<typeof QueryBody>

/** A range of a text, in UTF-16 units. */
const TextRange = z.strictObject({ start: count, end: count })

/** The quotation in an extractive answer. */
export const AnswerQuotation = z
  .strictObject({
    probability: fraction.describe('estimated probability that the quoted blocks contain the answer, 0 to 1'),
    blocks: z
      .array(
        z.strictObject({
          cited: positive.describe('number of the quoted evidence item, from 1'),
          ...TextRange.shape,
          marks: z.array(TextRange).describe('ranges that probably contain the requested answer'),
        }),
      )
      .describe('quoted blocks, one entry for each passage'),
  })
  .meta({ id: 'AnswerQuotation' })
export type AnswerQuotation = z.output<typeof AnswerQuotation>

/** A word of the question that no document contains, and the form of it that was searched instead. */
export const TermCorrection = z
  .strictObject({
    asked: z.string().describe('word of the question, in lower case'),
    searched: z.string().describe('additional search word: the corrected spelling, or a word of the same derivation'),
  })
  .meta({ id: 'SearchedFor' })
export type TermCorrection = z.output<typeof TermCorrection>

/** Metadata at the end of an answer. Other keys may occur, depending on the generator. */
export const AnswerMetadata = z
  .looseObject({
    mode: ConcreteMode.optional().describe('mode that was run'),
    requestedMode: QueryMode.optional().describe('requested mode: fast, deep, research or auto'),
    generator: z
      .string()
      .optional()
      .describe('author of the text: `model`, or `extractive` for a quotation of the evidence or a refusal'),
    synthesis: z
      .string()
      .optional()
      .describe('how the text was made: by a `model`, as a quotation (`extractive`), or `none` for a refusal'),
    modelAnswer: z
      .enum(['failed', 'declined', 'unsupported'])
      .optional()
      .describe(
        'reason why the answer of the model is not used: it failed, declined, or is not supported by any passage',
      ),
    decidedBy: z
      .enum(['model', 'rules'])
      .optional()
      .describe('what decided the state of the evidence: the language model that answered, or rules'),
    cited: z.array(positive).optional().describe('numbers of the evidence items cited in the answer'),
    quotation: AnswerQuotation.optional().describe(
      'blocks of evidence that form an extractive answer, with offsets into its text in UTF-16 units',
    ),
    context: z
      .strictObject({
        contextTokens: positive,
        passages: count,
        cut: count.describe('number of passages truncated at the end of a sentence'),
        leftOut: count.describe('number of passages that did not fit'),
      })
      .optional()
      .describe(
        'evidence in the prompt: context window in tokens, and numbers of included, truncated and omitted passages',
      ),
    searchedFor: z
      .array(TermCorrection)
      .optional()
      .describe('corrected words of the question; absent if no word was corrected'),
    topScore: fraction.optional().describe('score of the best evidence item, 0 to 1'),
    citations: z.array(Citation).optional().describe('locations of all evidence items, best first'),
    evidenceBundle: EvidenceBundle.optional(),
    metrics: metadata.optional().describe('counts and durations of the retrieval'),
    spaces: searchedSpacesFields.spaces.optional(),
    omittedSpaces: searchedSpacesFields.omittedSpaces.optional(),
  })
  .meta({ id: 'AnswerMetadata' })
export type AnswerMetadata = z.output<typeof AnswerMetadata>

/** Frames of the answer stream. */
export const answerEvents = {
  'answer.delta': z.strictObject({ delta: z.string(), traceId: uuid }).meta({ id: 'AnswerDelta' }),
  'answer.done': z
    .strictObject({
      finishReason: z.enum(['retrieval-evidence', 'no-retrieval-evidence']),
      metadata: AnswerMetadata.optional(),
      traceId: uuid,
    })
    .meta({ id: 'AnswerDone' }),
  'answer.error': z.strictObject({ error: z.string(), traceId: uuid }).meta({ id: 'AnswerFailed' }),
}
export type AnswerDelta = z.output<(typeof answerEvents)['answer.delta']>
export type AnswerDone = z.output<(typeof answerEvents)['answer.done']>
export type AnswerError = z.output<(typeof answerEvents)['answer.error']>

const TraceParams = z.strictObject({ traceId: uuid })
const listingQuery = z.strictObject({
  cursor: opaqueCursor.optional(),
  limit: boundedLimit(LIMITS.evidencePage),
})

export const TraceListing = z
  .strictObject({
    path: z.string(),
    truncated: z.boolean(),
    items: z.array(VirtualItem),
    nextCursor: z.string().optional(),
  })
  .meta({ id: 'TraceListing' })
export type TraceListing = z.output<typeof TraceListing>

/** The retrieval plan that a trace records. */
export const RetrievalPlan = z
  .strictObject({
    strategyVersion: z.string(),
    requestedMode: QueryMode,
    resolvedMode: ConcreteMode,
    queryLanguage: z.string(),
    topK: count,
    denseTopK: count,
    ftsTopK: count,
    fusionLimit: count,
    rerankCandidateLimit: count,
  })
  .meta({ id: 'RetrievalPlan' })
export type RetrievalPlan = z.output<typeof RetrievalPlan>

export const queriesRoutes = [
  route({
    id: 'query',
    method: 'POST',
    path: '/queries',
    scope: 'read',
    summary: 'Ask a question; the answer is a stream of server-sent events.',
    body: QueryBody,
    ok: { 200: 'event-stream' },
    events: answerEvents,
    description:
      'The answer text is the concatenation of all `answer.delta` frames; citations like [2] are numbers of the items in `metadata.evidenceBundle` of `answer.done`, which is sent once the trace is stored.',
    headers: {
      'x-query-run-id': 'id of the trace',
      'x-session-id': 'id of the session; send it as `sessionId` with the next question of the conversation',
    },
    streamExample:
      'event: answer.delta\ndata: {"delta":"In August, Ida Keller is on call. [1]","traceId":"01936f5e-8b2c-7f4d-8a63-5e7b9d1f3c22"}\n\nevent: answer.done\ndata: {"finishReason":"retrieval-evidence","metadata":{"mode":"fast"},"traceId":"01936f5e-8b2c-7f4d-8a63-5e7b9d1f3c22"}\n\n',
    errors: [400, 404, 409, 429, 503],
  }),
  route({
    id: 'getTrace',
    method: 'GET',
    path: '/queries/{traceId}',
    scope: 'read',
    summary: 'Get the trace of a query.',
    params: TraceParams,
    ok: { 200: AnswerTrace },
    errors: [404],
  }),
  route({
    id: 'listTraceEvidence',
    method: 'GET',
    path: '/queries/{traceId}/evidence',
    scope: 'read',
    summary: 'List the evidence of a query.',
    params: TraceParams,
    query: listingQuery,
    ok: { 200: TraceListing },
    errors: [400, 404],
  }),
  route({
    id: 'listTraceConflicts',
    method: 'GET',
    path: '/queries/{traceId}/conflicts',
    scope: 'read',
    summary: 'List contradictions in the evidence of a query.',
    params: TraceParams,
    query: listingQuery,
    ok: { 200: TraceListing },
    errors: [400, 404],
  }),
  route({
    id: 'listTraceMissing',
    method: 'GET',
    path: '/queries/{traceId}/missing',
    scope: 'read',
    summary: 'List the missing evidence of a query.',
    params: TraceParams,
    query: listingQuery,
    ok: { 200: TraceListing },
    errors: [400, 404],
  }),
] as const
