import { createHash } from 'node:crypto'
import { KsError } from '../../../contract/errors.js'
import { newId } from '../../../lib/ids.js'
import { readClock, sql, type Write } from '../program.js'

export interface Publication {
  id: string
  revision: number
  fingerprint: string
}

/**
 * Moves a space's head to the next revision, inside the caller's transaction: all rows that the caller marks with this
 * revision become visible together when the transaction commits.
 */
export function* publishNextRevision(spaceKey: number, content: string): Write<Publication> {
  const head = yield* sql.get<{ head_revision: number; fingerprint: string }>(
    'SELECT head_revision, fingerprint FROM spaces WHERE key = ?',
    [spaceKey],
  )
  if (head === undefined) throw new KsError('not-found', 'the space is gone')
  const revision = head.head_revision + 1
  const id = newId()
  // a chain: equal fingerprints mean an equal history of publications
  const fingerprint = createHash('sha256').update(`${head.fingerprint}\n${revision}\n${content}`).digest('hex')
  const now = yield* readClock()
  const changeCount = (yield* sql.run(
    'UPDATE spaces SET head_revision = ?, publication_id = ?, fingerprint = ?, published_at = ? WHERE key = ? AND head_revision = ?',
    [revision, id, fingerprint, now, spaceKey, head.head_revision],
  )).changes
  if (changeCount !== 1) throw new KsError('internal', 'the head of a space was moved concurrently')
  yield* sql.run(
    `INSERT INTO publications (tenant, id, space_key, revision, fingerprint, created_at)
     SELECT tenant, ?, key, ?, ?, ? FROM spaces WHERE key = ?`,
    [id, revision, fingerprint, now, spaceKey],
  )
  return { id, revision, fingerprint }
}
