import { type Read, sql, type Write } from '../storage/program.js'

/** Notes that nodes are to be put into the indexes, inside the caller's transaction. @returns the entry's sequence */
export function* logAdded(spaceKey: number, firstNode: number, lastNode: number): Write<number> {
  return (yield* sql.run('INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, 1, ?, ?)', [
    spaceKey,
    firstNode,
    lastNode,
  ])).key
}

/** Notes that nodes are to be taken out of the indexes, inside the caller's transaction. @returns the entry's sequence */
export function* logRemoved(spaceKey: number, firstNode: number, lastNode: number): Write<number> {
  return (yield* sql.run('INSERT INTO projection_log (space_key, op, first_node, last_node) VALUES (?, -1, ?, ?)', [
    spaceKey,
    firstNode,
    lastNode,
  ])).key
}

/** Sequence of a space's newest entry; 0 where nothing of it was ever to be indexed. */
export function* lastSequence(spaceKey: number): Read<number> {
  const row = yield* sql.get<{ seq: number | null }>('SELECT max(seq) seq FROM projection_log WHERE space_key = ?', [
    spaceKey,
  ])
  return row?.seq ?? 0
}
