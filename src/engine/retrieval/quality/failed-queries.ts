import { notFoundError } from '../../../contract/errors.js'
import type {
  FailedQueriesQuery,
  FailedQuery,
  FailedQueryMetrics,
  VerdictBody,
} from '../../../contract/gateway/failed-queries.js'
import { LIMITS } from '../../../contract/limits.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import type { Caller } from '../../base/caller.js'
import type { Page } from '../../base/page.js'
import { readClock } from '../../base/statements.js'
import type { Driver } from '../../store/driver.js'
import type { Read, Write } from '../../store/program.js'
import { parseJsonCell } from '../../store/readable.js'
import { addQuotes, listQuotes, listRestrictedSources } from '../../store/rows/quotes.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { writeReply } from '../../store/write-reply.js'
import {
  countFailedQueriesByStatus,
  type FailedQueryRow,
  listFailedQueriesBefore,
  lookupFailedQuery,
  moveFailedQuery,
  toFailedQuery,
} from '../rows/quality/failed-queries.js'
import { insertGolden, lookupGolden, updateGolden } from '../rows/quality/golden-questions.js'
import { toOriginalQuery, toQuestion } from './golden-questions.js'
import { listMoves } from './moves.js'
import { readSpacePage } from './space-page.js'

export function listFailedQueries(caller: Caller, spaceId: string, query: FailedQueriesQuery): Read<Page<FailedQuery>> {
  const { status } = query
  return readSpacePage(caller, spaceId, query, {
    filter: ['failed-queries', status],
    maxLimit: LIMITS.failedQueriesPage.max,
    listRows: (space, before, limit) => listFailedQueriesBefore(caller, space, { before, status, limit }),
    toItem: toFailedQuery,
  })
}

export function* computeFailedQueryMetrics(caller: Caller, spaceId: string): Read<FailedQueryMetrics> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const byStatus = {
    'pending-triage': 0,
    triaged: 0,
    'pending-annotation': 0,
    annotated: 0,
    dismissed: 0,
    promoted: 0,
  }
  for (const { status, n } of yield* countFailedQueriesByStatus(caller, space)) byStatus[status] = n
  const total = Object.values(byStatus).reduce((sum, n) => sum + n, 0)
  return { total, promotionRate: total === 0 ? 0 : byStatus.promoted / total, byStatus }
}

/**
 * Records a person's verdict. `retrieval-miss` makes a golden question of the query; a repeated verdict updates that
 * question's expected evidence and answer and does not create a second one.
 */
export async function decideFailedQuery(
  db: Driver,
  caller: Caller,
  { spaceId, id }: { spaceId: string; id: string },
  body: VerdictBody,
): Promise<FailedQuery> {
  return await writeReply(db, caller, function* () {
    const space = yield* findSpace(caller.tenant, spaceId)
    const row = yield* lookupFailedQuery(caller, space, id)
    if (row === undefined) throw notFoundError('failed query', id)
    const golden = (yield* promoteToGolden(caller, space, row, body)) ?? getGoldenId(row)
    yield* addQuotes({ tenant: space.tenant, id }, yield* listRestrictedSources(caller, body.expectedEvidenceIds ?? []))
    yield* moveFailedQuery(space, id, listMoves(`verdict:${body.verdict}`), {
      key: 'verdict',
      value: {
        ...body,
        actorSubjectId: caller.subject,
        decidedAt: new Date(yield* readClock()).toISOString(),
        ...omitUndefined({ goldenQuestionId: golden }),
      },
    })
    return toFailedQuery(space, (yield* lookupFailedQuery(caller, space, id)) ?? row)
  })
}

/** @returns id of the golden question that a `retrieval-miss` made or changed */
function* promoteToGolden(
  caller: Caller,
  space: SpaceRow,
  row: FailedQueryRow,
  body: VerdictBody,
): Write<string | undefined> {
  if (body.verdict !== 'retrieval-miss') return undefined
  const earlier = getGoldenId(row)
  const existing = earlier === undefined ? undefined : yield* lookupGolden(caller, space, earlier)
  if (existing !== undefined) {
    const { expectedEvidenceIds, expect } = body
    if (expectedEvidenceIds !== undefined || expect !== undefined)
      yield* updateGolden(caller, space, existing.id, {
        ...existing,
        ...omitUndefined({ expectedEvidenceIds, expect }),
      })
    return existing.id
  }
  const created = yield* insertGolden(caller, space, {
    ...toQuestion(row.query),
    expectedEvidenceIds: body.expectedEvidenceIds ?? [],
    ...omitUndefined({ expect: body.expect }),
    tags: [],
    metadata: {
      origin: {
        kind: 'failed-query',
        failedQueryId: row.id,
        trigger: row.trigger,
        ...omitUndefined({ traceId: row.answer_trace_id ?? undefined, note: body.note }),
        ...toOriginalQuery(row.query),
      },
    },
  })
  yield* addQuotes({ tenant: space.tenant, id: created.id }, yield* listQuotes({ tenant: space.tenant, id: row.id }))
  return created.id
}

/** Id of the golden question that an earlier verdict created. */
function getGoldenId(row: FailedQueryRow): string | undefined {
  const metadata: { verdict?: { goldenQuestionId?: string } } = parseJsonCell(row.metadata)
  return metadata.verdict?.goldenQuestionId
}
