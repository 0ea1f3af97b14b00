import { createHash } from 'node:crypto'
import { ToolError } from './failure.js'

/** Cursors for results that no operation pages: a fingerprint of the arguments, and an offset. */
const CURSOR_PATTERN = /^([0-9a-f]{8})\.(\d{1,12})$/

export function formatCursor(offset: number, args: unknown): string {
  return `${fingerprintArgs(args)}.${offset}`
}

/** @returns the offset; 0 without a cursor. @throws ToolError `invalid-cursor` for a cursor of other arguments */
export function parseCursor(cursor: string | undefined, args: unknown): number {
  if (cursor === undefined) return 0
  const [, fingerprint, offset] = CURSOR_PATTERN.exec(cursor) ?? []
  if (fingerprint === fingerprintArgs(args)) return Number(offset)
  throw new ToolError(
    'invalid-cursor',
    'the cursor belongs to a call with different arguments',
    'Call again without cursor, or with the arguments of the call that returned it.',
  )
}

function fingerprintArgs(args: unknown): string {
  return createHash('sha256').update(JSON.stringify(args)).digest('hex').slice(0, 8)
}
