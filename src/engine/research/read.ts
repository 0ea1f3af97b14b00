import { KsError } from '../../contract/errors.js'
import type { EvidenceBundle } from '../../contract/gateway/queries.js'
import type {
  ResearchPartial,
  ResearchReport,
  ResearchStage,
  ResearchTaskJob,
} from '../../contract/gateway/research.js'
import type { Caller, Page, PageRequest } from '../api.js'
import { decodeCursor, encodeCursor, filterHash } from '../cursor.js'
import { findSpace } from '../spaces/store.js'
import type { Database } from '../storage/database.js'
import { partialsAfter, stepBody } from './step-store.js'
import { findTask, tasksOf, toResearchJob } from './store.js'

/** A caller's tasks, newest first. */
export function listTasks(
  db: Database,
  caller: Caller,
  query: PageRequest & { knowledgeSpaceId?: string | undefined; stage?: ResearchStage | undefined },
): Page<ResearchTaskJob> {
  const { knowledgeSpaceId: spaceId, stage, limit, cursor } = query
  const filter = filterHash('research-tasks', caller.tenant, caller.subject, spaceId, stage)
  const [after] = cursor === undefined ? [] : decodeCursor(cursor, filter).after
  if (spaceId !== undefined) findSpace(db, caller.tenant, spaceId)
  const before = after === undefined ? undefined : String(after)
  const rows = tasksOf(db, caller, { spaceId, stage, before }, limit + 1)
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map((row) => toResearchJob(db, row)),
    ...(rows.length > limit && last !== undefined ? { nextCursor: encodeCursor({ after: [last.id] }, filter) } : {}),
  }
}

/** What a task has found, in its order. Passages of documents that were deleted since are left out. */
export function listPartials(db: Database, caller: Caller, id: string, page: PageRequest): Page<ResearchPartial> {
  const task = findTask(db, caller, id)
  const filter = filterHash('research-partials', task.id)
  const [after = 0] = page.cursor === undefined ? [] : decodeCursor(page.cursor, filter).after
  const rows = partialsAfter(db, task.id, Number(after), page.limit + 1)
  const shown = rows.slice(0, page.limit)
  const last = shown.at(-1)
  return {
    items: shown.map(({ sequence, body }) => ({
      ...{ tenantId: task.tenant, knowledgeSpaceId: task.space_id, researchTaskJobId: task.id, sequence },
      evidenceBundle: withoutDeleted(db, task.space_key, JSON.parse(body)),
    })),
    ...(rows.length > page.limit && last !== undefined
      ? { nextCursor: encodeCursor({ after: [last.sequence] }, filter) }
      : {}),
  }
}

export function readReport(db: Database, caller: Caller, id: string): ResearchReport {
  const task = findTask(db, caller, id)
  const body = task.stage === 'completed' ? stepBody(db, task.id, 'report') : undefined
  if (body === undefined)
    throw new KsError('not-found', `research task ${task.id} is ${task.stage}, a report has only one that is completed`)
  const report: ResearchReport = JSON.parse(body)
  const cited = report.sources.map(({ citation }) => citation.documentAssetId)
  if (liveDocuments(db, task.space_key, cited).size < new Set(cited).size)
    throw new KsError('not-found', `the report of research task ${task.id} quotes a document that was deleted`)
  return report
}

function withoutDeleted(db: Database, spaceKey: number, bundle: EvidenceBundle): EvidenceBundle {
  const ids = bundle.items.flatMap(({ citations }) => citations.map(({ documentAssetId }) => documentAssetId))
  const live = liveDocuments(db, spaceKey, ids)
  const items = bundle.items.filter(({ citations }) =>
    citations.every(({ documentAssetId }) => live.has(documentAssetId)),
  )
  return { ...bundle, items }
}

function liveDocuments(db: Database, spaceKey: number, ids: readonly string[]): Set<string> {
  const rows = db.all<{ id: string }>(
    `SELECT d.id FROM json_each(?) wanted CROSS JOIN documents d ON d.id = wanted.value
     WHERE d.space_key = ? AND d.deleted_at IS NULL`,
    ...[JSON.stringify([...new Set(ids)]), spaceKey],
  )
  return new Set(rows.map(({ id }) => id))
}
