import { type Read, sql, type Write } from '../../store/program.js'
import { toTextArray } from './literals.js'
import { SEARCH_SCHEMA } from './schema.js'

/*
 * The adapter's rows of spaces, and which gateway writes them. Every write here runs under the lock of the space
 * (`getSpaceLock`).
 */

/** Lease of the gateway that reads the log, by the clock of the database. */
const CLAIM_SECONDS = 30

/** Lock under which one gateway at a time writes the rows of a space. */
export function getSpaceLock(space: string): { lockName: string } {
  return { lockName: `search ${space}` }
}

export interface SearchSpaceRow {
  key: number
  watermark: number
  nodes: number
  length: number
}

export function* findSpaceRow(space: string): Read<SearchSpaceRow | undefined> {
  return yield* sql.get<SearchSpaceRow>(
    `SELECT key, watermark, nodes, length FROM ${SEARCH_SCHEMA}.spaces WHERE space = ?`,
    [space],
  )
}

/** Watermarks of the rows of some spaces. */
export function* listWatermarks(spaces: readonly string[]): Read<{ space: string; watermark: number }[]> {
  return yield* sql.all<{ space: string; watermark: number }>(
    `SELECT space, watermark FROM ${SEARCH_SCHEMA}.spaces WHERE space = ANY(?::text[])`,
    [toTextArray(spaces)],
  )
}

/** The row of a space; created if missing. */
export function* ensureSpaceRow(space: string): Write<SearchSpaceRow> {
  yield* sql.run(`INSERT INTO ${SEARCH_SCHEMA}.spaces (space) VALUES (?) ON CONFLICT (space) DO NOTHING`, [space])
  const row = yield* findSpaceRow(space)
  if (row === undefined) throw new Error(`the row of space ${space} was not made`)
  return row
}

/**
 * Claims the log of a space for reading unless another gateway has it. @returns the watermark, and whether the claim
 * succeeded; undefined without a row
 */
export function* claimLog(key: number, writer: string): Write<{ watermark: number; isMine: boolean } | undefined> {
  const [claimed] = yield* sql.returning<{ watermark: number }>(
    `UPDATE ${SEARCH_SCHEMA}.spaces SET writer = ?, writing_until = now() + interval '${CLAIM_SECONDS} seconds'
     WHERE key = ? AND (writer IS NULL OR writer = ? OR writing_until < now()) RETURNING watermark`,
    [writer, key, writer],
  )
  if (claimed !== undefined) return { watermark: claimed.watermark, isMine: true }
  const other = yield* sql.get<{ watermark: number }>(`SELECT watermark FROM ${SEARCH_SCHEMA}.spaces WHERE key = ?`, [
    key,
  ])
  return other === undefined ? undefined : { watermark: other.watermark, isMine: false }
}

/** Renews the claim. @returns whether it is still valid */
export function* renewClaim(key: number, writer: string): Write<boolean> {
  const { changes } = yield* sql.run(
    `UPDATE ${SEARCH_SCHEMA}.spaces SET writing_until = now() + interval '${CLAIM_SECONDS} seconds' WHERE key = ? AND writer = ?`,
    [key, writer],
  )
  return changes > 0
}

export function* releaseClaim(key: number, writer: string): Write<void> {
  yield* sql.run(
    `UPDATE ${SEARCH_SCHEMA}.spaces SET writer = NULL, writing_until = NULL WHERE key = ? AND writer = ?`,
    [key, writer],
  )
}

/** Raises the watermark; it never decreases. */
export function* raiseWatermark(key: number, watermark: number): Write<void> {
  yield* sql.run(`UPDATE ${SEARCH_SCHEMA}.spaces SET watermark = ? WHERE key = ? AND watermark < ?`, [
    watermark,
    key,
    watermark,
  ])
}

/** Resets the watermark: the only way to lower it. Existing rows no longer count. */
export function* resetWatermark(key: number): Write<void> {
  yield* sql.run(`UPDATE ${SEARCH_SCHEMA}.spaces SET watermark = 0 WHERE key = ?`, [key])
}

export function* removeSpaceRow(key: number): Write<void> {
  yield* sql.run(`DELETE FROM ${SEARCH_SCHEMA}.spaces WHERE key = ?`, [key])
}
