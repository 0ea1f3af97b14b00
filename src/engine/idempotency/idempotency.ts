import { KsError } from '../../contract/errors.js'
import { defined } from '../../lib/defined.js'
import type { Caller } from '../base/caller.js'
import type { EngineContext } from '../context.js'
import { isThere } from '../rows/gateways.js'
import {
  type AnswerRow,
  answerOf,
  claimKey,
  JOINT,
  keepAnswer,
  keysClaimedBefore,
  releaseKey,
  removeKey,
} from '../rows/idempotency.js'
import type { Driver } from '../storage/driver.js'
import type { Write } from '../storage/program.js'
import { fromCell } from '../storage/readable.js'
import { inOneWrite, type Slice } from '../storage/slices.js'

/** how long the answer to a write is stored under its idempotency key */
const ANSWERS_KEPT_MS = 24 * 60 * 60 * 1000

/** interval of retries to store the outcome of a request */
const WRITE_LATER_MS = 5000
/** after ten minutes without the database, the client's own retry finds the outcome missing */
const LATE_TRIES = 120

/** Answers stored under the keys that clients send with writes. A key belongs to one tenant and subject. */
export interface Idempotency {
  /**
   * Claims a key for a request. Returns the stored response when the same request was answered before.
   * @throws KsError `idempotency-conflict` for another request under the key, or while the first still runs
   */
  begin(caller: Caller, key: string, fingerprint: string): Promise<StoredResponse | undefined>
  /**
   * Stores the answer, inside the transaction with the request's effect.
   * @throws KsError `idempotency-conflict` if another gateway has claimed the key: the effect must not happen twice
   */
  keep(caller: Caller, key: string, response: StoredResponse): Write<void>
  /** Stores the answer, unless the same one is stored already. */
  finish(caller: Caller, key: string, response: StoredResponse): Promise<void>
  /** Releases the key, unless an answer was stored with the effect. */
  abandon(caller: Caller, key: string): Promise<void>
}

export function createIdempotency(context: EngineContext): Idempotency {
  const { db, instance } = context
  const keep = (caller: Caller, key: string, { headers, content, ...response }: StoredResponse) =>
    keepAnswer(caller, key, instance, { ...response, headers: JSON.stringify(headers) }, content)
  /** outcomes of requests while no write was possible: their effects stay, and their keys stay usable */
  const unwritten = new Map<string, () => Write<unknown>>()
  const end = async (caller: Caller, key: string, write: () => Write<unknown>) => {
    try {
      await db.write(write)
    } catch (error) {
      context.log.warn({ error: String(error) }, 'the outcome of a request with an Idempotency-Key could not be stored yet')
      unwritten.set(idOf(caller, key), write)
      triesLeft = LATE_TRIES
      writeLater()
    }
  }
  let isLate = false
  let triesLeft = 0
  /** other gateways consider the request running until this is written */
  const writeLater = () => {
    if (isLate) return
    isLate = true
    setTimeout(async () => {
      isLate = false
      for (const [id, write] of [...unwritten])
        await db.write(write).then(
          () => unwritten.get(id) === write && unwritten.delete(id),
          () => undefined,
        )
      if (unwritten.size > 0 && --triesLeft > 0) writeLater()
    }, WRITE_LATER_MS).unref()
  }
  return {
    async begin(caller, key, fingerprint): Promise<StoredResponse | undefined> {
      const id = idOf(caller, key)
      const owed = unwritten.get(id)
      const kept = await db.write(function* () {
        if (owed !== undefined) yield* owed()
        return yield* claimOrAnswer(caller, key, { fingerprint, instance, created_at: context.now() })
      })
      if (unwritten.get(id) === owed) unwritten.delete(id)
      return kept
    },
    *keep(caller, key, response) {
      if (!(yield* keep(caller, key, response)))
        throw new KsError('idempotency-conflict', 'another process has claimed this Idempotency-Key')
    },
    async finish(caller, key, response) {
      const kept = await db.read(answerOf(caller, key))
      if (kept?.status === response.status && kept.body === response.body) return
      await end(caller, key, () => keep(caller, key, response))
    },
    abandon: (caller, key) => end(caller, key, () => releaseKey(caller, key, instance)),
  }
}

/** The stored answer; if there is none, the key is claimed for the request. */
function* claimOrAnswer(
  caller: Caller,
  key: string,
  request: Pick<AnswerRow, 'fingerprint' | 'instance' | 'created_at'>,
): Write<StoredResponse | undefined> {
  const found = yield* answerOf(caller, key)
  // an expired row counts as missing; the clean-up removes it later
  const row = found !== undefined && found.created_at < request.created_at - ANSWERS_KEPT_MS ? undefined : found
  const [before, content] = row?.fingerprint.split(JOINT) ?? []
  if (row !== undefined && before !== request.fingerprint)
    throw new KsError('idempotency-conflict', 'this Idempotency-Key was used with another request')
  if (row?.status !== null && row?.status !== undefined)
    return {
      status: row.status,
      body: row.body ?? '',
      headers: fromCell<Record<string, string>>(row.headers ?? '{}'),
      ...defined({ content }),
    }
  // a lost gateway left no answer: only running the request again shows whether it had an effect
  if (row !== undefined && (row.instance === request.instance || (yield* isThere(row.instance))))
    throw new KsError('idempotency-conflict', 'the first request with this Idempotency-Key is still running')
  yield* claimKey(caller, key, request)
  return undefined
}

/** Removes expired answers. They belong to tenants, not to spaces. */
export async function forgetAnswers(db: Driver, now: number, batchRows: number): Promise<Slice> {
  const rows = await db.read(keysClaimedBefore(now - ANSWERS_KEPT_MS, batchRows))
  return inOneWrite(db, rows, batchRows, removeKey)
}

function idOf({ tenant, subject }: Caller, key: string): string {
  return JSON.stringify([tenant, subject, key])
}

/** A response stored under an idempotency key. */
export interface StoredResponse {
  status: number
  body: string
  headers: Record<string, string>
  /** digest of the request's upload, if it had one: the key is valid for this content only */
  content?: string
}
