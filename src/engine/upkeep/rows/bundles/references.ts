import { type Read, sql } from '../../../store/program.js'

/*
 * The owner of a bundle's row must be in the same bundle: many of these rows have no space column and would otherwise
 * attach to rows of another space.
 */

interface BundleSpace {
  tenant: string
  spaceKey: number
}

const OWNER_TABLES = [
  ['missing_reviews', 'trace_id', 'traces'],
  ['missing_review_history', 'review_id', 'missing_reviews'],
  ['research_steps', 'task_id', 'research_tasks'],
  ['research_partials', 'task_id', 'research_tasks'],
  ['research_costs', 'task_id', 'research_tasks'],
  ['research_events', 'task_id', 'research_tasks'],
  ['snapshot_files', 'snapshot_id', 'workspace_snapshots'],
  ['snapshot_queries', 'snapshot_id', 'workspace_snapshots'],
] as const

const OTHER_OWNER_COLUMNS: Readonly<Record<string, string>> = { quoted_sources: 'owner', evidence_bundles: 'trace_id' }

/** The column of a table that contains the id of a row's owner, if the owner is not a document. */
export function getOwnerColumn(requestedTable: string): string | undefined {
  return OWNER_TABLES.find(([table]) => table === requestedTable)?.[1] ?? OTHER_OWNER_COLUMNS[requestedTable]
}

/** Of the owner ids in rows of a table, one that the space does not have. */
export function* findMissingOwner(
  space: BundleSpace,
  requestedTable: string,
  ids: readonly string[],
): Read<string | undefined> {
  const { tenant, spaceKey } = space
  const list = JSON.stringify(ids)
  for (const [table, , ownerTable] of OWNER_TABLES)
    if (table === requestedTable)
      return (yield* sql.get<{ id: string }>(
        `SELECT wanted.value id FROM json_each(?) wanted WHERE NOT EXISTS (
           SELECT 1 FROM ${ownerTable} o WHERE o.tenant = ? AND o.id = wanted.value AND o.space_key = ?) LIMIT 1`,
        [list, tenant, spaceKey],
      ))?.id
  if (requestedTable === 'quoted_sources')
    return yield* findInNeither('golden_questions', 'failed_queries', list, space)
  return requestedTable === 'evidence_bundles'
    ? yield* findInNeither('traces', 'research_tasks', list, space)
    : undefined
}

/** Of some ids, one that is in neither of two tables of the space. */
function* findInNeither(
  firstTable: 'golden_questions' | 'traces',
  secondTable: 'failed_queries' | 'research_tasks',
  list: string,
  { tenant, spaceKey }: BundleSpace,
): Read<string | undefined> {
  return (yield* sql.get<{ id: string }>(
    `SELECT wanted.value id FROM json_each(?) wanted
     WHERE NOT EXISTS (SELECT 1 FROM ${firstTable} o WHERE o.tenant = ? AND o.id = wanted.value AND o.space_key = ?)
       AND NOT EXISTS (SELECT 1 FROM ${secondTable} o WHERE o.tenant = ? AND o.id = wanted.value AND o.space_key = ?) LIMIT 1`,
    [list, tenant, spaceKey, tenant, spaceKey],
  ))?.id
}

/** A trace whose evidence, or a failed query whose trace, belongs to another space. */
export function* findForeignReference({ tenant, spaceKey }: BundleSpace): Read<string | undefined> {
  const row =
    (yield* sql.get<{ id: string }>(
      `SELECT t.id FROM traces t CROSS JOIN evidence_bundles e ON e.tenant = t.tenant AND e.id = t.bundle_id
       WHERE t.tenant = ? AND t.space_key = ? AND e.space_key <> t.space_key LIMIT 1`,
      [tenant, spaceKey],
    )) ??
    (yield* sql.get<{ id: string }>(
      `SELECT f.id FROM failed_queries f CROSS JOIN traces t ON t.tenant = f.tenant AND t.id = f.answer_trace_id
       WHERE f.tenant = ? AND f.space_key = ? AND t.space_key <> f.space_key LIMIT 1`,
      [tenant, spaceKey],
    ))
  return row?.id
}

/** Whether the current publication of a space is among its publications. */
export function* hasHeadPublication({ tenant, spaceKey }: BundleSpace, id: string, revision: number): Read<boolean> {
  return yield* sql.exists(
    'SELECT 1 one FROM publications WHERE tenant = ? AND id = ? AND space_key = ? AND revision = ?',
    [tenant, id, spaceKey, revision],
  )
}
