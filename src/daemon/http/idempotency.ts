import { createHash } from 'node:crypto'
import { KsError } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'
import type { Caller, Engine } from '../../engine/api.js'
import type { Reply } from './reply.js'

/** @throws KsError `invalid-request` */
export function idempotencyKey(headers: Headers): string | undefined {
  const key = headers.get('idempotency-key')
  if (key === null) return undefined
  if (key.length < 1 || key.length > LIMITS.idempotencyKey)
    throw new KsError(
      'invalid-request',
      `Idempotency-Key must be 1 to ${LIMITS.idempotencyKey} characters long, received ${key.length} characters`,
    )
  return key
}

/**
 * What makes two requests the same: method, path with query, and the body's text. The bytes of an upload are not
 * known before they have been taken in, so an upload is told from another by its declared length.
 */
export function fingerprint(request: { method: string; target: string; body: string | undefined }): string {
  const { method, target, body } = request
  return createHash('sha256')
    .update(`${method} ${target}\n`)
    .update(body ?? '')
    .digest('base64url')
}

/** Runs `work` under a key: the first request of a key does the work, the same one again gets the kept answer. */
export async function underKey(
  engine: Engine,
  claim: { caller: Caller; key: string; fingerprint: string },
  work: () => Promise<Reply>,
): Promise<Reply> {
  const { caller, key } = claim
  const stored = engine.idempotency.begin(caller, key, claim.fingerprint)
  if (stored !== undefined) return { ...stored, headers: { ...stored.headers, 'idempotency-replayed': 'true' } }
  let reply: Reply
  try {
    reply = await work()
  } catch (error) {
    engine.idempotency.abandon(caller, key)
    throw error
  }
  const { status, body, headers } = reply
  if (typeof body === 'string') engine.idempotency.finish(caller, key, { status, body, headers })
  else engine.idempotency.abandon(caller, key)
  return reply
}
