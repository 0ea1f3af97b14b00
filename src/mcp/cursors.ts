import { createHash } from 'node:crypto'
import { ToolError } from './failure.js'

/** Cursors for results that no operation pages: an offset, and a fingerprint of the arguments. */
const CURSOR = /^([0-9a-f]{8})\.(\d{1,12})$/

export function cursorAt(offset: number, of: unknown): string {
  return `${fingerprint(of)}.${offset}`
}

/** @throws ToolError `invalid-cursor` for a cursor of other arguments */
export function offsetOf(cursor: string | undefined, of: unknown): number {
  if (cursor === undefined) return 0
  const [, mark, offset] = CURSOR.exec(cursor) ?? []
  if (mark === fingerprint(of)) return Number(offset)
  throw new ToolError(
    'invalid-cursor',
    'the cursor belongs to a call with different arguments',
    'Call again without cursor, or with the arguments of the call that returned it.',
  )
}

function fingerprint(of: unknown): string {
  return createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 8)
}
