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
 * known before they have been taken in; `content` of the claim tells them afterwards.
 */
export function fingerprint(request: { method: string; target: string; body: string | undefined }): string {
  const { method, target, body } = request
  return createHash('sha256')
    .update(`${method} ${target}\n`)
    .update(body ?? '')
    .digest('base64url')
}

export interface Claim {
  caller: Caller
  key: string
  fingerprint: string
  /** reads an upload where `work` has not, and tells what it held */
  content?: () => Promise<string>
  /** keys of the answer whose values are not kept */
  secrets?: readonly string[]
}

/** Runs `work` under a key: the first request of a key does the work, the same one again gets the kept answer. */
export async function underKey(engine: Engine, claim: Claim, work: () => Promise<Reply>): Promise<Reply> {
  const { caller, key } = claim
  const kept = engine.idempotency.begin(caller, key, claim.fingerprint)
  if (kept !== undefined) {
    const { content, ...stored } = kept
    if (content !== undefined && content !== (await claim.content?.()))
      throw new KsError('idempotency-conflict', 'this Idempotency-Key was used with another upload')
    return { ...stored, headers: { ...stored.headers, 'idempotency-replayed': 'true' } }
  }
  let reply: Reply
  let content: string | undefined
  try {
    reply = await work()
    content = await claim.content?.()
  } catch (error) {
    engine.idempotency.abandon(caller, key)
    throw error
  }
  const { status, body, headers } = reply
  if (typeof body === 'string')
    engine.idempotency.finish(caller, key, {
      ...{ status, body: withoutSecrets(body, claim.secrets ?? []), headers },
      ...(content === undefined ? {} : { content }),
    })
  else engine.idempotency.abandon(caller, key)
  return reply
}

/** A secret that is shown once is in no answer that is kept: a repeat tells that there is one, and no more. */
function withoutSecrets(body: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return body
  const told: Record<string, unknown> = JSON.parse(body)
  return JSON.stringify({ ...told, ...Object.fromEntries(secrets.map((name) => [name, null])) })
}
