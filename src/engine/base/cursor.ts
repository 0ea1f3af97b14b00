import { createHash } from 'node:crypto'
import { KsError } from '../../contract/errors.js'

/**
 * The content of a page's cursor: the position after which the next page starts, and the publication it is valid for.
 */
export interface CursorState {
  /** sort key of the last item of the page */
  after: (string | number)[]
  /** publication that a snapshot read is pinned to */
  publication?: string
}

/** A short fingerprint of a list's filter: a cursor of another list or filter is rejected. */
export function hashFilter(...parts: (string | number | undefined)[]): string {
  return createHash('sha256')
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest('base64url')
    .slice(0, 16)
}

/** An opaque cursor: base64url of the state, the filter's hash and a checksum over both. */
export function encodeCursor(state: CursorState, filter: string): string {
  const body = JSON.stringify([state.after, filter, state.publication ?? null])
  return encodeCanonical([body, checksum(body)])
}

/**
 * The canonical encoding of a cursor: base64url has several encodings of the same bytes, and JSON of the same values.
 */
function encodeCanonical(parts: unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url')
}

/** @throws KsError `invalid-cursor` for a cursor that is malformed, tampered with, or of another filter */
export function decodeCursor(cursor: string, filter: string): CursorState {
  const parsed = parseCursor(cursor)
  if (parsed === undefined || parsed.filter !== filter)
    throw new KsError('invalid-cursor', 'cursor is not one that this list returned for this filter')
  return parsed.publication === undefined
    ? { after: parsed.after }
    : { after: parsed.after, publication: parsed.publication }
}

function parseCursor(cursor: string): (CursorState & { filter: string }) | undefined {
  try {
    const outer: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (!Array.isArray(outer) || outer.length !== 2 || encodeCanonical(outer) !== cursor) return undefined
    const [body, sum]: unknown[] = outer
    if (typeof body !== 'string' || sum !== checksum(body)) return undefined
    const inner: unknown = JSON.parse(body)
    if (!Array.isArray(inner) || inner.length !== 3) return undefined
    const [after, filter, publication]: unknown[] = inner
    if (!Array.isArray(after) || typeof filter !== 'string' || !after.every(isSortKey)) return undefined
    return typeof publication === 'string' ? { after, filter, publication } : { after, filter }
  } catch {
    return undefined
  }
}

function isSortKey(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number'
}

function checksum(body: string): string {
  return createHash('sha256').update(`ks-cursor:${body}`).digest('base64url').slice(0, 12)
}

export function createInvalidCursorError(): KsError {
  return new KsError('invalid-cursor', 'cursor does not point into this listing: start the listing again')
}
