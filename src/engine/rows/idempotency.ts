import { type Read, sql, type Write } from '../storage/program.js'

/** between the fingerprint of a request and the digest of its upload; in neither of them */
export const JOINT = ' '

/** A key belongs to one tenant and subject. */
export interface KeyOwner {
  tenant: string
  subject: string
}

/** A row of `idempotency`; without a status as long as its request runs. */
export interface AnswerRow {
  /** of the request; with the digest of its upload once it was answered */
  fingerprint: string
  /** the gateway that runs the request */
  instance: string
  status: number | null
  /** JSON */
  headers: string | null
  body: string | null
  created_at: number
}

export function* answerOf({ tenant, subject }: KeyOwner, key: string): Read<AnswerRow | undefined> {
  return yield* sql.get<AnswerRow>('SELECT * FROM idempotency WHERE tenant = ? AND subject = ? AND key = ?', [
    tenant,
    subject,
    key,
  ])
}

/** Gives a key to a request, whatever was kept under it. */
export function* claimKey(
  { tenant, subject }: KeyOwner,
  key: string,
  request: Pick<AnswerRow, 'fingerprint' | 'instance' | 'created_at'>,
): Write<void> {
  yield* sql.run(
    'INSERT OR REPLACE INTO idempotency (tenant, subject, key, fingerprint, instance, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    [tenant, subject, key, request.fingerprint, request.instance, request.created_at],
  )
}

/**
 * Keeps the answer to a request that a gateway claimed a key for.
 *
 * @param content digest of the request's upload, where it had one
 * @returns whether it still has the key
 */
export function* keepAnswer(
  { tenant, subject }: KeyOwner,
  key: string,
  gateway: string,
  { status, headers, body }: { status: number; headers: string; body: string },
  content: string | undefined,
): Write<boolean> {
  const { changes } = yield* sql.run(
    `UPDATE idempotency SET status = ?, headers = ?, body = ?,
         fingerprint = fingerprint || CASE WHEN instr(fingerprint, '${JOINT}') = 0 THEN ? ELSE '' END
       WHERE tenant = ? AND subject = ? AND key = ? AND instance = ?`,
    [status, headers, body, content === undefined ? '' : `${JOINT}${content}`, tenant, subject, key, gateway],
  )
  return changes === 1
}

/** Gives a key back that a gateway claimed; an answer that was kept with its effect stays. */
export function* releaseKey({ tenant, subject }: KeyOwner, key: string, gateway: string): Write<void> {
  yield* sql.run(
    'DELETE FROM idempotency WHERE tenant = ? AND subject = ? AND key = ? AND instance = ? AND status IS NULL',
    [tenant, subject, key, gateway],
  )
}

/** Keys that were claimed before a time, oldest first. */
export function* keysClaimedBefore(time: number, most: number): Read<(KeyOwner & { key: string })[]> {
  return yield* sql.all<KeyOwner & { key: string }>(
    'SELECT tenant, subject, key FROM idempotency WHERE created_at < ? ORDER BY created_at LIMIT ?',
    [time, most],
  )
}

/** Removes a key with its answer. */
export function* removeKey({ tenant, subject, key }: KeyOwner & { key: string }): Write<void> {
  yield* sql.run('DELETE FROM idempotency WHERE tenant = ? AND subject = ? AND key = ?', [tenant, subject, key])
}
