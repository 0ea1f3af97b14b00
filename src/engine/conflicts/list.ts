import type {
  ConflictSide,
  SpaceConflict,
  SpaceConflicts,
  SpaceConflictsQuery,
} from '../../contract/gateway/conflicts.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import { decodeCursor, encodeCursor, filterHash } from '../base/cursor.js'
import type { EngineContext } from '../context.js'
import { countLive } from '../derived/live-versions.js'
import {
  type ConflictRow,
  conflictsBefore,
  documentsOnTheirWay,
  IS_COMPARED,
  type SideRow,
  sideOfConflict,
} from '../rows/conflicts.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import type { Read } from '../storage/program.js'
import { cursorAfter, fromCell, readableIn } from '../storage/readable.js'

/** Maximum wait of a list for documents that are not compared yet; the rest continues in the background. */
const CATCH_UP_MILLISECONDS = 2500

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
  const filter = filterHash('conflicts', spaceId, query.kind, query.documentId, query.includeDifferences)
  const before =
    query.cursor === undefined ? Number.MAX_SAFE_INTEGER : Number(decodeCursor(query.cursor, filter).after[0] ?? 0)
  const asked = await db.read(findSpace(caller.tenant, spaceId))
  const isWhole = await context.conflicts.catchUp(asked, CATCH_UP_MILLISECONDS)
  const counts = await countCompared(context, await db.read(findSpace(caller.tenant, spaceId)), isWhole)
  const page = await db.read(pageBefore(caller, spaceId, query, before, filter))
  const { pendingDocuments: pending } = counts
  if (pending === 0) return { ...page, ...counts }
  const reason = `${pending} of ${pending + counts.comparedDocuments} documents were not compared with the others yet`
  return { ...page, ...counts, degradedReasons: [reason] }
}

async function countCompared({ db, conflicts }: EngineContext, { key }: SpaceRow, isWhole: boolean) {
  const all = await countLive(db, { spaceKey: key }, '1')
  const missing =
    isWhole && conflicts.unreadable(key) === 0 ? 0 : await countLive(db, { spaceKey: key }, `NOT ${IS_COMPARED}`)
  return {
    comparedDocuments: Math.max(0, all - missing),
    pendingDocuments: missing + (await db.read(documentsOnTheirWay(key))),
  }
}

/** Reads the space again: it may have been deleted during counting. */
function* pageBefore(
  caller: Caller,
  spaceId: string,
  query: SpaceConflictsQuery,
  before: number,
  filter: string,
): Read<{ items: SpaceConflict[]; nextCursor?: string }> {
  const space = yield* findSpace(caller.tenant, spaceId)
  const rows = yield* conflictsBefore(space.key, caller, query, before)
  const items = yield* readableIn(rows.slice(0, query.limit), (row) => toConflict(space, row))
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
      toSide(yield* sideOfConflict(space.key, row.one_node), row.one_quote),
      toSide(yield* sideOfConflict(space.key, row.other_node), row.other_quote),
    ],
    decidedBy: row.verdict === null ? 'rules' : 'model',
    foundAt: new Date(row.created_at).toISOString(),
  }
}

function toSide(row: SideRow | undefined, quote: string): ConflictSide {
  if (row === undefined) throw new Error('a passage of a version that is shown is missing')
  return {
    documentId: row.document_id,
    documentVersion: row.version,
    filename: row.filename,
    title: row.title,
    nodeId: row.id,
    ...defined({ pageNumber: row.page ?? undefined }),
    sectionPath: fromCell<string[]>(row.section),
    quote,
    storedAt: new Date(row.stored_at).toISOString(),
  }
}
