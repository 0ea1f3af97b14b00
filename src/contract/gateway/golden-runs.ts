import { z } from 'zod'
import { LIMITS } from '../limits.js'
import {
  ConcreteMode,
  count,
  isoDateTime,
  opaqueCursor,
  openLimit,
  page,
  positive,
  QueryMode,
  requestedMode,
  SpaceParams,
  uuid,
} from '../primitives.js'
import { route } from '../route.js'
import { ExpectedAnswer } from './golden-questions.js'
import { EvidenceState } from './queries.js'

/** Runs of golden questions: the service asks each question as a caller would and measures its evidence and answer. */

const fraction = z.number().min(0).max(1)
const name = z.string().min(1).max(LIMITS.queryText)

/** A location in a document, identified by its text, so that it does not depend on the division into passages. */
export const EvidenceAnchor = z
  .strictObject({
    document: z.string().min(1).max(LIMITS.filename).describe('file name of the document, or the end of it'),
    heading: z.array(name).default([]).describe('titles of the section, innermost last; outer titles may be omitted'),
    quote: name.optional().describe('text at the location; absent: the complete section or document'),
  })
  .meta({ id: 'EvidenceAnchor' })
export type EvidenceAnchor = z.output<typeof EvidenceAnchor>

/** A question with its expected evidence and answer. */
export const GoldenCase = z
  .strictObject({
    id: name.describe('name of the question in the results'),
    question: name,
    anchors: z.array(EvidenceAnchor).default([]).describe('expected locations'),
    expectedEvidenceIds: z.array(z.string()).default([]),
    expect: ExpectedAnswer.optional(),
    answerable: z.boolean().optional().describe('whether the documents answer the question; absent: not measured'),
    tags: z.array(name).default([]),
  })
  .meta({ id: 'GoldenCase' })
export type GoldenCase = z.output<typeof GoldenCase>

export const CreateGoldenRunBody = z.strictObject({
  mode: requestedMode,
  k: z
    .int()
    .min(1)
    .max(LIMITS.topK)
    .default(LIMITS.topK)
    .describe('number of evidence items that are compared with the expected ones'),
  concurrency: z
    .int()
    .min(1)
    .max(LIMITS.goldenConcurrency.max)
    .default(LIMITS.goldenConcurrency.default)
    .describe('number of questions that run at once'),
  questions: z
    .array(GoldenCase)
    .max(LIMITS.goldenPerSpace)
    .optional()
    .describe('questions to run instead of those of the space; absent: those of the space'),
  stored: z.boolean().default(false).describe('whether to run the questions of the space in addition to `questions`'),
  tags: z.array(name).optional(),
  limit: positive.optional().describe('maximum number of questions; absent: all'),
})
export type CreateGoldenRunBody = z.output<typeof CreateGoldenRunBody>

/** Averages over the measured questions that have the figure. */
export const GoldenMetrics = z
  .strictObject({
    questions: count.describe('number of measured questions'),
    recall: fraction.optional().describe('mean fraction of the expected evidence that was found'),
    mrr: fraction.optional().describe('mean reciprocal rank of the first item with expected evidence'),
    answerable: fraction.optional().describe('fraction of questions that were rightly answered or rightly refused'),
    answer: fraction.optional().describe('fraction of right answers, of the questions that expect one'),
  })
  .meta({ id: 'GoldenMetrics' })
export type GoldenMetrics = z.output<typeof GoldenMetrics>

export const GoldenRun = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    status: z.enum(['running', 'completed', 'failed']),
    mode: QueryMode.optional(),
    k: positive.describe('number of evidence items that are compared with the expected ones'),
    questions: count.describe('number of questions'),
    done: count.describe('number of questions that were run'),
    passed: count.describe('number of measured questions that passed'),
    metrics: GoldenMetrics.optional().describe('averages; absent until the run is completed'),
    error: z.string().optional(),
    createdAt: isoDateTime,
    completedAt: isoDateTime.optional(),
  })
  .meta({ id: 'GoldenRun' })
export type GoldenRun = z.output<typeof GoldenRun>

export const GoldenRunResult = z
  .strictObject({
    index: count.describe('index of the question in the run, from 0'),
    id: z.string().describe('name of the question: the id of a stored one'),
    question: z.string(),
    tags: z.array(z.string()),
    status: z
      .enum(['measured', 'unresolved', 'unlabelled', 'failed'])
      .describe(
        'unresolved: no expected evidence exists any more; unlabelled: nothing is expected; failed: could not be run',
      ),
    outcome: z
      .enum(['passed', 'partly', 'failed'])
      .optional()
      .describe('judgement of evidence and answer; absent if not measured'),
    traceId: uuid.optional().describe('id of the trace; absent when the trace is deleted'),
    mode: ConcreteMode.optional(),
    evidenceState: EvidenceState.optional(),
    recall: fraction.optional().describe('fraction of the expected evidence that the first k items contain'),
    reciprocalRank: fraction
      .optional()
      .describe('one divided by the rank of the first item with expected evidence, or 0'),
    answerable: z.boolean().optional().describe('whether the question was rightly answered or rightly refused'),
    answer: z
      .strictObject({
        right: z.boolean().describe('whether the answer is as expected'),
        missing: z.array(z.string()).describe('expected texts that the answer does not contain'),
        forbidden: z.array(z.string()).describe('excluded texts that the answer contains'),
        wrongState: z
          .strictObject({ expected: z.string(), actual: z.string() })
          .optional()
          .describe('evidence state, where another one was expected'),
        text: z.string().optional().describe('answer; absent when its trace is deleted'),
      })
      .optional()
      .describe('comparison with the expected answer; absent if none is expected'),
    missing: z.array(z.string()).describe('expected evidence that no item contains'),
    unresolved: z.array(z.string()).describe('expected evidence that does not exist in the documents'),
    evidence: z.array(z.string()).describe('for each evidence item a hash of its document and text, in order'),
    error: z.string().optional(),
  })
  .meta({ id: 'GoldenRunResult' })
export type GoldenRunResult = z.output<typeof GoldenRunResult>

const RunParams = z.strictObject({ id: uuid, runId: uuid })
const pageQuery = z.strictObject({ cursor: opaqueCursor.optional(), limit: openLimit })

export const goldenRunRoutes = [
  route({
    id: 'createGoldenRun',
    method: 'POST',
    path: '/knowledge-spaces/{id}/golden-runs',
    scope: 'read',
    summary: 'Run golden questions in the background and measure their evidence and answers.',
    params: SpaceParams,
    body: CreateGoldenRunBody,
    ok: { 202: GoldenRun },
    errors: [400, 404, 413, 503],
    extension: true,
  }),
  route({
    id: 'listGoldenRuns',
    method: 'GET',
    path: '/knowledge-spaces/{id}/golden-runs',
    scope: 'read',
    summary: "List the caller's golden runs in a space, newest first.",
    params: SpaceParams,
    query: pageQuery,
    ok: { 200: page(GoldenRun) },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'getGoldenRun',
    method: 'GET',
    path: '/knowledge-spaces/{id}/golden-runs/{runId}',
    scope: 'read',
    summary: 'Get the progress and the metrics of a golden run.',
    params: RunParams,
    ok: { 200: GoldenRun },
    errors: [404],
    extension: true,
  }),
  route({
    id: 'listGoldenRunResults',
    method: 'GET',
    path: '/knowledge-spaces/{id}/golden-runs/{runId}/results',
    scope: 'read',
    summary: 'List the results of a golden run by question, in the order in which the questions ended.',
    params: RunParams,
    query: pageQuery,
    ok: { 200: page(GoldenRunResult) },
    errors: [400, 404],
    extension: true,
  }),
  route({
    id: 'deleteGoldenRun',
    method: 'DELETE',
    path: '/knowledge-spaces/{id}/golden-runs/{runId}',
    scope: 'write',
    summary: 'Delete a golden run; a running one stops.',
    params: RunParams,
    ok: { 204: 'empty' },
    errors: [404],
    extension: true,
  }),
] as const
