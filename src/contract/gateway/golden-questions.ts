import { z } from 'zod'
import { LIMITS } from '../limits.js'
import { isoDateTime, metadata, opaqueCursor, openLimit, page, SpaceParams, uuid } from '../primitives.js'
import { route } from '../route.js'
import { ANSWER_CORRECTNESS } from '../values.js'
import { EvidenceState } from './queries.js'

const expectedTexts = z.array(z.string().trim().min(1).max(LIMITS.expectedText)).max(LIMITS.expectedTexts)

/** Extension: texts that the answer contains or does not contain, and the state of its evidence. */
export const ExpectedAnswer = z
  .strictObject({
    answer: expectedTexts.optional().describe('texts that the answer contains'),
    not: expectedTexts.optional().describe('texts that the answer does not contain'),
    state: EvidenceState.optional().describe('state of the evidence of the answer'),
  })
  .refine(
    ({ answer = [], not = [], state }) => answer.length + not.length > 0 || state !== undefined,
    'must contain a text or a state',
  )
  .meta({ id: 'ExpectedAnswer' })
export type ExpectedAnswer = z.output<typeof ExpectedAnswer>

export const GoldenQuestion = z
  .strictObject({
    id: uuid,
    knowledgeSpaceId: uuid,
    question: z.string(),
    expectedEvidenceIds: z.array(uuid),
    expect: ExpectedAnswer.optional(),
    tags: z.array(z.string()),
    metadata,
    createdAt: isoDateTime,
    updatedAt: isoDateTime,
  })
  .meta({ id: 'GoldenQuestion' })
export type GoldenQuestion = z.output<typeof GoldenQuestion>

const question = z.string().min(1).max(LIMITS.goldenQuestion)
const tag = z.string().min(1).max(LIMITS.goldenTag)

export const CreateGoldenQuestionBody = z.strictObject({
  question,
  expectedEvidenceIds: z.array(uuid).default([]),
  expect: ExpectedAnswer.optional(),
  tags: z.array(tag).default([]),
  metadata: metadata.default({}),
})
export type CreateGoldenQuestionBody = z.output<typeof CreateGoldenQuestionBody>

export const UpdateGoldenQuestionBody = z.strictObject({
  question: question.optional(),
  expectedEvidenceIds: z.array(uuid).optional(),
  /** null removes it */
  expect: ExpectedAnswer.nullable().optional(),
  tags: z.array(tag).optional(),
  metadata: metadata.optional(),
})
export type UpdateGoldenQuestionBody = z.output<typeof UpdateGoldenQuestionBody>

const note = z.string().min(1).max(LIMITS.annotationNote)

export const AnnotationBody = z.strictObject({
  answerCorrectness: z.enum(ANSWER_CORRECTNESS),
  evidenceRelevance: z
    .array(z.strictObject({ evidenceId: uuid, relevant: z.boolean(), note: note.optional() }))
    .max(LIMITS.evidenceRelevance)
    .default([]),
  note: note.optional(),
})
export type AnnotationBody = z.output<typeof AnnotationBody>

export const BadCaseBody = z.strictObject({
  traceId: uuid,
  reason: z.string().min(1).max(LIMITS.badCaseReason).optional(),
  tags: z.array(tag).max(LIMITS.badCaseTags).default([]),
  expect: ExpectedAnswer.optional(),
})
export type BadCaseBody = z.output<typeof BadCaseBody>

const QuestionParams = z.strictObject({ id: uuid, questionId: uuid })

export const goldenRoutes = [
  route({
    id: 'createGoldenQuestion',
    method: 'POST',
    path: '/knowledge-spaces/{id}/golden-questions',
    scope: 'write',
    summary: 'Create a golden question with its expected evidence.',
    params: SpaceParams,
    body: CreateGoldenQuestionBody,
    ok: { 201: GoldenQuestion },
    errors: [400, 404, 429],
  }),
  route({
    id: 'listGoldenQuestions',
    method: 'GET',
    path: '/knowledge-spaces/{id}/golden-questions',
    scope: 'read',
    summary: 'List the golden questions of a space, oldest first.',
    params: SpaceParams,
    query: z.strictObject({ cursor: opaqueCursor.optional(), limit: openLimit }),
    ok: { 200: page(GoldenQuestion) },
    errors: [400, 404],
  }),
  route({
    id: 'getGoldenQuestion',
    method: 'GET',
    path: '/knowledge-spaces/{id}/golden-questions/{questionId}',
    scope: 'read',
    summary: 'Get a golden question.',
    params: QuestionParams,
    ok: { 200: GoldenQuestion },
    errors: [404],
  }),
  route({
    id: 'updateGoldenQuestion',
    method: 'PATCH',
    path: '/knowledge-spaces/{id}/golden-questions/{questionId}',
    scope: 'write',
    summary: 'Update a golden question; metadata is replaced, except for the annotation and origin.',
    params: QuestionParams,
    body: UpdateGoldenQuestionBody,
    ok: { 200: GoldenQuestion },
    errors: [400, 404],
  }),
  route({
    id: 'annotateGoldenQuestion',
    method: 'POST',
    path: '/knowledge-spaces/{id}/golden-questions/{questionId}/annotations',
    scope: 'write',
    summary: 'Annotate the answer and evidence of a golden question; replaces the previous annotation.',
    params: QuestionParams,
    body: AnnotationBody,
    ok: { 200: GoldenQuestion },
    errors: [400, 404],
  }),
  route({
    id: 'deleteGoldenQuestion',
    method: 'DELETE',
    path: '/knowledge-spaces/{id}/golden-questions/{questionId}',
    scope: 'write',
    summary: 'Delete a golden question.',
    params: QuestionParams,
    ok: { 204: 'empty' },
    errors: [404],
  }),
  route({
    id: 'createProductionBadCase',
    method: 'POST',
    path: '/knowledge-spaces/{id}/production-bad-cases',
    scope: 'write',
    summary: 'Create a golden question from a bad query, with its evidence.',
    params: SpaceParams,
    body: BadCaseBody,
    ok: { 201: GoldenQuestion },
    errors: [400, 404, 429],
  }),
] as const
