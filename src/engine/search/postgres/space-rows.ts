import { type Read, sql, type Write } from '../../storage/program.js'
import { textArray } from './literals.js'
import { IN } from './schema.js'

/* What the adapter knows of a space, and who writes it. All that writes here holds the lock of the space (`lockOf`). */

/** How long a gateway that reads the log keeps others from doing the same, by the clock of the database. */
const WRITING_SECONDS = 30

/** What is held while rows of a space are written: one gateway at a time. */
export function lockOf(space: string): { lockName: string } {
  return { lockName: `search ${space}` }
}

export interface SpaceRow {
  key: number
  watermark: number
  nodes: number
  length: number
}

export function* spaceRow(space: string): Read<SpaceRow | undefined> {
  return yield* sql.get<SpaceRow>(`SELECT key, watermark, nodes, length FROM ${IN}.spaces WHERE space = ?`, [space])
}

/** Where the rows of some spaces stand. */
export function* watermarks(spaces: readonly string[]): Read<{ space: string; watermark: number }[]> {
  return yield* sql.all<{ space: string; watermark: number }>(
    `SELECT space, watermark FROM ${IN}.spaces WHERE space = ANY(?::text[])`,
    [textArray(spaces)],
  )
}

/** The row of a space, which is made where it is not. */
export function* makeSpaceRow(space: string): Write<SpaceRow> {
  yield* sql.run(`INSERT INTO ${IN}.spaces (space) VALUES (?) ON CONFLICT (space) DO NOTHING`, [space])
  const row = yield* spaceRow(space)
  if (row === undefined) throw new Error(`the row of space ${space} was not made`)
  return row
}

/** Takes the log of a space to read, where nobody else has it. @returns where the rows stand, and whether it is ours */
export function* claim(key: number, writer: string): Write<{ watermark: number; isMine: boolean } | undefined> {
  const [mine] = yield* sql.returning<{ watermark: number }>(
    `UPDATE ${IN}.spaces SET writer = ?, writing_until = now() + interval '${WRITING_SECONDS} seconds'
     WHERE key = ? AND (writer IS NULL OR writer = ? OR writing_until < now()) RETURNING watermark`,
    [writer, key, writer],
  )
  if (mine !== undefined) return { watermark: mine.watermark, isMine: true }
  const other = yield* sql.get<{ watermark: number }>(`SELECT watermark FROM ${IN}.spaces WHERE key = ?`, [key])
  return other === undefined ? undefined : { watermark: other.watermark, isMine: false }
}

/** Whether the log is still ours to read; keeps it so. */
export function* holds(key: number, writer: string): Write<boolean> {
  const { changes } = yield* sql.run(
    `UPDATE ${IN}.spaces SET writing_until = now() + interval '${WRITING_SECONDS} seconds' WHERE key = ? AND writer = ?`,
    [key, writer],
  )
  return changes > 0
}

export function* release(key: number, writer: string): Write<void> {
  yield* sql.run(`UPDATE ${IN}.spaces SET writer = NULL, writing_until = NULL WHERE key = ? AND writer = ?`, [
    key,
    writer,
  ])
}

/** Moves the watermark, which never goes back. */
export function* moveTo(key: number, watermark: number): Write<void> {
  yield* sql.run(`UPDATE ${IN}.spaces SET watermark = ? WHERE key = ? AND watermark < ?`, [watermark, key, watermark])
}

/** The one way back: nothing that is here counts any more. */
export function* beginAnew(key: number): Write<void> {
  yield* sql.run(`UPDATE ${IN}.spaces SET watermark = 0 WHERE key = ?`, [key])
}

export function* removeSpaceRow(key: number): Write<void> {
  yield* sql.run(`DELETE FROM ${IN}.spaces WHERE key = ?`, [key])
}
