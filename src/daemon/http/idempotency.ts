import { createHash } from 'node:crypto'
import { KsError } from '../../contract/errors.js'
import { LIMITS } from '../../contract/limits.js'
import type { Engine } from '../../engine/api.js'
import type { Caller } from '../../engine/base/caller.js'
import type { Write } from '../../engine/base/statements.js'
import { omitUndefined } from '../../lib/omit-undefined.js'
import type { HttpReply } from './reply.js'

/** @throws KsError `invalid-request` */
export function readIdempotencyKey(headers: Headers): string | undefined {
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
 * Identity of a request: method, path with query, and the body's text. The bytes of an upload are unknown before it is
 * received; `content` of the claim adds them afterwards.
 */
export function fingerprintRequest(request: { method: string; target: string; body: string | undefined }): string {
  const { method, target, body } = request
  return createHash('sha256')
    .update(`${method} ${target}\n`)
    .update(body ?? '')
    .digest('base64url')
}

export interface IdempotencyClaim {
  caller: Caller
  key: string
  fingerprint: string
  /** Digest of the form of an upload. */
  content?: { digest(): Promise<string>; getDigest(): string }
  /** Keys of the response whose values are not stored. */
  secrets?: readonly string[]
}

/**
 * Runs `work` under a key: the first request with a key does the work, a repeated one gets the stored response. An
 * operation with a single write stores its response in the transaction of that write, by the caller passed to `work`.
 *
 * @param createReply converts the result of an operation to its reply
 */
export async function runIdempotent(
  engine: Engine,
  claim: IdempotencyClaim,
  createReply: (result: unknown) => HttpReply,
  run: (caller: Caller) => Promise<HttpReply>,
): Promise<HttpReply> {
  const { caller, key } = claim
  const previous = await engine.idempotency.begin(caller, key, claim.fingerprint)
  if (previous !== undefined) {
    const { content, ...toStoredResponse } = previous
    if (content !== undefined && content !== (await claim.content?.digest()))
      throw new KsError('idempotency-conflict', 'this Idempotency-Key was used with another upload')
    return { ...toStoredResponse, headers: { ...toStoredResponse.headers, 'idempotency-replayed': 'true' } }
  }
  const toStoredResponse = (reply: HttpReply, content: string | undefined) => {
    const { status, headers } = reply
    const text = toText(reply)
    if (text === undefined) return undefined
    const body = removeSecrets(text, claim.secrets ?? [])
    return { status, body, headers, ...omitUndefined({ content }) }
  }
  let isFinished = false
  const recordAnswer = function* (result: unknown): Write<void> {
    // Background work after the response must not store another one.
    const response = isFinished ? undefined : toStoredResponse(createReply(result), claim.content?.getDigest())
    if (response !== undefined) yield* engine.idempotency.keep(caller, key, response)
  }
  let reply: HttpReply
  let content: string | undefined
  try {
    reply = await run({ ...caller, recordAnswer })
    content = await claim.content?.digest()
  } catch (error) {
    await engine.idempotency.abandon(caller, key)
    throw error
  } finally {
    isFinished = true
  }
  const response = toStoredResponse(reply, content)
  if (response === undefined) await engine.idempotency.abandon(caller, key)
  else await engine.idempotency.finish(caller, key, response)
  return reply
}

/** The text of a response; undefined for binary data. */
function toText({ body, headers }: HttpReply): string | undefined {
  if (typeof body === 'string') return body
  const isPlainJson = headers['content-type'] === 'application/json' && headers['content-encoding'] === undefined
  return isPlainJson ? Buffer.from(body).toString() : undefined
}

/** Secrets that are shown once are not stored: a repeated response has null there. */
function removeSecrets(body: string, secrets: readonly string[]): string {
  if (secrets.length === 0) return body
  const fields: Record<string, unknown> = JSON.parse(body)
  return JSON.stringify({ ...fields, ...Object.fromEntries(secrets.map((name) => [name, null])) })
}
