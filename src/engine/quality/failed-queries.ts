import { notFound } from '../../contract/errors.js'
import type {
  FailedQueriesQuery,
  FailedQuery,
  FailedQueryMetrics,
  VerdictBody,
} from '../../contract/gateway/failed-queries.js'
import { LIMITS } from '../../contract/limits.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import { decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import type { Page } from '../base/page.js'
import type { EngineContext } from '../context.js'
import {
  type FailedRow,
  failedBefore,
  failedCounts,
  lookupFailed,
  moveFailed,
  toFailedQuery,
} from '../rows/quality/failed-queries.js'
import { insertGolden, lookupGolden, updateGolden } from '../rows/quality/golden-questions.js'
import { quotesOf, recordQuotes, restrictedSources } from '../rows/quotes.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import type { Read, Write } from '../storage/program.js'
import { fromCell, readablePage } from '../storage/readable.js'
import { writeAnswer } from '../storage/write-answer.js'
import { questionOf, wholeQuery } from './golden-questions.js'
import { movesOf } from './moves.js'

export function* listFailedQueries(
  caller: Caller,
  spaceId: string,
  query: FailedQueriesQuery,
): Read<Page<FailedQuery>> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const { cursor, status } = query
  const filter = filterHash('failed-queries', caller.tenant, space.id, status)
  const before = cursor === undefined ? undefined : String(decodeCursor(cursor, filter).after[0] ?? '')
  const limit = Math.min(query.limit, LIMITS.failedQueriesPage.max)
  const rows = yield* failedBefore(caller, space, { before, status, limit: limit + 1 })
  return readablePage(
    rows,
    limit,
    (row) => toFailedQuery(space, row),
    ({ id }) => encodeCursor({ after: [id] }, filter),
  )
}

export function* failedQueryMetrics(caller: Caller, spaceId: string): Read<FailedQueryMetrics> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const byStatus = {
    'pending-triage': 0,
    triaged: 0,
    'pending-annotation': 0,
    annotated: 0,
    dismissed: 0,
    promoted: 0,
  }
  for (const { status, n } of yield* failedCounts(caller, space)) byStatus[status] = n
  const total = Object.values(byStatus).reduce((sum, n) => sum + n, 0)
  return { total, promotionRate: total === 0 ? 0 : byStatus.promoted / total, byStatus }
}

/**
 * Records a person's verdict. `retrieval-miss` makes a golden question of the query; a repeated verdict updates that
 * question's expected evidence and answer and does not create a second one.
 */
export async function decideFailedQuery(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  id: string,
  body: VerdictBody,
): Promise<FailedQuery> {
  const { db } = context
  return await writeAnswer(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    const row = yield* lookupFailed(caller, space, id)
    if (row === undefined) throw notFound('failed query', id)
    const golden = (yield* promote(caller, space, row, body)) ?? goldenOf(row)
    yield* recordQuotes({ tenant: space.tenant, id }, yield* restrictedSources(caller, body.expectedEvidenceIds ?? []))
    yield* moveFailed(space, id, movesOf(`verdict:${body.verdict}`), {
      key: 'verdict',
      value: {
        ...body,
        actorSubjectId: caller.subject,
        decidedAt: new Date().toISOString(),
        ...defined({ goldenQuestionId: golden }),
      },
    })
    return toFailedQuery(space, (yield* lookupFailed(caller, space, id)) ?? row)
  })
}

/** @returns id of the golden question that a `retrieval-miss` made or changed */
function* promote(caller: Caller, space: SpaceRow, row: FailedRow, body: VerdictBody): Write<string | undefined> {
  if (body.verdict !== 'retrieval-miss') return undefined
  const earlier = goldenOf(row)
  const known = earlier === undefined ? undefined : yield* lookupGolden(caller, space, earlier)
  if (known !== undefined) {
    const { expectedEvidenceIds, expect } = body
    if (expectedEvidenceIds !== undefined || expect !== undefined)
      yield* updateGolden(caller, space, known.id, { ...known, ...defined({ expectedEvidenceIds, expect }) })
    return known.id
  }
  const made = yield* insertGolden(caller, space, {
    ...questionOf(row.query),
    expectedEvidenceIds: body.expectedEvidenceIds ?? [],
    ...defined({ expect: body.expect }),
    tags: [],
    metadata: {
      origin: {
        kind: 'failed-query',
        failedQueryId: row.id,
        trigger: row.trigger,
        ...defined({ traceId: row.answer_trace_id ?? undefined, note: body.note }),
        ...wholeQuery(row.query),
      },
    },
  })
  yield* recordQuotes({ tenant: space.tenant, id: made.id }, yield* quotesOf({ tenant: space.tenant, id: row.id }))
  return made.id
}

/** Id of the golden question that an earlier verdict created. */
function goldenOf(row: FailedRow): string | undefined {
  const metadata: { verdict?: { goldenQuestionId?: string } } = fromCell(row.metadata)
  return metadata.verdict?.goldenQuestionId
}
