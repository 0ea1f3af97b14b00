import type { ProviderTrouble } from '../models/trouble.js'
import { type Read, sql, type Write } from '../storage/program.js'
import { othersThan } from './gateways.js'
import type { ProviderWait } from './provider-wait.js'

/** A passage without a vector. */
export interface DueNode {
  key: number
  doc_key: number
  version_key: number
  title: string
  text: string
}

/** Notes that a provider owes the vectors of versions, inside the caller's transaction; those it has do not count. */
export function* oweVectors(spaceKey: number, versionKeys: readonly number[]): Write<void> {
  yield* sql.runEach(
    'INSERT OR IGNORE INTO vectors_due (version_key, space_key, due) VALUES (?, ?, 0)',
    versionKeys.map((key) => [key, spaceKey]),
  )
  yield* countAgain(versionKeys)
}

/** Counts anew what is owed of versions; a row that counts nothing goes. */
function* countAgain(versionKeys: readonly number[]): Write<void> {
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

/** The passages that have waited longest. @param vectorSpace row key; undefined while the space has no vector yet */
export function* dueNodes(spaceKey: number, vectorSpace: number | undefined, limit: number): Read<DueNode[]> {
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

/** Whether a passage is still there and without a vector: it may have been deleted while its vector was made. */
export function* isDue({ key, version_key }: DueNode): Read<boolean> {
  return (
    (yield* sql.get<{ one: number }>(
      `SELECT 1 one FROM vectors_due JOIN nodes ON nodes.version_key = vectors_due.version_key
       WHERE vectors_due.version_key = ? AND nodes.key = ?`,
      [version_key, key],
    )) !== undefined
  )
}

/** Takes passages that got a vector, or never will, off what is owed, inside the caller's transaction. */
export function* settleDue(done: readonly DueNode[]): Write<void> {
  const counts = new Map<number, number>()
  for (const { version_key } of done) counts.set(version_key, (counts.get(version_key) ?? 0) + 1)
  const left = yield* sql.returningEach<{ version_key: number; due: number }>(
    'UPDATE vectors_due SET due = due - ? WHERE version_key = ? RETURNING version_key, due',
    [...counts].map(([version, count]) => [count, version]),
  )
  yield* countAgain(left.flat().flatMap(({ version_key, due }) => (due <= 0 ? [version_key] : [])))
}

export function* refuse(spaceKey: number, node: DueNode, error: string): Write<void> {
  yield* sql.run('INSERT OR REPLACE INTO vector_refusals (space_key, node_key, error) VALUES (?, ?, ?)', [
    spaceKey,
    node.key,
    error,
  ])
  yield* sql.run('UPDATE vectors_due SET due = due - 1, refused = refused + 1 WHERE version_key = ?', [
    node.version_key,
  ])
}

/** Passages that were refused are asked for again. @param spaceKey all spaces where absent */
function* forgetRefusals(spaceKey?: number): Write<void> {
  const of = spaceKey === undefined ? '' : ' AND space_key = ?'
  const values = spaceKey === undefined ? [] : [spaceKey]
  yield* sql.run(`DELETE FROM vector_refusals WHERE true${of}`, values)
  yield* sql.run(`UPDATE vectors_due SET due = due + refused, refused = 0 WHERE refused > 0${of}`, values)
}

/** Spaces with passages that have no vector yet, each with the time it is asked for next. */
export function* spacesDue(): Read<{ key: number; next_at: number; permanent: number }[]> {
  return yield* sql.all(
    `SELECT due.space_key key, coalesce(next_at, 0) next_at, coalesce(permanent, 0) permanent
     FROM (SELECT DISTINCT space_key FROM vectors_due WHERE due > 0) due
     LEFT JOIN vector_waits ON vector_waits.space_key = due.space_key`,
  )
}

export function* waitOf(spaceKey: number): Read<ProviderWait | undefined> {
  return yield* sql.get<ProviderWait>('SELECT * FROM vector_waits WHERE space_key = ?', [spaceKey])
}

export function* putOff(spaceKey: number, trouble: ProviderTrouble, now: number, nextAt: number): Write<void> {
  yield* sql.run(
    `INSERT INTO vector_waits (space_key, attempts, since, next_at, error_class, error, permanent) VALUES (?, 1, ?, ?, ?, ?, ?)
     ON CONFLICT (space_key) DO UPDATE SET attempts = attempts + 1, next_at = excluded.next_at,
       error_class = excluded.error_class, error = excluded.error, permanent = excluded.permanent`,
    [spaceKey, now, nextAt, trouble.class, trouble.message, trouble.isPermanent ? 1 : 0],
  )
}

export function* forgetWait(spaceKey: number): Write<void> {
  yield* sql.run('DELETE FROM vector_waits WHERE space_key = ?', [spaceKey])
}

/** Published passages of a space that have no vector yet, and those that the model refused. */
export function* missingOf(spaceKey: number): Read<{ due: number; refused: number }> {
  const row = yield* sql.get<{ due: number | null; refused: number | null }>(
    `SELECT sum(due) due, sum(refused) refused FROM vectors_due
     CROSS JOIN versions INDEXED BY versions_at ON versions.key = vectors_due.version_key
     WHERE vectors_due.space_key = ? AND versions.from_revision IS NOT NULL AND versions.until_revision IS NULL`,
    [spaceKey],
  )
  return { due: row?.due ?? 0, refused: row?.refused ?? 0 }
}

/** Asks providers at once again, also for what they refused. @param spaceKey all spaces where absent */
export function* hurryVectors(spaceKey?: number): Write<void> {
  const of = spaceKey === undefined ? '' : ' WHERE space_key = ?'
  yield* sql.run(`UPDATE vector_waits SET next_at = 0${of}`, spaceKey === undefined ? [] : [spaceKey])
  yield* forgetRefusals(spaceKey)
}

/** The same for all spaces at the start, unless other gateways are there: they know what their providers said. */
export function* hurryAllVectors(gateway: string): Write<void> {
  if (!(yield* othersThan(gateway))) yield* hurryVectors()
}

/** Whether vectors of versions are owed. */
export function* areOwed(versions: readonly number[]): Read<boolean> {
  return (
    (yield* sql.get<{ one: number }>(
      'SELECT 1 one FROM vectors_due WHERE due > 0 AND version_key IN (SELECT value FROM json_each(?))',
      [JSON.stringify(versions)],
    )) !== undefined
  )
}

/** Nothing is owed of a space any more: its model is no provider's. */
export function* forgetDue(spaceKey: number): Write<void> {
  yield* sql.run('DELETE FROM vectors_due WHERE space_key = ?', [spaceKey])
}

/** Counts anew what is owed of the versions of a space. */
export function* countSpaceAgain(spaceKey: number): Write<void> {
  const due = yield* sql.all<{ version_key: number }>(
    'SELECT version_key FROM vectors_due WHERE space_key = ? AND due > 0',
    [spaceKey],
  )
  yield* countAgain(due.map(({ version_key }) => version_key))
}
