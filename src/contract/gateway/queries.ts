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
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { EVIDENCE_STATES } from '../values.js'
import { DocumentFilter } from './document-filter.js'
import { BoundingBox } from './document-parts.js'
import { VirtualItem } from './fs.js'

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
    /** extension: address of the web page that the document was read from */
    sourceUrl: z.string().optional(),
    /** extension: the tables, pictures and code blocks that the passage is made of, and where on the page they are */
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

const share = z.number().min(0).max(1)

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
    score: share,
    scores: z.strictObject({
      retrieval: share,
      rerank: share.optional(),
      freshness: share.optional(),
      final: share,
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
  mode: QueryMode.optional(),
  activeDocumentIds: z.array(uuid).max(LIMITS.activeIds).default([]),
  activeEntityIds: z.array(z.string().min(1).max(LIMITS.activeEntityId)).max(LIMITS.activeIds).default([]),
  sessionId: uuid.optional(),
  /** extension: dates, authors and language of the documents that are searched */
  filter: DocumentFilter.optional(),
})
export type QueryBody = z.output<typeof QueryBody>

/** A range of a text, in UTF-16 units. */
const TextRange = z.strictObject({ start: count, end: count })

/** What an extractive answer quotes. */
export const AnswerQuotation = z
  .strictObject({
    probability: share.describe('estimated probability that the quoted blocks contain the answer'),
    blocks: z
      .array(
        z.strictObject({
          cited: positive.describe('number of the item of evidence, from 1'),
          ...TextRange.shape,
          marks: z.array(TextRange).describe('ranges that probably are what was asked for'),
        }),
      )
      .describe('the quoted blocks, one entry for each passage'),
  })
  .meta({ id: 'AnswerQuotation' })
export type AnswerQuotation = z.output<typeof AnswerQuotation>

/** A word of the question that no document has, and another form of it that documents have. */
export const SearchedFor = z
  .strictObject({
    asked: z.string().describe('word of the question, in lower case'),
    searched: z.string().describe('word that was searched for as well: without a typo, or of the same derivation'),
  })
  .meta({ id: 'SearchedFor' })
export type SearchedFor = z.output<typeof SearchedFor>

/** What is told of an answer at its end. More depends on the generator, so other keys may come. */
export const AnswerMetadata = z
  .looseObject({
    mode: ConcreteMode.optional().describe('the mode that was run'),
    requestedMode: QueryMode.optional().describe('the mode that was asked for'),
    generator: z.string().optional().describe('`model`, or `extractive` for a quotation of the evidence'),
    synthesis: z.string().optional().describe('how the text came about: `model`, `extractive` or `none`'),
    modelAnswer: z
      .enum(['failed', 'declined', 'unsupported'])
      .optional()
      .describe(
        'why the answer is not the one of the reasoning model: it failed, declined, or wrote what no passage supports',
      ),
    decidedBy: z
      .enum(['model', 'rules'])
      .optional()
      .describe('who decided the state of the evidence: the reasoning model that was given it, or rules'),
    cited: z.array(positive).optional().describe('numbers of the items of evidence whose marks stand in the answer'),
    quotation: AnswerQuotation.optional().describe(
      'blocks of the evidence that an extractive answer consists of, with offsets into its text in UTF-16 units',
    ),
    context: z
      .strictObject({
        contextTokens: positive,
        passages: count,
        cut: count.describe("passages that were cut at a sentence's end"),
        leftOut: count.describe('passages that did not fit'),
      })
      .optional()
      .describe(
        "what the model was given of the evidence: its window in tokens, passages, those of them that were cut at a sentence's end, and those that did not fit",
      ),
    searchedFor: z
      .array(SearchedFor)
      .optional()
      .describe('corrected words of the question; absent when no word was corrected'),
    topScore: share.optional().describe('score of the best item'),
    citations: z.array(Citation).optional().describe('places of all items of evidence, best first'),
    evidenceBundle: EvidenceBundle.optional(),
    metrics: metadata.optional().describe('counts and times of the retrieval'),
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

/** The retrieval plan a trace records. */
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
    summary: 'Ask a space; the answer streams back as server-sent events.',
    body: QueryBody,
    ok: { 200: 'event-stream' },
    events: answerEvents,
    description:
      'The text of the answer is that of all `answer.delta` frames together; marks like [2] are numbers of the items in `metadata.evidenceBundle` of `answer.done`, which is sent once the trace is stored.',
    headers: {
      'x-query-run-id': 'id of the trace',
      'x-session-id': 'id of the session, to be sent as `sessionId` with the next question of the conversation',
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
    summary: 'Read the trace of a query.',
    params: TraceParams,
    ok: { 200: AnswerTrace },
    errors: [404],
  }),
  route({
    id: 'listTraceEvidence',
    method: 'GET',
    path: '/queries/{traceId}/evidence',
    scope: 'read',
    summary: 'List what a query used as evidence.',
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
    summary: 'List evidence that contradicts other evidence of the query.',
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
    summary: 'List evidence that the query lacked.',
    params: TraceParams,
    query: listingQuery,
    ok: { 200: TraceListing },
    errors: [400, 404],
  }),
] as const
