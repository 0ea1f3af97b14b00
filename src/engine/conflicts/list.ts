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
import { askerOf, mayKnow } from '../rows/permissions.js'
import { findSpace, type SpaceRow } from '../rows/spaces.js'
import { type Read, sql } from '../storage/program.js'
import { fromCell, readablePage } from '../storage/readable.js'
import { IS_COMPARED } from './store.js'

/** How long a list waits for documents that were not compared yet; what is left is compared behind. */
const CATCH_UP_MILLISECONDS = 2500

interface ConflictRow {
  key: number
  id: string
  kind: SpaceConflict['kind']
  relation: SpaceConflict['relation']
  reason: string
  verdict: string | null
  created_at: number
  one_quote: string
  other_quote: string
  one_node: number
  other_node: number
}

interface SideRow {
  key: number
  id: string
  document_id: string
  version: number
  filename: string
  title: string
  page: number | null
  section: string
  stored_at: number
}

/**
 * Contradictions of a space, the newest first, of documents that the caller may both read; on demand with what only
 * differs. It says how many documents were not compared yet.
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
  const isWhole = await context.conflicts.catchUp(db.now(findSpace(caller.tenant, spaceId)), CATCH_UP_MILLISECONDS)
  const counts = await countCompared(context, db.now(findSpace(caller.tenant, spaceId)), isWhole)
  // the last look: the space may have been deleted while it was counted
  const space = db.now(findSpace(caller.tenant, spaceId))
  const rows = db.now(rowsBefore(space.key, caller, query, before))
  const page = readablePage(
    rows,
    query.limit,
    (row) => db.now(toConflict(space, row)),
    ({ key }) => encodeCursor({ after: [key] }, filter),
  )
  const { pendingDocuments: pending } = counts
  if (pending === 0) return { ...page, ...counts }
  const reason = `${pending} of ${pending + counts.comparedDocuments} documents were not compared with the others yet`
  return { ...page, ...counts, degradedReasons: [reason] }
}

async function countCompared({ db, conflicts }: EngineContext, { key }: SpaceRow, isWhole: boolean) {
  const all = await countLive(db, { spaceKey: key }, '1')
  const missing =
    isWhole && conflicts.unreadable(key) === 0 ? 0 : await countLive(db, { spaceKey: key }, `NOT ${IS_COMPARED}`)
  return { comparedDocuments: Math.max(0, all - missing), pendingDocuments: missing + db.now(onTheirWay(key)) }
}

/** Documents that are still on their way to publication. */
function* onTheirWay(spaceKey: number): Read<number> {
  const text =
    'SELECT count(DISTINCT doc_key) n FROM jobs INDEXED BY jobs_open WHERE space_key = ? AND completed_at IS NULL'
  return (yield* sql.get<{ n: number }>(text, [spaceKey]))?.n ?? 0
}

const sideOf = (side: 'one' | 'other'): string =>
  `CROSS JOIN versions v_${side} ON v_${side}.key = c.${side}_version AND v_${side}.until_revision IS NULL
   CROSS JOIN documents d_${side} ON d_${side}.key = v_${side}.doc_key AND d_${side}.deleted_at IS NULL`

function* rowsBefore(
  spaceKey: number,
  caller: Caller,
  { kind, documentId, includeDifferences, limit }: SpaceConflictsQuery,
  before: number,
): Read<ConflictRow[]> {
  const conditions = [
    includeDifferences === 'true' ? '' : "AND c.relation = 'contradiction'",
    kind === undefined ? '' : 'AND c.kind = ?',
    documentId === undefined ? '' : 'AND (d_one.id = ? OR d_other.id = ?)',
  ]
  const asker = askerOf(caller)
  return yield* sql.all<ConflictRow>(
    `SELECT c.* FROM conflicts c ${sideOf('one')} ${sideOf('other')}
     WHERE c.space_key = ? AND c.key < ? ${conditions.join(' ')}
       AND ${mayKnow('d_one.source_id')} AND ${mayKnow('d_other.source_id')}
     ORDER BY c.key DESC LIMIT +?`,
    [
      spaceKey,
      before,
      ...(kind === undefined ? [] : [kind]),
      ...(documentId === undefined ? [] : [documentId, documentId]),
      asker,
      asker,
      limit + 1,
    ],
  )
}

function* toConflict(space: SpaceRow, row: ConflictRow): Read<SpaceConflict> {
  return {
    id: row.id,
    knowledgeSpaceId: space.id,
    kind: row.kind,
    relation: row.relation,
    reason: row.reason,
    sides: [
      yield* toSide(space.key, row.one_node, row.one_quote),
      yield* toSide(space.key, row.other_node, row.other_quote),
    ],
    decidedBy: row.verdict === null ? 'rules' : 'model',
    foundAt: new Date(row.created_at).toISOString(),
  }
}

function* toSide(spaceKey: number, node: number, quote: string): Read<ConflictSide> {
  const row = yield* sql.get<SideRow>(
    `SELECT n.key, n.id, d.id document_id, v.version, d.filename, v.title, n.page, n.section, v.created_at stored_at
     FROM nodes n CROSS JOIN versions v ON v.key = n.version_key CROSS JOIN documents d ON d.key = n.doc_key
     WHERE n.space_key = ? AND n.key = ?`,
    [spaceKey, node],
  )
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
