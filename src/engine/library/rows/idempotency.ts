import { type Read, sql, type Write } from '../../store/program.js'

/** separates the fingerprint of a request from the digest of its upload; neither contains it */
export const FINGERPRINT_SEPARATOR = ' '

/** A key belongs to one tenant and subject. */
export interface IdempotencyKeyOwner {
  tenant: string
  subject: string
}

/** A row of `idempotency`; it has no status while its request runs. */
export interface IdempotencyRow {
  /** fingerprint of the request; with the digest of its upload once it was answered */
  fingerprint: string
  /** the gateway that runs the request */
  instance: string
  status: number | null
  /** JSON */
  headers: string | null
  body: string | null
  created_at: number
}

export function* findIdempotencyRow(
  { tenant, subject }: IdempotencyKeyOwner,
  key: string,
): Read<IdempotencyRow | undefined> {
  return yield* sql.get<IdempotencyRow>('SELECT * FROM idempotency WHERE tenant = ? AND subject = ? AND key = ?', [
    tenant,
    subject,
    key,
  ])
}

/** Assigns a key to a request, and discards the stored answer. */
export function* claimKey(
  { tenant, subject }: IdempotencyKeyOwner,
  key: string,
  request: Pick<IdempotencyRow, 'fingerprint' | 'instance' | 'created_at'>,
): Write<void> {
  yield* sql.run(
    'INSERT OR REPLACE INTO idempotency (tenant, subject, key, fingerprint, instance, created_at) VALUES (?, ?, ?, ?, ?, ?)',
    [tenant, subject, key, request.fingerprint, request.instance, request.created_at],
  )
}

interface StoredAnswer {
  status: number
  headers: string
  body: string
  /** digest of the request's upload, if it had one */
  content?: string | undefined
}

/**
 * Stores the answer to a request whose gateway has claimed the key.
 *
 * @returns whether the gateway still has the key
 */
export function* storeAnswer(
  { tenant, subject }: IdempotencyKeyOwner,
  key: string,
  gateway: string,
  { status, headers, body, content }: StoredAnswer,
): Write<boolean> {
  const { changes } = yield* sql.run(
    `UPDATE idempotency SET status = ?, headers = ?, body = ?,
         fingerprint = fingerprint || CASE WHEN instr(fingerprint, '${FINGERPRINT_SEPARATOR}') = 0 THEN ? ELSE '' END
       WHERE tenant = ? AND subject = ? AND key = ? AND instance = ?`,
    [
      status,
      headers,
      body,
      content === undefined ? '' : `${FINGERPRINT_SEPARATOR}${content}`,
      tenant,
      subject,
      key,
      gateway,
    ],
  )
  return changes === 1
}

/** Releases a key that a gateway claimed; an answer that was stored with its effect stays. */
export function* releaseKey({ tenant, subject }: IdempotencyKeyOwner, key: string, gateway: string): Write<void> {
  yield* sql.run(
    'DELETE FROM idempotency WHERE tenant = ? AND subject = ? AND key = ? AND instance = ? AND status IS NULL',
    [tenant, subject, key, gateway],
  )
}

/** Keys that were claimed before a time, oldest first. */
export function* listKeysClaimedBefore(time: number, limit: number): Read<(IdempotencyKeyOwner & { key: string })[]> {
  return yield* sql.all<IdempotencyKeyOwner & { key: string }>(
    'SELECT tenant, subject, key FROM idempotency WHERE created_at < ? ORDER BY created_at LIMIT ?',
    [time, limit],
  )
}

/** Removes a key with its answer. */
export function* removeKey({ tenant, subject, key }: IdempotencyKeyOwner & { key: string }): Write<void> {
  yield* sql.run('DELETE FROM idempotency WHERE tenant = ? AND subject = ? AND key = ?', [tenant, subject, key])
}
