import { KsError } from '../../../contract/errors.js'
import type { EvidenceBundle } from '../../../contract/gateway/queries.js'
import type {
  ResearchPartialResult,
  ResearchReport,
  ResearchStage,
  ResearchTaskJob,
} from '../../../contract/gateway/research.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { Page, PageRequest } from '../../base/page.js'
import type { Read } from '../../store/program.js'
import { parseJsonCell, readablePageIn } from '../../store/readable.js'
import { filterReadableDocuments } from '../../store/rows/documents.js'
import { findTask, listResearchTasks } from '../../store/rows/research/tasks.js'
import { findSpace } from '../../store/rows/spaces.js'
import { findStepBody, listPartialsAfter } from '../rows/research/steps.js'
import { toResearchJob } from './task.js'

/** @throws KsError `not-found` */
export function* loadJob(caller: Caller, id: string): Read<ResearchTaskJob> {
  return yield* toResearchJob(yield* findTask(caller, id))
}

/** A caller's tasks, newest first. */
export function* listTasks(
  caller: Caller,
  query: PageRequest & { knowledgeSpaceId?: string | undefined; stage?: ResearchStage | undefined },
): Read<Page<ResearchTaskJob>> {
  const { knowledgeSpaceId: spaceId, stage, limit, cursor } = query
  const filter = hashFilter('research-tasks', caller.tenant, caller.subject, spaceId, stage)
  const [after] = cursor === undefined ? [] : decodeCursor(cursor, filter).after
  if (spaceId !== undefined) yield* findSpace(caller.tenant, spaceId)
  const before = after === undefined ? undefined : String(after)
  const rows = yield* listResearchTasks(caller, { spaceId, stage, before }, limit + 1)
  return yield* readablePageIn(rows, limit, toResearchJob, ({ id }) => encodeCursor({ after: [id] }, filter))
}

/** Lists the evidence of a task in order, without passages of documents that were deleted since. */
export function* listPartials(caller: Caller, id: string, page: PageRequest): Read<Page<ResearchPartialResult>> {
  const task = yield* findTask(caller, id)
  const filter = hashFilter('research-partials', task.id)
  const [after = 0] = page.cursor === undefined ? [] : decodeCursor(page.cursor, filter).after
  const rows = yield* listPartialsAfter(task, Number(after), page.limit + 1)
  return yield* readablePageIn(
    rows,
    page.limit,
    function* ({ sequence, body }) {
      return {
        tenantId: task.tenant,
        knowledgeSpaceId: task.space_id,
        researchTaskJobId: task.id,
        sequence,
        evidenceBundle: yield* removeDeleted(caller, task.space_key, parseJsonCell(body)),
      }
    },
    ({ sequence }) => encodeCursor({ after: [sequence] }, filter),
  )
}

export function* readReport(caller: Caller, id: string): Read<ResearchReport> {
  const task = yield* findTask(caller, id)
  const body = task.stage === 'completed' ? yield* findStepBody(task, 'report') : undefined
  if (body === undefined)
    throw new KsError('not-found', `research task ${task.id} is ${task.stage}; only completed tasks have a report`)
  // Reports of older versions lack these fields.
  const report: ResearchReport = {
    degraded: false,
    degradedReasons: [],
    ...parseJsonCell<Omit<ResearchReport, 'degraded' | 'degradedReasons'>>(body),
  }
  const cited = report.sources.map(({ citation }) => citation.documentAssetId)
  if ((yield* filterReadableDocuments(caller, task.space_key, cited)).size < new Set(cited).size)
    throw new KsError('not-found', `the report of research task ${task.id} quotes a document that was deleted`)
  return report
}

function* removeDeleted(caller: Caller, spaceKey: number, bundle: EvidenceBundle): Read<EvidenceBundle> {
  const ids = bundle.items.flatMap(({ citations }) => citations.map(({ documentAssetId }) => documentAssetId))
  const live = yield* filterReadableDocuments(caller, spaceKey, ids)
  const items = bundle.items.filter(({ citations }) =>
    citations.every(({ documentAssetId }) => live.has(documentAssetId)),
  )
  const visibleIds = new Set(items.map(({ nodeId }) => nodeId))
  // A conflict note reveals the content of the other passage.
  const shown = items.map((item) => ({
    ...item,
    conflicts: item.conflicts.filter(({ nodeId }) => visibleIds.has(nodeId)),
  }))
  return { ...bundle, items: shown }
}
