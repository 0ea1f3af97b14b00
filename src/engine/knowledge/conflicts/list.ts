import type {
  ConflictSide,
  SpaceConflict,
  SpaceConflicts,
  SpaceConflictsQuery,
} from '../../../contract/gateway/conflicts.js'
import { omitUndefined } from '../../../lib/omit-undefined.js'
import { formatCount, pluralize } from '../../../lib/text/pluralize.js'
import type { Caller } from '../../base/caller.js'
import { decodeCursor, encodeCursor, hashFilter } from '../../base/cursor.js'
import type { EngineContext } from '../../library/index.js'
import type { Read } from '../../store/program.js'
import { cursorAfter, mapReadableIn, parseJsonCell } from '../../store/readable.js'
import { findSpace, type SpaceRow } from '../../store/rows/spaces.js'
import { countLiveDocuments } from '../derived/live-versions.js'
import {
  type ConflictRow,
  type ConflictSideRow,
  countPendingDocuments,
  findConflictSide,
  IS_COMPARED,
  listConflictsBefore,
} from '../rows/conflicts.js'

/** Maximum wait of a list for documents that are not compared yet; the rest continues in the background. */
const CATCH_UP_TIMEOUT_MS = 2500

/**
 * Lists contradictions of a space, newest first, between documents that the caller may read; optionally also
 * differences. It reports how many documents are not compared yet.
 *
 * @throws KsError `not-found` for the space, `invalid-cursor`
 */
export async function listSpaceConflicts(
  context: EngineContext,
  caller: Caller,
  spaceId: string,
  query: SpaceConflictsQuery,
): Promise<SpaceConflicts> {
  const { db } = context
  const filter = hashFilter('conflicts', spaceId, query.kind, query.documentId, query.includeDifferences)
  const before =
    query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(decodeCursor(query.cursor, filter).after[0] ?? 0)
  const space = await db.read(findSpace(caller.tenant, spaceId))
  const isComplete = await context.conflicts.catchUp(space, CATCH_UP_TIMEOUT_MS)
  const counts = await countCompared(context, await db.read(findSpace(caller.tenant, spaceId)), isComplete)
  const page = await db.read(readPage(caller, spaceId, query, { before, filter }))
  const { pendingDocuments: pending } = counts
  if (pending === 0) return { ...page, ...counts }
  const reason = `${formatCount(pending)} of ${pluralize(pending + counts.comparedDocuments, 'document')} ${pending === 1 ? 'was' : 'were'} not compared with the others yet`
  return { ...page, ...counts, degradedReasons: [reason] }
}

async function countCompared({ db, conflicts }: EngineContext, { key }: SpaceRow, isComplete: boolean) {
  const all = await countLiveDocuments(db, { spaceKey: key }, '1')
  const missing =
    isComplete && conflicts.unreadable(key) === 0
      ? 0
      : await countLiveDocuments(db, { spaceKey: key }, `NOT ${IS_COMPARED}`)
  return {
    comparedDocuments: Math.max(0, all - missing),
    pendingDocuments: missing + (await db.read(countPendingDocuments(key))),
  }
}

/** Reads the space again: it may have been deleted during counting. */
function* readPage(
  caller: Caller,
  spaceId: string,
  query: SpaceConflictsQuery,
  { before, filter }: { before: number; filter: string },
): Read<{ items: SpaceConflict[]; nextCursor?: string }> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const rows = yield* listConflictsBefore(space.key, caller, query, before)
  const items = yield* mapReadableIn(rows.slice(0, query.limit), (row) => toConflict(space, row))
  return { items, ...cursorAfter(rows, query.limit, ({ key }) => encodeCursor({ after: [key] }, filter)) }
}

function* toConflict(space: SpaceRow, row: ConflictRow): Read<SpaceConflict> {
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    kind: row.kind,
    relation: row.relation,
    reason: row.reason,
    sides: [
      toSide(yield* findConflictSide(space.key, row.one_node), row.one_quote),
      toSide(yield* findConflictSide(space.key, row.other_node), row.other_quote),
    ],
    decidedBy: row.verdict === null ? 'rules' : 'model',
    foundAt: new Date(row.created_at).toISOString(),
  }
}

function toSide(row: ConflictSideRow | undefined, quote: string): ConflictSide {
  if (row === undefined) throw new Error('a passage of a version that is shown is missing')
  return {
    documentId: row.document_id,
    documentVersion: row.version,
    filename: row.filename,
    title: row.title,
    nodeId: row.id,
    ...omitUndefined({ pageNumber: row.page ?? undefined }),
    sectionPath: parseJsonCell<string[]>(row.section),
    quote,
    storedAt: new Date(row.stored_at).toISOString(),
  }
}
