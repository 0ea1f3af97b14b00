import type { ProviderProblem } from '../../base/provider-problem.js'
import { type Read, sql, type Write } from '../program.js'
import { hasOtherGateways } from './gateways.js'
import type { ProviderWait } from './provider-wait.js'

/** A passage without a vector. */
export interface DueNode {
  key: number
  doc_key: number
  version_key: number
  title: string
  text: string
}

/** Marks the missing vectors of versions as due, inside the caller's transaction. */
export function* markVectorsDue(spaceKey: number, versionKeys: readonly number[]): Write<void> {
  yield* sql.runEach(
    'INSERT OR IGNORE INTO vectors_due (version_key, space_key, due) VALUES (?, ?, 0)',
    versionKeys.map((key) => [key, spaceKey]),
  )
  yield* recountDueVectors(versionKeys)
}

/** Recounts the due vectors of versions, and removes rows that count nothing. */
function* recountDueVectors(versionKeys: readonly number[]): Write<void> {
  const lists = versionKeys.map((key) => [key])
  yield* sql.runEach(
    `UPDATE vectors_due SET
       due = (SELECT count(*) FROM nodes WHERE nodes.version_key = vectors_due.version_key)
         - (SELECT count(*) FROM nodes JOIN spaces ON spaces.key = nodes.space_key
            JOIN vector_spaces ON vector_spaces.id = spaces.vector_space AND vector_spaces.state = 'active'
            JOIN vectors ON vectors.vector_space = vector_spaces.key AND vectors.node_key = nodes.key
            WHERE nodes.version_key = vectors_due.version_key)
         - (SELECT count(*) FROM nodes JOIN vector_refusals USING (space_key)
            WHERE nodes.version_key = vectors_due.version_key AND vector_refusals.node_key = nodes.key),
       refused = (SELECT count(*) FROM nodes JOIN vector_refusals USING (space_key)
            WHERE nodes.version_key = vectors_due.version_key AND vector_refusals.node_key = nodes.key)
     WHERE version_key = ?`,
    lists,
  )
  yield* sql.runEach('DELETE FROM vectors_due WHERE version_key = ? AND due <= 0 AND refused = 0', lists)
}

/** The due passages of the oldest versions. @param vectorSpace row key; undefined before the space's first vector */
export function* listDueNodes(spaceKey: number, vectorSpace: number | undefined, limit: number): Read<DueNode[]> {
  return yield* sql.all<DueNode>(
    `SELECT nodes.key, nodes.doc_key, nodes.version_key, nodes.title, nodes.text
     FROM vectors_due CROSS JOIN nodes INDEXED BY nodes_version ON nodes.version_key = vectors_due.version_key
     LEFT JOIN vectors ON vectors.vector_space = ? AND vectors.node_key = nodes.key
     LEFT JOIN vector_refusals ON vector_refusals.space_key = vectors_due.space_key AND vector_refusals.node_key = nodes.key
     WHERE vectors_due.space_key = ? AND vectors_due.due > 0 AND vectors.node_key IS NULL AND vector_refusals.node_key IS NULL
     ORDER BY vectors_due.version_key, nodes.ordinal LIMIT ?`,
    [vectorSpace ?? -1, spaceKey, limit],
  )
}

/** Whether a passage still exists and its version is due: it may have been deleted while its vector was computed. */
export function* isVectorDue({ key, version_key }: DueNode): Read<boolean> {
  return yield* sql.exists(
    `SELECT 1 one FROM vectors_due JOIN nodes ON nodes.version_key = vectors_due.version_key
       WHERE vectors_due.version_key = ? AND nodes.key = ?`,
    [version_key, key],
  )
}

/** Subtracts passages that got a vector, or never will, from the due counts, inside the caller's transaction. */
export function* settleDueVectors(settled: readonly DueNode[]): Write<void> {
  const counts = new Map<number, number>()
  for (const { version_key } of settled) counts.set(version_key, (counts.get(version_key) ?? 0) + 1)
  const updated = yield* sql.returningEach<{ version_key: number; due: number }>(
    'UPDATE vectors_due SET due = due - ? WHERE version_key = ? RETURNING version_key, due',
    [...counts].map(([version, count]) => [count, version]),
  )
  yield* recountDueVectors(updated.flat().flatMap(({ version_key, due }) => (due <= 0 ? [version_key] : [])))
}

export function* rejectVector(spaceKey: number, node: DueNode, error: string): Write<void> {
  yield* sql.run('INSERT OR REPLACE INTO vector_refusals (space_key, node_key, error) VALUES (?, ?, ?)', [
    spaceKey,
    node.key,
    error,
  ])
  yield* sql.run('UPDATE vectors_due SET due = due - 1, refused = refused + 1 WHERE version_key = ?', [
    node.version_key,
  ])
}

/** Makes rejected passages due again. @param spaceKey all spaces if absent */
function* clearRejections(spaceKey?: number): Write<void> {
  const condition = spaceKey === undefined ? '' : ' AND space_key = ?'
  const values = spaceKey === undefined ? [] : [spaceKey]
  yield* sql.run(`DELETE FROM vector_refusals WHERE true${condition}`, values)
  yield* sql.run(`UPDATE vectors_due SET due = due + refused, refused = 0 WHERE refused > 0${condition}`, values)
}

export interface SpaceWithDueVectors {
  key: number
  /** time of the next request */
  next_at: number
  permanent: number
}

export function* listSpacesWithDueVectors(): Read<SpaceWithDueVectors[]> {
  return yield* sql.all(
    `SELECT due.space_key key, coalesce(next_at, 0) next_at, coalesce(permanent, 0) permanent
     FROM (SELECT DISTINCT space_key FROM vectors_due WHERE due > 0) due
     LEFT JOIN vector_waits ON vector_waits.space_key = due.space_key`,
  )
}

export function* findVectorWait(spaceKey: number): Read<ProviderWait | undefined> {
  return yield* sql.get<ProviderWait>('SELECT * FROM vector_waits WHERE space_key = ?', [spaceKey])
}

export function* deferVectors(spaceKey: number, problem: ProviderProblem, now: number, nextAt: number): Write<void> {
  yield* sql.run(
    `INSERT INTO vector_waits (space_key, attempts, since, next_at, error_class, error, permanent) VALUES (?, 1, ?, ?, ?, ?, ?)
     ON CONFLICT (space_key) DO UPDATE SET attempts = attempts + 1, next_at = excluded.next_at,
       error_class = excluded.error_class, error = excluded.error, permanent = excluded.permanent`,
    [spaceKey, now, nextAt, problem.class, problem.message, problem.isPermanent ? 1 : 0],
  )
}

export function* clearVectorWait(spaceKey: number): Write<void> {
  yield* sql.run('DELETE FROM vector_waits WHERE space_key = ?', [spaceKey])
}

/** Number of published passages of a space with a due vector, and of those that the model rejected. */
export function* countDueVectors(spaceKey: number): Read<{ due: number; refused: number }> {
  const row = yield* sql.get<{ due: number | null; refused: number | null }>(
    `SELECT sum(due) due, sum(refused) refused FROM vectors_due
     CROSS JOIN versions INDEXED BY versions_at ON versions.key = vectors_due.version_key
     WHERE vectors_due.space_key = ? AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL`,
    [spaceKey],
  )
  return { due: row?.due ?? 0, refused: row?.refused ?? 0 }
}

/** Makes requests to providers due now, rejected passages included. @param spaceKey all spaces if absent */
export function* retryVectorsNow(spaceKey?: number): Write<void> {
  const condition = spaceKey === undefined ? '' : ' WHERE space_key = ?'
  yield* sql.run(`UPDATE vector_waits SET next_at = 0${condition}`, spaceKey === undefined ? [] : [spaceKey])
  yield* clearRejections(spaceKey)
}

/** The same for all spaces at the start, unless other gateways are running: they know the state of their providers. */
export function* retryAllVectorsNow(gateway: string): Write<void> {
  if (!(yield* hasOtherGateways(gateway))) yield* retryVectorsNow()
}

/** Whether vectors of versions are due. */
export function* areVectorsDue(versions: readonly number[]): Read<boolean> {
  return yield* sql.exists(
    'SELECT 1 one FROM vectors_due WHERE due > 0 AND version_key IN (SELECT value FROM json_each(?))',
    [JSON.stringify(versions)],
  )
}

/** Removes the due vectors of a space: its model is not a provider's any more. */
export function* clearDueVectors(spaceKey: number): Write<void> {
  yield* sql.run('DELETE FROM vectors_due WHERE space_key = ?', [spaceKey])
}

/** Recounts the due vectors of a space. */
export function* recountDueVectorsOfSpace(spaceKey: number): Write<void> {
  const due = yield* sql.all<{ version_key: number }>(
    'SELECT version_key FROM vectors_due WHERE space_key = ? AND due > 0',
    [spaceKey],
  )
  yield* recountDueVectors(due.map(({ version_key }) => version_key))
}
