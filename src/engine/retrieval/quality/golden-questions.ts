import { notFoundError } from '../../../contract/errors.js'
import type {
  AnnotationBody,
  BadCaseBody,
  CreateGoldenQuestionBody,
  GoldenQuestion,
  UpdateGoldenQuestionBody,
} from '../../../contract/gateway/golden-questions.js'
import { LIMITS } from '../../../contract/limits.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import type { Page, PageRequest } from '../../base/page.js'
import { readClock } from '../../base/statements.js'
import type { Driver } from '../../store/driver.js'
import type { Read } from '../../store/program.js'
import { findSpace } from '../../store/rows/spaces.js'
import { findTrace } from '../../store/rows/traces.js'
import { writeReply } from '../../store/write-reply.js'
import {
  findGolden,
  type GoldenContent,
  insertGolden,
  listGoldenAfter,
  removeGolden,
  toGolden,
  updateGolden,
} from '../rows/quality/golden-questions.js'
import { readSpacePage } from './space-page.js'

/** Metadata keys that the engine writes: a client that replaces the metadata keeps them unless it sets them itself. */
const PRESERVED_KEYS = ['annotation', 'origin']

export function createGoldenQuestion(
  db: Driver,
  caller: Caller,
  spaceId: string,
  body: CreateGoldenQuestionBody,
): Promise<GoldenQuestion> {
  return writeReply(db, caller, function* () {
    return yield* insertGolden(caller, yield* findSpace(caller.tenant, spaceId), body)
  })
}

export function listGoldenQuestions(caller: Caller, spaceId: string, page: PageRequest): Read<Page<GoldenQuestion>> {
  return readSpacePage(caller, spaceId, page, {
    filter: ['golden-questions'],
    maxLimit: LIMITS.page.cap,
    listRows: (space, after = '', limit) => listGoldenAfter(caller, space, after, limit),
    toItem: toGolden,
  })
}

export function* getGoldenQuestion(caller: Caller, spaceId: string, id: string): Read<GoldenQuestion> {
  return yield* findGolden(caller, yield* findSpace(caller.tenant, spaceId), id)
}

interface QuestionAddress {
  spaceId: string
  id: string
}

export function updateGoldenQuestion(
  db: Driver,
  caller: Caller,
  address: QuestionAddress,
  body: UpdateGoldenQuestionBody,
): Promise<GoldenQuestion> {
  return changeGoldenQuestion(db, caller, address, (current) => ({
    question: body.question ?? current.question,
    expectedEvidenceIds: body.expectedEvidenceIds ?? current.expectedEvidenceIds,
    tags: body.tags ?? current.tags,
    ...omitUndefined({ expect: body.expect === undefined ? current.expect : (body.expect ?? undefined) }),
    metadata:
      body.metadata === undefined ? current.metadata : { ...selectPreserved(current.metadata), ...body.metadata },
  }))
}

/** Stores a person's judgement in `metadata.annotation`, replacing the previous one. */
export function annotateGoldenQuestion(
  db: Driver,
  caller: Caller,
  address: QuestionAddress,
  body: AnnotationBody,
): Promise<GoldenQuestion> {
  return changeGoldenQuestion(db, caller, address, (current, now) => {
    const annotation = { ...body, actorSubjectId: caller.subject, annotatedAt: new Date(now).toISOString() }
    return { ...current, metadata: { ...current.metadata, annotation } }
  })
}

export async function deleteGoldenQuestion(db: Driver, caller: Caller, spaceId: string, id: string): Promise<void> {
  await writeReply(db, caller, function* () {
    if (!(yield* removeGolden(caller, yield* findSpace(caller.tenant, spaceId), id)))
      throw notFoundError('golden question', id)
  })
}

/**
 * Makes a golden question of the caller's own failed query. Its evidence becomes the expected evidence until someone
 * annotates the question.
 */
export function createBadCase(db: Driver, caller: Caller, spaceId: string, body: BadCaseBody): Promise<GoldenQuestion> {
  return writeReply(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    const { row, bundle } = yield* findTrace(caller, body.traceId)
    if (row.space_key !== space.key) throw notFoundError('trace', body.traceId)
    return yield* insertGolden(caller, space, {
      ...toQuestion(row.query),
      expectedEvidenceIds: [...new Set((bundle?.items ?? []).map((item) => item.nodeId))],
      tags: body.tags,
      ...omitUndefined({ expect: body.expect }),
      metadata: {
        origin: {
          kind: 'production-bad-case',
          traceId: row.id,
          mode: row.mode,
          ...omitUndefined({
            evidenceBundleId: row.bundle_id ?? undefined,
            evidenceState: row.evidence_state ?? undefined,
            reason: body.reason,
          }),
          ...toOriginalQuery(row.query),
        },
      },
    })
  })
}

/**
 * Question of a query. A query may be longer than a golden question: then the origin in the metadata has the complete
 * text.
 */
export function toQuestion(query: string): { question: string } {
  // Do not cut a surrogate pair.
  return { question: query.slice(0, LIMITS.goldenQuestion).replace(/[\uD800-\uDBFF]$/, '') }
}

export function toOriginalQuery(query: string): { query?: string } {
  return query.length > LIMITS.goldenQuestion ? { query } : {}
}

function changeGoldenQuestion(
  db: Driver,
  caller: Caller,
  { spaceId, id }: QuestionAddress,
  change: (current: GoldenQuestion, now: number) => GoldenContent,
): Promise<GoldenQuestion> {
  return writeReply(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    return yield* updateGolden(caller, space, id, change(yield* findGolden(caller, space, id), yield* readClock()))
  })
}

function selectPreserved(metadata: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => PRESERVED_KEYS.includes(key)))
}
