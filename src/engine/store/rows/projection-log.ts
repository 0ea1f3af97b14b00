import { type Read, sql, type Write } from '../program.js'

/*
 * The index log: the changes that the search indexes must follow, per space. The entries of a space are numbered
 * without a gap, in the order of their commits: a number is taken from the space's counter, whose row is locked until
 * the commit, so that a later number cannot be committed first. A follower continues after the last number that it has
 * read, and misses nothing.
 */

/**
 * Logs the addition of nodes to the indexes; call it as late in the transaction as possible. @returns the entry's
 * number
 */
export function* logAdded(spaceKey: number, firstNode: number, lastNode: number): Write<number> {
  return yield* appendEntries(spaceKey, 1, [[firstNode, lastNode]])
}

/** The first and the last node of a version; null without nodes. */
interface VersionNodeRange {
  first_node: number | null
  last_node: number | null
}

/**
 * Logs the removal of the nodes of versions from the indexes, inside the caller's transaction.
 *
 * @returns the number of the last entry; 0 if there are no nodes
 */
export function* logRemoved(spaceKey: number, versions: readonly VersionNodeRange[]): Write<number> {
  const ranges = versions.flatMap(({ first_node: first, last_node: last }): [number, number][] =>
    first === null || last === null ? [] : [[first, last]],
  )
  return ranges.length === 0 ? 0 : yield* appendEntries(spaceKey, -1, ranges)
}

function* appendEntries(spaceKey: number, op: 1 | -1, ranges: readonly [number, number][]): Write<number> {
  const [counter] = yield* sql.returning<{ seq: number }>(
    `INSERT INTO space_counters (space_key, seq) VALUES (?, ?)
     ON CONFLICT (space_key) DO UPDATE SET seq = space_counters.seq + excluded.seq RETURNING seq`,
    [spaceKey, ranges.length],
  )
  const seq = counter?.seq ?? ranges.length
  const previous = seq - ranges.length
  yield* sql.runEach(
    'INSERT INTO projection_log (space_key, seq, op, first_node, last_node) VALUES (?, ?, ?, ?, ?)',
    ranges.map(([first, last], index) => [spaceKey, previous + index + 1, op, first, last]),
  )
  return seq
}

/** Number of a space's newest entry; 0 if it never had one. */
export function* getLastSequence(spaceKey: number): Read<number> {
  return (yield* sql.get<{ seq: number }>('SELECT seq FROM space_counters WHERE space_key = ?', [spaceKey]))?.seq ?? 0
}

/** An entry: nodes that were added, or with a negative `op` removed. */
export interface IndexLogEntry {
  seq: number
  op: number
  first_node: number
  last_node: number
}

/**
 * Entries of a space's log after `after`, up to `to`, in order. Spaces are identified by their ids, as in the indexes.
 */
export function* listLogEntries(space: string, after: number, to: number, limit: number): Read<IndexLogEntry[]> {
  return yield* sql.all<IndexLogEntry>(
    `SELECT seq, op, first_node, last_node FROM projection_log
     WHERE space_key = (SELECT key FROM spaces WHERE id = ?) AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?`,
    [space, after, to, limit],
  )
}
